import { describe, expect, test } from 'vitest'
import { cliHere, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import { approveChange, commitFiles, guardMain, landChange, linesOf, verifyRange } from './verify-world.ts'

describe('verify on a guarded branch', () => {
  test('tells what was approved from what was not, and names the paths', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    const { id } = await landChange(repo, 'Approved', { 'a.txt': 'two\n' })
    commitFiles(repo, 'By hand', { 'b.txt': 'b\n', 'c d.txt': 'c\n' })
    repo.git('commit', '--quiet', '--allow-empty', '-m', 'Empty')
    const found = await verifyRange(repo, 'HEAD~3..')
    expect(linesOf(found)).toEqual(['approved Approved', 'unapproved By hand', 'carried Empty'])
    expect(found.commits[0]?.changes).toEqual([id])
    expect(found.commits[1]?.paths).toEqual(['b.txt', 'c d.txt'])
    expect(found.guardedBy).toBe('main')
    expect(found.counts).toEqual({ approved: 1, carried: 1, human: 0, unapproved: 1, forged: 0 })
  })

  test('leaves everything as it was, the store included', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    commitFiles(repo, 'By hand', { 'b.txt': 'b\n' })
    const before = repo.snapshot()
    await verifyRange(repo, 'HEAD~1..')
    expect(repo.snapshot()).toEqual(before)
    expect(repo.tryGit('--git-dir', `${repo.dir}/.git/galley/store.git`, 'rev-parse').code).not.toBe(0)
  })

  test('a branch without a guard leaves people alone', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    repo.git('checkout', '--quiet', '-b', 'topic')
    commitFiles(repo, 'By hand', { 'b.txt': 'b\n' })
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['human By hand'])
    // The same commits, asked for as what main would get.
    expect(linesOf(await verifyRange(repo, 'main..topic'))).toEqual(['unapproved By hand'])
    expect(linesOf(await verifyRange(repo, 'HEAD~1..', { onto: 'main' }))).toEqual(['unapproved By hand'])
    expect(linesOf(await verifyRange(repo, 'main..topic', { onto: 'topic' }))).toEqual(['human By hand'])
  })

  test('a detached checkout that names no branch does not fail open', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    commitFiles(repo, 'By hand', { 'b.txt': 'b\n' })
    repo.git('checkout', '--quiet', '--detach')
    expect(linesOf(await verifyRange(repo, 'HEAD~1..HEAD'))).toEqual(['unapproved By hand'])
  })

  test('the policy is the one from before the range', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    commitFiles(repo, 'No guard any more', { '.galley.json': '{}\n', 'a.txt': 'two\n' })
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['unapproved No guard any more'])
  })

  test('a range that names no commit is a mistake of the command line', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    for (const range of ['nothing..HEAD', 'HEAD...HEAD', '--all', 'HEAD..-x']) {
      expect((await refusal(() => verifyRange(repo, range))).code).toBe('usage')
    }
  })

  test('one commit is explained: its step, whose policy counted, what covers it and by whom', async () => {
    const lines = (first: string, last: string) => [first, ...'abcdefg', last, ''].join('\n')
    using repo = makeRepo({ files: { 'a.txt': lines('1', '9'), ...guardMain } })
    repo.git('checkout', '--quiet', '-b', 'topic')
    const { id } = await landChange(repo, 'First line', { 'a.txt': lines('one', '9') })
    repo.git('checkout', '--quiet', 'main')
    await landChange(repo, 'Last line', { 'a.txt': lines('1', 'nine') })
    repo.git('merge', '--quiet', '--no-edit', 'topic')
    const before = repo.snapshot()
    const { code, stdout } = await cliHere(repo, ['verify', '--explain', 'HEAD'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^carried /)
    expect(stdout).toMatch(
      /"main" guards the branch\n {11}step {7}100644 \w{12} -> 100644 \w{12} {2}a\.txt\n/,
    )
    expect(stdout).toMatch(/covered {4}a merge made the approved changes anew/)
    expect(stdout).toContain(`used       ${id}, revision 1`)
    expect(stdout).toMatch(/by .* <.*>, via \w+, \d{4}-/)
    const [found] = (await verifyRange(repo, '', { explain: 'HEAD' })).commits
    expect(found?.explanation).toMatchObject({
      from: repo.git('rev-parse', 'HEAD~1'),
      guardedBy: 'main',
      how: 'remerged',
      transitions: [{ path: 'a.txt' }],
      used: [{ change: id, revision: 1, made: [{ newBlob: repo.git('rev-parse', 'HEAD:a.txt') }] }],
    })
    expect((await cliHere(repo, ['verify', 'main', '--explain', 'HEAD'])).code).toBe(2)
    expect(repo.snapshot()).toEqual(before)
  })

  test('a first commit is a range of its own', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    expect(linesOf(await verifyRange(repo, 'HEAD'))).toEqual(['human first'])
  })
})

describe('what approved changes survive', () => {
  test('a rebase onto commits that leave their files alone', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', 'z.txt': 'z\n', ...guardMain } })
    repo.git('checkout', '--quiet', '-b', 'topic')
    await landChange(repo, 'First', { 'a.txt': 'two\n' })
    await landChange(repo, 'Second', { 'b.txt': 'b\n' })
    repo.git('checkout', '--quiet', 'main')
    commitFiles(repo, 'Elsewhere', { 'z.txt': 'zz\n' })
    repo.git('rebase', '--quiet', 'main', 'topic')
    expect(linesOf(await verifyRange(repo, 'main..topic'))).toEqual(['approved First', 'approved Second'])
  })

  test('a cherry-pick', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    repo.git('checkout', '--quiet', '-b', 'topic')
    const { commit } = await landChange(repo, 'Picked', { 'a.txt': 'two\n' })
    repo.git('checkout', '--quiet', 'main')
    repo.git('commit', '--quiet', '--allow-empty', '-m', 'Between')
    repo.git('cherry-pick', commit)
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['approved Picked'])
  })

  test('an amend of the message', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    await landChange(repo, 'Said badly', { 'a.txt': 'two\n' })
    repo.git('commit', '--quiet', '--amend', '-m', 'Said well')
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['approved Said well'])
  })

  test('a squash of several, also over one file', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', 'p.txt': '1\n', ...guardMain } })
    repo.git('checkout', '--quiet', '-b', 'topic')
    const first = await landChange(repo, 'One', { 'a.txt': '2\n', 'p.txt': '2\n' })
    const second = await landChange(repo, 'Two', { 'a.txt': '3\n', 'new.txt': 'n\n' })
    const third = await landChange(repo, 'Three', { 'p.txt': '1\n' })
    repo.git('checkout', '--quiet', 'main')
    repo.git('merge', '--quiet', '--squash', 'topic')
    repo.git('commit', '--quiet', '-m', `All\n\n${repo.read('.git/SQUASH_MSG')}`)
    const found = await verifyRange(repo, 'HEAD~1..')
    expect(linesOf(found)).toEqual(['approved All'])
    expect([...(found.commits[0]?.changes ?? [])].sort()).toEqual([first.id, second.id, third.id].sort())
  })

  test('a squash that leaves a part out is not covered', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', ...guardMain } })
    repo.git('checkout', '--quiet', '-b', 'topic')
    await landChange(repo, 'One', { 'a.txt': '2\n', 'test.txt': 'proves it\n' })
    repo.git('checkout', '--quiet', 'main')
    repo.git('merge', '--quiet', '--squash', 'topic')
    repo.git('rm', '--quiet', '--cached', 'test.txt')
    repo.git('commit', '--quiet', '-m', 'Without its test')
    const found = await verifyRange(repo, 'HEAD~1..')
    expect(linesOf(found)).toEqual(['unapproved Without its test'])
    expect(found.commits[0]?.paths).toEqual(['a.txt'])
  })

  test('a clean merge, which counts as carried', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', 'b.txt': '1\n', ...guardMain } })
    repo.git('checkout', '--quiet', '-b', 'topic')
    const onTopic = await landChange(repo, 'On topic', { 'a.txt': '2\n' })
    repo.git('checkout', '--quiet', 'main')
    await landChange(repo, 'On main', { 'b.txt': '2\n' })
    repo.git('merge', '--quiet', '--no-edit', 'topic')
    const found = await verifyRange(repo, 'HEAD~2..')
    // The steps of the line alone: what the merge brings, it brings as its own.
    expect(linesOf(found)).toEqual(['approved On main', "carried Merge branch 'topic'"])
    expect(found.commits[1]?.changes).toEqual([onTopic.id])
  })

  test('a merge that changes more than the two sides is not', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', 'b.txt': '1\n', ...guardMain } })
    repo.git('checkout', '--quiet', '-b', 'topic')
    await landChange(repo, 'On topic', { 'a.txt': '2\n' })
    repo.git('checkout', '--quiet', 'main')
    await landChange(repo, 'On main', { 'b.txt': '2\n' })
    repo.git('merge', '--quiet', '--no-commit', 'topic')
    repo.write('evil.txt', 'evil\n')
    repo.commit('Evil merge')
    const found = await verifyRange(repo, 'HEAD~1..')
    const merge = found.commits.at(-1)
    expect(merge?.verdict).toBe('unapproved')
    expect(merge?.paths).toContain('evil.txt')
  })

  test('a merge that drops one side of an approved change is not', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', 'b.txt': '1\n', ...guardMain } })
    repo.git('checkout', '--quiet', '-b', 'topic')
    await landChange(repo, 'Both', { 'a.txt': '2\n', 'b.txt': '2\n' })
    repo.git('checkout', '--quiet', 'main')
    await landChange(repo, 'On main', { 'c.txt': '2\n' })
    repo.git('merge', '--quiet', '--no-commit', 'topic')
    repo.git('checkout', 'HEAD', '--', 'b.txt')
    repo.git('commit', '--quiet', '-m', 'Half a merge')
    const merge = (await verifyRange(repo, 'HEAD~1..')).commits.at(-1)
    expect(merge?.verdict).toBe('unapproved')
  })

  test('a conflict that was resolved by an approved change is', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', ...guardMain } })
    repo.git('checkout', '--quiet', '-b', 'topic')
    await landChange(repo, 'Topic', { 'a.txt': 'topic\n' })
    repo.git('checkout', '--quiet', 'main')
    await landChange(repo, 'Main', { 'a.txt': 'main\n' })
    repo.tryGit('merge', '--quiet', 'topic')
    repo.write('a.txt', 'both\n')
    repo.git('add', 'a.txt')
    repo.git('commit', '--quiet', '-m', 'Resolved')
    expect((await verifyRange(repo, 'HEAD~1..')).commits.at(-1)?.verdict).toBe('unapproved')
    // The same step, main to both, approved.
    repo.git('branch', 'keep')
    repo.git('checkout', '--quiet', 'HEAD~1')
    await approveChange(repo, 'Resolution', { 'a.txt': 'both\n' })
    repo.git('checkout', '--quiet', '-B', 'main', 'keep')
    expect((await verifyRange(repo, 'HEAD~1..')).commits.at(-1)?.verdict).toBe('approved')
  })

  test('history that is verified again when approvals have expired since', async () => {
    using repo = makeRepo({
      files: {
        'a.txt': 'one\n',
        '.galley.json': '{ "guard": ["main"], "approval": { "expiresAfterHours": 1 } }\n',
      },
    })
    await landChange(repo, 'In time', { 'a.txt': 'two\n' })
    const nextYear = { nowMs: Date.now() + 365 * 24 * 3_600_000 }
    expect(linesOf(await verifyRange(repo, 'HEAD~1..', nextYear))).toEqual(['approved In time'])
    const found = await verifyRange(repo, 'HEAD~1..', { ...nextYear, now: true })
    expect(linesOf(found)).toEqual(['unapproved In time'])
    expect(found.commits[0]?.reason).toMatch(/expired/)
  })

  test('a SHA-256 repository', async () => {
    using repo = makeRepo({ objectFormat: 'sha256', files: { 'a.txt': 'one\n', ...guardMain } })
    await landChange(repo, 'Approved', { 'a.txt': 'two\n' })
    commitFiles(repo, 'By hand', { 'b.txt': 'b\n' })
    expect(linesOf(await verifyRange(repo, 'HEAD~2..'))).toEqual(['approved Approved', 'unapproved By hand'])
  })
})

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { digestOf } from '../../src/flow/stage.ts'
import type { FileMode } from '../../src/model/manifest.ts'
import { gitInput } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { approveChange, commitFiles, guardMain, landChange, linesOf, verifyRange } from './verify-world.ts'

const storeOf = (repo: TestRepo): string => `--git-dir=${repo.dir}/.git/galley/store.git`

/** The one approval of a change: its ref, its tag object, and what that says. */
function approvalOf(repo: TestRepo, id: string) {
  const [line = ''] = repo.git(storeOf(repo), 'for-each-ref', `refs/galley/approvals/${id}/`).split('\n')
  const [tag = '', , ref = ''] = line.split(/[ \t]/)
  const text = `${repo.git(storeOf(repo), 'cat-file', 'tag', tag)}\n`
  return { ref, tag, text, body: JSON.parse(text.slice(text.indexOf('\n\n') + 2)) }
}

/** Writes a tag object as it is given, and a ref of the name that it would have. */
function plantTag(repo: TestRepo, id: string, revision: number, text: string): string {
  const tag = gitInput(repo, [storeOf(repo), 'hash-object', '-t', 'tag', '-w', '--stdin'], text)
  repo.git(storeOf(repo), 'update-ref', `refs/galley/approvals/${id}/${revision}/${tag.slice(0, 12)}`, tag)
  return tag
}

const headDigest = (repo: TestRepo): string => {
  const fields = repo
    .git('diff-tree', '-r', '-z', '--no-commit-id', '--no-abbrev', '--no-renames', 'HEAD')
    .split('\0')
  const steps = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode = '', newMode = '', oldBlob = '', newBlob = ''] = (fields[i] ?? '').slice(1).split(' ')
    steps.push({
      path: fields[i + 1] ?? '',
      oldMode: oldMode as FileMode,
      newMode: newMode as FileMode,
      oldBlob,
      newBlob,
    })
  }
  return digestOf(steps)
}

describe('a forgery is found:', () => {
  test('an approval whose digest was edited', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    const { id } = await approveChange(repo, 'Good', { 'a.txt': 'two\n' })
    commitFiles(repo, `Evil\n\nGalley-Change: ${id}`, { 'a.txt': 'evil\n' })
    const { text, body } = approvalOf(repo, id)
    plantTag(
      repo,
      id,
      1,
      text.replace(body.digest, () => headDigest(repo)),
    )
    const found = await verifyRange(repo, 'HEAD~1..')
    expect(linesOf(found)).toEqual(['forged Evil'])
    expect(found.commits[0]?.reason).toMatch(/its digest is .*, and the commit's is/)
  })

  test('an approval used for other bytes, by its trailer', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const { id } = await landChange(repo, 'Good', { 'a.txt': 'two\n' })
    commitFiles(repo, `More\n\nGalley-Change: ${id}`, { 'a.txt': 'three\n' })
    // On a branch that nothing guards.
    expect(linesOf(await verifyRange(repo, 'HEAD~2..'))).toEqual(['approved Good', 'forged More'])
  })

  test('a commit that was amended after its approval', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    await landChange(repo, 'Good', { 'a.txt': 'two\n' })
    repo.write('a.txt', 'two!\n')
    repo.git('commit', '--quiet', '--all', '--amend', '--no-edit')
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['forged Good'])
  })

  test('an approval that had expired when the commit was made', async () => {
    const policy = '{ "guard": ["main"], "approval": { "expiresAfterHours": 1 } }\n'
    using repo = makeRepo({ files: { 'a.txt': 'one\n', '.galley.json': policy } })
    await approveChange(repo, 'Late', { 'a.txt': 'two\n' })
    repo.write('a.txt', 'two\n')
    repo.git('add', '--all')
    const tomorrow = Math.floor(Date.now() / 1000) + 24 * 3600
    const env = { ...repo.env, GIT_COMMITTER_DATE: `@${tomorrow} +0000` }
    execFileSync('git', ['commit', '--quiet', '-m', 'Late'], { cwd: repo.dir, env })
    const found = await verifyRange(repo, 'HEAD~1..', { nowMs: (tomorrow + 60) * 1000 })
    expect(linesOf(found)).toEqual(['unapproved Late'])
    expect(found.commits[0]?.reason).toMatch(/expired/)
    // A date that lies ahead counts as now.
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['approved Late'])
  })

  test('an approval ref that was moved to another tag', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    const good = await approveChange(repo, 'Good', { 'a.txt': 'two\n' })
    const evil = await approveChange(repo, 'Other', { 'a.txt': 'three\n' })
    const { ref } = approvalOf(repo, good.id)
    repo.git(storeOf(repo), 'update-ref', ref, approvalOf(repo, evil.id).tag)
    commitFiles(repo, `Good\n\nGalley-Change: ${good.id}`, { 'a.txt': 'two\n' })
    const found = await verifyRange(repo, 'HEAD~1..')
    expect(linesOf(found)).toEqual(['forged Good'])
    expect(found.commits[0]?.reason).toMatch(/not named after the tag object/)
  })

  test.each([
    ['a change that does not exist', 'Galley-Change: g000000000'],
    ['something that is no id', 'Galley-Change: yes'],
    ['a line in the middle', 'Galley-Change: g000000000\n\nMore text'],
    ['an indented line of a squash', '    galley-change: g000000000'],
  ])('a trailer without an approval: %s', async (_, line) => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    commitFiles(repo, `Claims\n\n${line}`, { 'a.txt': 'two\n' })
    repo.git('commit', '--quiet', '--allow-empty', '-m', `Claims nothing\n\n${line}`)
    expect(linesOf(await verifyRange(repo, 'HEAD~2..'))).toEqual(['forged Claims', 'forged Claims nothing'])
  })

  test('a trailer of an agent without an approval', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    commitFiles(repo, 'By itself\n\nGalley-Agent: mine (x-1)', { 'a.txt': 'two\n' })
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['unapproved By itself'])
  })

  test('the same patch id with other bytes', async () => {
    const block = 'if (x) {\n  a()\n}\n'
    const lines = (at: number) =>
      Array.from({ length: 8 }, (_, i) => (i === at ? block.replace('a()', 'b()') : block)).join('')
    using repo = makeRepo({ files: { 'a.c': lines(-1), ...guardMain } })
    const { id, commit } = await approveChange(repo, 'Second', { 'a.c': lines(1) })
    commitFiles(repo, `Second\n\nGalley-Change: ${id}`, { 'a.c': lines(6) })
    const patchId = (...args: readonly string[]) =>
      gitInput(repo, ['patch-id', '--verbatim'], repo.git(...args, '--format=')).split(' ')[0]
    expect(patchId('show', 'HEAD')).toBe(patchId(storeOf(repo), 'show', commit))
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['forged Second'])
  })

  test('a replace ref that shows the approved commit in place of another', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    const base = repo.git('rev-parse', 'HEAD')
    const { commit } = await landChange(repo, 'Good', { 'a.txt': 'two\n' })
    repo.git('checkout', '--quiet', '-B', 'main', base)
    const evil = commitFiles(repo, 'Evil', { 'a.txt': 'evil\n' })
    repo.git('replace', evil, commit)
    expect(repo.git('show', '--format=%s', '--no-patch', evil)).toBe('Good')
    expect(linesOf(await verifyRange(repo, `${base}..main`))).toEqual(['unapproved Evil'])
  })

  test('a graft that hides a commit', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    const base = repo.git('rev-parse', 'HEAD')
    commitFiles(repo, 'Evil', { 'e.txt': 'evil\n' })
    const { commit } = await landChange(repo, 'Good', { 'a.txt': 'two\n' })
    mkdirSync(join(repo.dir, '.git/info'), { recursive: true })
    writeFileSync(join(repo.dir, '.git/info/grafts'), `${commit} ${base}\n`)
    expect(linesOf(await verifyRange(repo, `${base}..main`))).toEqual(['unapproved Evil', 'approved Good'])
  })

  test('a rebase that changes one line', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', 'z.txt': 'z\n', ...guardMain } })
    repo.git('checkout', '--quiet', '-b', 'topic')
    await landChange(repo, 'Good', { 'a.txt': 'one\ntwo\nthree\n' })
    repo.git('checkout', '--quiet', 'main')
    commitFiles(repo, 'Elsewhere', { 'z.txt': 'zz\n' })
    repo.git('checkout', '--quiet', 'topic')
    repo.git('rebase', '--quiet', 'main')
    repo.write('a.txt', 'one\ntwo\nthree!\n')
    repo.git('commit', '--quiet', '--all', '--amend', '--no-edit')
    expect(linesOf(await verifyRange(repo, 'main..topic'))).toEqual(['forged Good'])
  })

  test('a submodule moved behind "ignore = all"', async () => {
    const modules = '[submodule "m"]\n\tpath = m\n\turl = ./m\n\tignore = all\n'
    using repo = makeRepo({ files: { 'a.txt': 'one\n', '.gitmodules': modules, ...guardMain } })
    repo.git('update-index', '--add', '--cacheinfo', `160000,${repo.git('rev-parse', 'HEAD')},m`)
    repo.git('commit', '--quiet', '-m', 'Moved')
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['unapproved Moved'])
  })

  test('a path whose bytes only read like the approved one', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    const { id } = await approveChange(repo, 'Good', { 'a\ufffd.txt': 'new\n' })
    const blob = gitInput(repo, ['hash-object', '-w', '--stdin'], 'new\n')
    const entry = Buffer.concat([
      Buffer.from(`100644 ${blob} 0\ta`),
      Buffer.from([0xff]),
      Buffer.from('.txt\0'),
    ])
    gitInput(repo, ['update-index', '-z', '--index-info'], entry)
    repo.git('commit', '--quiet', '-m', `Good\n\nGalley-Change: ${id}`)
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['forged Good'])
  })

  test('tags and commits that are no such thing, without a crash', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    const { id } = await approveChange(repo, 'Good', { 'a.txt': 'two\n' })
    const { text, body } = approvalOf(repo, id)
    const swap = (from: string, to: string) => text.replace(from, () => to)
    plantTag(repo, id, 1, swap('"checks": []', '"checks": {}'))
    plantTag(repo, id, 1, swap(JSON.stringify(body.by), '[]'))
    plantTag(
      repo,
      id,
      1,
      text.replaceAll(body.commit, () => '1'.repeat(40)),
    )
    const noAuthor = gitInput(
      repo,
      [storeOf(repo), 'hash-object', '-t', 'commit', '-w', '--stdin', '--literally'],
      `tree ${body.tree}\nparent ${body.base}\nauthor x\ncommitter x <x> 1 +0000\n\nm\n`,
    )
    plantTag(
      repo,
      id,
      1,
      text.replaceAll(body.commit, () => noAuthor),
    )
    repo.git(storeOf(repo), 'update-ref', 'refs/galley/approvals/nonsense', repo.git('rev-parse', 'HEAD'))
    commitFiles(repo, 'Good', { 'a.txt': 'two\n' })
    commitFiles(repo, 'By hand', { 'b.txt': 'b\n', 'a.txt': 'three\n' })
    expect(linesOf(await verifyRange(repo, 'HEAD~2..'))).toEqual(['approved Good', 'unapproved By hand'])
  })
})

describe('an approval counts once in a history:', () => {
  test('made, taken back by hand, and made again', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    const { commit } = await landChange(repo, 'Good', { 'a.txt': 'two\n' })
    repo.git('revert', '--no-edit', commit)
    commitFiles(repo, 'Again', { 'a.txt': 'two\n' })
    const found = await verifyRange(repo, 'HEAD~3..')
    expect(linesOf(found)).toEqual(['approved Good', 'unapproved Revert "Good"', 'unapproved Again'])
    expect(found.commits[2]?.reason).toMatch(/was approved once/)
  })

  test('the first time before the range', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    const { commit } = await landChange(repo, 'Good', { 'a.txt': 'two\n' })
    repo.git('revert', '--no-edit', commit)
    commitFiles(repo, 'Again', { 'a.txt': 'two\n' })
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['unapproved Again'])
  })

  test('twice on two branches, and brought back by a merge', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    const base = repo.git('rev-parse', 'HEAD')
    const { commit } = await landChange(repo, 'Good', { 'a.txt': 'two\n' })
    repo.git('revert', '--no-edit', commit)
    repo.git('checkout', '--quiet', '-b', 'old', base)
    repo.git('cherry-pick', commit)
    repo.git('commit', '--quiet', '--amend', '--allow-empty', '-m', 'Other id')
    repo.git('checkout', '--quiet', 'main')
    repo.git('merge', '--quiet', '--no-edit', 'old')
    expect(repo.read('a.txt')).toBe('two\n')
    const merge = (await verifyRange(repo, `${base}..main`)).commits.at(-1)
    expect(merge?.verdict).toBe('unapproved')
    expect(merge?.reason).toMatch(/was approved once/)
  })

  test('but a branch that was squashed into main may still be merged', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    const base = repo.git('rev-parse', 'HEAD')
    repo.git('checkout', '--quiet', '-b', 'topic')
    await landChange(repo, 'Good', { 'a.txt': 'two\n' })
    repo.git('checkout', '--quiet', 'main')
    repo.git('merge', '--quiet', '--squash', 'topic')
    repo.git('commit', '--quiet', '-m', 'Squashed')
    repo.git('checkout', '--quiet', 'topic')
    await landChange(repo, 'More', { 'b.txt': 'b\n' })
    repo.git('checkout', '--quiet', 'main')
    repo.git('merge', '--quiet', '--no-edit', 'topic')
    const found = await verifyRange(repo, `${base}..main`)
    expect(found.counts).toEqual({ approved: 1, carried: 1, human: 0, unapproved: 0, forged: 0 })
  })
})

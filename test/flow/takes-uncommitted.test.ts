import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/flow/gc/gc.ts'
import { batch, cliHere, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { openFor } from './gc-world.ts'

const policy = JSON.stringify({ autoApprove: { paths: ['docs/**'] } })
const committed = { '.galley.json': policy, 'docs/a.md': 'one\ntwo\n', 'b.txt': 'b\n' }
const mine = 'one\ntwo\nA paragraph of mine.\n'
const overwrite = { op: 'write', path: 'docs/a.md', mode: 'overwrite', content: 'a by bot\n' }
const taking = (edit: object) => ({ batch: batch([edit]), includeUncommitted: true })

/** A repository whose docs/a.md holds a line that nobody has committed. */
const withWork = (text = mine): TestRepo => {
  const repo = makeRepo({ files: committed })
  repo.write('docs/a.md', text)
  return repo
}

/** Runs the command at the end of a remark as a person would paste it. */
const paste = (repo: TestRepo, remark: string | undefined, cwd = repo.home): string => {
  const command = /is printed by: (git .*)$/.exec(remark ?? '')?.[1] ?? 'exit 3 # no command'
  return execFileSync('sh', ['-c', command], { cwd, encoding: 'utf8' })
}

const remarksOf = (change: { readonly remarks: readonly { kind: string; path: string; text: string }[] }) =>
  change.remarks
    .filter((remark) => remark.kind === 'takes-uncommitted')
    .map(({ path, text }) => `${path}: ${text}`)

describe('a change that takes uncommitted work along', () => {
  test('is never approved by rule: nothing of an agent’s lands without a person', async () => {
    using repo = withWork()
    const before = repo.snapshot()
    const answer = await cliHere(repo, ['apply', '--include-uncommitted', '--json', '-'], {
      env: { GALLEY_AGENT: 'bot' },
      input: JSON.stringify(batch([overwrite])),
    })
    expect(answer.json).toMatchObject({ ok: false, error: { code: 'not-approved' } })
    expect(repo.snapshot()).toEqual(before)
    expect(repo.read('docs/a.md')).toBe(mine)
    await using galley = await openGalley(repo)
    const [waits] = (await galley.status()).pending
    expect(waits?.state).toBe('staged')
    // The same edit of a file without such work is the rule's.
    repo.write('docs/a.md', committed['docs/a.md'])
    const { change } = await galley.propose(taking({ ...overwrite, content: 'x\n' }))
    expect(change).toMatchObject({ state: 'approved', remarks: [] })
  })

  test('says so, with the lines that it takes and those that it changes: propose, show and the prompt of apply', async () => {
    using repo = withWork('one\ntwo\nmine 1\nmine 2\nmine 3\n')
    const edit = { op: 'replace', path: 'docs/a.md', old: 'mine 2\n', new: 'theirs\n' }
    const options = { input: JSON.stringify(batch([edit])) }
    const note = 'note: docs/a.md: takes 3 uncommitted lines along; it changes or removes 1 of them'
    expect((await cliHere(repo, ['propose', '--include-uncommitted', '-'], options)).stdout).toContain(note)
    expect((await cliHere(repo, ['show', '--last'])).stdout).toContain(note)
    const asked = await cliHere(repo, ['apply', '--include-uncommitted', '-'], options)
    expect(`${asked.stdout}${asked.stderr}`).toContain(note)
  })

  test('lands for a person, and the file as it was is printed by the command of the remark', async () => {
    using repo = withWork()
    await using galley = await openGalley(repo)
    const { change } = await galley.propose(taking(overwrite))
    expect(remarksOf(change)).toEqual([
      'docs/a.md: takes 1 uncommitted line along; it changes or removes 1 of them',
    ])
    await galley.approve({ id: change.id })
    const { remarks } = await galley.land({ id: change.id })
    expect(repo.read('docs/a.md')).toBe('a by bot\n')
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(remarks).toHaveLength(1)
    expect(remarks.join()).not.toContain('merged beneath')
    expect(paste(repo, remarks[0])).toBe(mine)
    expect(paste(repo, remarks[0], join(repo.dir, 'docs'))).toBe(mine)
    const { change: undone } = await galley.undo({ target: change.id })
    const [kept] = undone.remarks
    expect(kept).toMatchObject({ kind: 'uncommitted-kept', path: 'docs/a.md' })
    expect(paste(repo, kept?.text)).toBe(mine)
    expect((await cliHere(repo, ['show', undone.id])).stdout).toContain(kept?.text)
  })

  test.each([
    ['all of it', mine],
    ['a part of it', 'one\nTWO\n'],
  ])('lands where %s was staged too, and says nothing of a merge', async (_, staged) => {
    using repo = withWork(staged)
    repo.git('add', 'docs/a.md')
    repo.write('docs/a.md', mine)
    await using galley = await openGalley(repo)
    const edit = { op: 'replace', path: 'docs/a.md', old: 'A paragraph of mine.', new: 'Theirs.' }
    const { change } = await galley.propose(taking(edit))
    await galley.approve({ id: change.id })
    const { remarks } = await galley.land({ id: change.id })
    expect(repo.git('show', 'HEAD:docs/a.md')).toBe('one\ntwo\nTheirs.')
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(remarks.join()).not.toContain('merged beneath')
    const printed = remarks.map((remark) => paste(repo, remark))
    expect(printed).toEqual(staged === mine ? [mine] : [mine, staged])
  })

  test('keeps nothing and says nothing where the file was not the change’s any more', async () => {
    using repo = withWork()
    await using galley = await openGalley(repo)
    const edit = { op: 'replace', path: 'docs/a.md', old: 'one', new: 'ONE' }
    const { change } = await galley.propose(taking(edit))
    await galley.approve({ id: change.id })
    const later = `${mine}\n\nlater\n`
    repo.write('docs/a.md', later)
    const { remarks } = await galley.land({ id: change.id })
    expect(repo.git('show', 'HEAD:docs/a.md')).toBe('ONE\ntwo\nA paragraph of mine.')
    expect(repo.read('docs/a.md')).toBe(later.replace('one', () => 'ONE'))
    expect(remarks.join()).toContain('docs/a.md had uncommitted work: the change was merged beneath it')
  })

  test('lands as well where it deletes or moves the file, with a mode of its own', async () => {
    using repo = withWork()
    repo.write('b.txt', 'b\nB\n')
    chmodSync(join(repo.dir, 'b.txt'), 0o755)
    await using galley = await openGalley(repo)
    const edits = [
      { op: 'delete', path: 'docs/a.md' },
      { op: 'move', path: 'b.txt', to: 'c.txt' },
    ]
    const { change } = await galley.propose({ batch: batch(edits), includeUncommitted: true })
    expect(remarksOf(change)).toEqual([
      'b.txt: takes 1 uncommitted line along; it changes or removes none of them',
      'docs/a.md: takes 1 uncommitted line along; it changes or removes 1 of them',
    ])
    await galley.approve({ id: change.id })
    const { remarks } = await galley.land({ id: change.id })
    expect(repo.git('ls-files')).toBe('.galley.json\nc.txt')
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(repo.read('c.txt')).toBe('b\nB\n')
    expect(remarks.map((remark) => paste(repo, remark)).sort()).toEqual(['b\nB\n', mine])
  })

  test('is refused where that very file has changed since and it deletes it', async () => {
    using repo = withWork()
    await using galley = await openGalley(repo)
    const { change } = await galley.propose(taking({ op: 'delete', path: 'docs/a.md' }))
    await galley.approve({ id: change.id })
    repo.write('docs/a.md', `${mine}more\n`)
    const before = repo.snapshot()
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('overlaps-uncommitted')
    expect(repo.snapshot()).toEqual(before)
  })

  test('makes a file anew that was deleted', async () => {
    using repo = withWork()
    rmSync(join(repo.dir, 'docs/a.md'))
    await using galley = await openGalley(repo)
    const { change } = await galley.propose(taking({ ...overwrite, mode: 'create' }))
    expect(remarksOf(change)).toEqual([
      'docs/a.md: takes the uncommitted deletion of this file along, and makes it anew',
    ])
    await galley.approve({ id: change.id })
    expect((await galley.land({ id: change.id })).remarks).toEqual([])
    expect(repo.read('docs/a.md')).toBe('a by bot\n')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('does so still when a check has rewritten it', async () => {
    using repo = withWork()
    const rewriter = { name: 'fmt', run: 'sed -i s/bot/BOT/ docs/a.md' }
    repo.write('.galley.json', JSON.stringify({ checks: [rewriter], autoApprove: { paths: ['docs/**'] } }))
    repo.git('commit', '-q', '-m', 'policy', '.galley.json')
    await using galley = await openGalley(repo)
    const { change } = await galley.propose(taking(overwrite))
    expect(change).toMatchObject({ revision: 2, state: 'staged' })
    await galley.approve({ id: change.id })
    const { remarks } = await galley.land({ id: change.id })
    expect(repo.read('docs/a.md')).toBe('a by BOT\n')
    expect(paste(repo, remarks.at(-1))).toBe(mine)
  })

  test('with line endings that git converts: counted as git counts, and kept to the byte', async () => {
    using repo = makeRepo({ files: { '.gitattributes': '*.txt text eol=crlf\n', 'a.txt': 'one\ntwo\n' } })
    const work = 'one\r\nTWO\r\nthree\r\n'
    repo.write('a.txt', work)
    await using galley = await openGalley(repo)
    const edit = { op: 'replace', path: 'a.txt', old: 'three', new: '3' }
    const { change } = await galley.propose(taking(edit))
    expect(remarksOf(change)).toEqual([
      'a.txt: takes 2 uncommitted lines along; it changes or removes 1 of them',
    ])
    await galley.approve({ id: change.id })
    const { remarks } = await galley.land({ id: change.id })
    expect(repo.read('a.txt')).toBe('one\r\nTWO\r\n3\r\n')
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(remarks.map((remark) => paste(repo, remark))).toEqual([work])
  })

  test('is still that when the branch has moved in the file and the merge is a new revision', async () => {
    const ten = [...'0123456789'].map((digit) => `${digit}\n`).join('')
    using repo = makeRepo({ files: { 'a.txt': ten } })
    repo.write('a.txt', `${ten}mine\n`)
    await using galley = await openGalley(repo)
    const { change } = await galley.propose(
      taking({ op: 'replace', path: 'a.txt', old: 'mine', new: 'theirs' }),
    )
    await galley.approve({ id: change.id })
    // The first line moves in the branch and in the index; the working file is as it was.
    const moved = ten.replace('0', () => 'zero')
    repo.write('a.txt', moved)
    repo.git('commit', '-q', '-a', '-m', 'zero')
    repo.write('a.txt', `${ten}mine\n`)
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('not-approved')
    const { change: merged } = await galley.show(change.id)
    expect([merged.revision, remarksOf(merged).length]).toEqual([2, 1])
    await galley.approve({ id: change.id })
    const { remarks } = await galley.land({ id: change.id })
    expect(repo.read('a.txt')).toBe(`${moved}theirs\n`)
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(remarks.map((remark) => paste(repo, remark))).toEqual([`${ten}mine\n`])
  })

  test('says where the file is after the change was archived, by a commit’s name as well', async () => {
    using repo = withWork()
    await using galley = await openGalley(repo)
    const { change } = await galley.propose(taking(overwrite))
    await galley.approve({ id: change.id })
    const { landed } = await galley.land({ id: change.id })
    await using open = await openFor(repo)
    const { archived } = await collectGarbage(open.world, { dryRun: false })
    expect(archived).toEqual([change.id])
    const { change: undone } = await galley.undo({ target: landed.after })
    expect(paste(repo, undone.remarks[0]?.text)).toBe(mine)
  })

  test('says where the file is when the landing was cut off after the branch had moved', async () => {
    using repo = withWork()
    await using galley = await openGalley(repo)
    const { change } = await galley.propose(taking(overwrite))
    await galley.approve({ id: change.id })
    const { landed } = await galley.land({ id: change.id })
    const inStore = ['--git-dir', '.git/galley/store.git', 'update-ref']
    repo.git(...inStore, `refs/galley/log/${change.id}`, `refs/galley/log/${change.id}^`)
    repo.git(...inStore, `refs/galley/landing/${change.id}`, landed.after)
    const { remarks } = await galley.land({ id: change.id })
    expect(remarks[0]).toBe('the landing had been interrupted after the branch moved')
    expect(remarks.slice(1).map((remark) => paste(repo, remark))).toEqual([mine])
  })
})

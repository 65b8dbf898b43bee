import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const policy = JSON.stringify({ autoApprove: { paths: ['docs/**'] } })
const committed = 'one\ntwo\nthree\n'
const mine = `${committed}A paragraph of mine.\n`

/** A repository whose docs/a.md holds a line that nobody has committed. */
const withWork = (text = mine): TestRepo => {
  const repo = makeRepo({ files: { '.galley.json': policy, 'docs/a.md': committed } })
  repo.write('docs/a.md', text)
  return repo
}

const diffOf = (verb: 'copy' | 'rename', hunks = '') =>
  `diff --git a/docs/a.md b/docs/b.md\n${verb} from docs/a.md\n${verb} to docs/b.md\n${
    hunks === '' ? '' : `--- a/docs/a.md\n+++ b/docs/b.md\n${hunks}`
  }`
const copying = (hunks = '') => batch([{ op: 'diff', text: diffOf('copy', hunks) }])
const inOrder = { order: 'sequential' }
const HUNK = '@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n'
const LAST = '@@ -3,2 +3,2 @@\n three\n-A paragraph of mine.\n+Theirs.\n'

describe('a copy of a file that holds uncommitted work', () => {
  test.each([
    ['as it is', '', committed],
    ['with an edit', HUNK, committed.replace('one', () => 'ONE')],
  ])('is made from the committed file: %s', async (_, hunks, copy) => {
    using repo = withWork()
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: copying(hunks) })
    expect(change).toMatchObject({ state: 'approved' })
    expect(change.remarks).toEqual([
      {
        kind: 'carried',
        item: 0,
        path: 'docs/b.md',
        text: 'is made from "docs/a.md" as it is committed, without the uncommitted work there',
      },
    ])
    await galley.land({ id: change.id })
    expect(repo.git('show', 'HEAD:docs/b.md')).toBe(copy.trimEnd())
    expect(repo.read('docs/b.md')).toBe(copy)
    expect(repo.read('docs/a.md')).toBe(mine)
    expect(repo.git('status', '--porcelain')).toBe(' M docs/a.md')
  })

  test('is refused where the edit needs that very work', async () => {
    using repo = withWork()
    const before = repo.snapshot()
    await using galley = await openGalley(repo)
    const refused = await refusal(() => galley.propose({ batch: copying(LAST) }))
    expect(refused).toMatchObject({ code: 'overlaps-uncommitted' })
    expect(refused.message).toContain('docs/a.md holds uncommitted work')
    expect(repo.snapshot()).toEqual(before)
  })

  test('takes it along only when asked, says so, and waits for a person', async () => {
    using repo = withWork()
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: copying(LAST), includeUncommitted: true })
    expect(change).toMatchObject({ state: 'staged' })
    expect(change.remarks.map(({ kind, path, text }) => `${kind} ${path}: ${text}`)).toEqual([
      'takes-uncommitted docs/b.md: is made from "docs/a.md" and takes 1 uncommitted line along; it changes or removes 1 of them',
    ])
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('not-approved')
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect(repo.git('show', 'HEAD:docs/b.md')).toBe(`${committed}Theirs.`)
    expect(repo.read('docs/a.md')).toBe(mine)
    expect(repo.git('status', '--porcelain')).toBe(' M docs/a.md')
  })

  test('has the committed mode, and takes the other only when asked', async () => {
    using repo = withWork(committed)
    chmodSync(join(repo.dir, 'docs/a.md'), 0o755)
    await using galley = await openGalley(repo)
    const modeOf = async (includeUncommitted: boolean) => {
      const { change } = await galley.propose({ batch: copying(HUNK), includeUncommitted })
      const { change: full } = await galley.show(change.id)
      return [change.state, full.files.map(({ newMode }) => newMode).join()]
    }
    expect(await modeOf(false)).toEqual(['approved', '100644'])
    expect(await modeOf(true)).toEqual(['staged', '100755'])
  })

  test('that is then written as a whole holds nothing of it', async () => {
    using repo = withWork()
    await using galley = await openGalley(repo)
    const edits = [
      { op: 'diff', text: diffOf('copy') },
      { op: 'write', path: 'docs/b.md', mode: 'overwrite', content: 'theirs alone\n' },
    ]
    const { change } = await galley.propose({ batch: batch(edits, inOrder) })
    expect(change).toMatchObject({ state: 'approved', remarks: [] })
    await galley.land({ id: change.id })
    expect(repo.git('show', 'HEAD:docs/b.md')).toBe('theirs alone')
  })

  test('that is copied once more, and a file moved away whose place is filled, take nothing along either', async () => {
    using repo = withWork()
    await using galley = await openGalley(repo)
    const again = diffOf('copy').replaceAll('docs/b.md', 'docs/c.md').replaceAll('docs/a.md', 'docs/b.md')
    const twice = [
      { op: 'diff', text: diffOf('copy') },
      { op: 'diff', text: again },
    ]
    const { change } = await galley.propose({ batch: batch(twice, inOrder) })
    await galley.land({ id: change.id })
    expect(repo.git('show', 'HEAD:docs/c.md')).toBe(committed.trimEnd())
    const refilled = [
      { op: 'move', path: 'docs/a.md', to: 'docs/d.md' },
      { op: 'write', path: 'docs/a.md', content: mine },
    ]
    const filled = await galley.propose({ batch: batch(refilled, inOrder) })
    await galley.land({ id: filled.change.id })
    expect(repo.git('show', 'HEAD:docs/d.md')).toBe(committed.trimEnd())
  })

  test.each([
    ['with the same', { op: 'write', path: 'docs/a.md', content: mine }],
    ['with another', { op: 'write', path: 'docs/a.md', content: 'new\n' }],
    [
      'from its new one',
      { op: 'diff', text: diffOf('copy').replaceAll('a.md', 'd.md').replaceAll('b.md', 'a.md') },
    ],
  ])('that is a move whose old name is filled again, %s, waits for a person as well', async (_, filling) => {
    using repo = withWork()
    await using galley = await openGalley(repo)
    const moved = { op: 'move', path: 'docs/a.md', to: 'docs/d.md' }
    const { change } = await galley.propose({
      batch: batch([moved, filling], inOrder),
      includeUncommitted: true,
    })
    expect(change).toMatchObject({ state: 'staged' })
    expect(change.remarks).toContainEqual({
      kind: 'takes-uncommitted',
      item: 0,
      path: 'docs/d.md',
      text: 'is made from "docs/a.md" and takes 1 uncommitted line along; it changes or removes none of them',
    })
  })
})

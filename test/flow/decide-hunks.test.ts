import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const lines = (...changed: readonly number[]): string =>
  Array.from({ length: 30 }, (_, i) => `${i + 1}${changed.includes(i + 1) ? ' new' : ''}\n`).join('')

const files = { 'a.txt': lines(), 'b.txt': 'b\n', 'gone.txt': 'old\n', 'move.txt': lines() }
const edits = [
  { op: 'write', path: 'a.txt', content: lines(2, 15, 28) },
  { op: 'write', path: 'b.txt', content: 'B\n' },
  { op: 'delete', path: 'gone.txt' },
]
// Hunks: 1 to 3 in a.txt, 4 in b.txt, 5 is gone.txt.

describe('decisions by hunk', () => {
  test.each([
    ['one hunk', [{ hunk: 2 }], [lines(2, 28), 'B\n', null]],
    ['the first and the last', [{ hunk: 1 }, { hunk: 3 }], [lines(15), 'B\n', null]],
    ['every hunk of a file', [{ hunk: 4 }], [lines(2, 15, 28), 'b\n', null]],
    ['a file by its path', [{ path: 'a.txt' }], [lines(), 'B\n', null]],
    ['a deletion', [{ hunk: 5 }], [lines(2, 15, 28), 'B\n', 'old\n']],
  ])('without %s land as exactly the rest', async (_, rejects, [a, b, gone]) => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch(edits) })
    const before = repo.snapshot()
    const notes = rejects.map((name) => ({ ...name, text: 'not now', rejects: true as const }))
    const decided = await galley.decideHunks({ id: change.id, digest: change.digest, notes })
    expect(decided.change).toMatchObject({ revision: 2, state: 'staged', approvals: [] })
    expect(decided.change.comments.every((one) => one.rejects === true && one.text === 'not now')).toBe(true)
    expect(repo.snapshot()).toEqual(before)
    await galley.approve({ id: change.id, digest: decided.change.digest })
    await galley.land({ id: change.id })
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual([a, b])
    expect(repo.git('ls-files', 'gone.txt')).toBe(gone === null ? '' : 'gone.txt')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('keep the rejected lines and the reason; all rejected is a rejection', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch(edits) })
    const notes = ['a.txt', 'b.txt', 'gone.txt'].map((path) => ({ path, text: 'no', rejects: true as const }))
    const decided = await galley.decideHunks({ id: change.id, digest: change.digest, notes })
    expect(decided.change).toMatchObject({ revision: 1, state: 'rejected' })
    expect(decided.change.rejection).toContain('5 of 5')
    expect(decided.change.comments[3]).toMatchObject({
      path: 'b.txt',
      about: { side: 'diff', lines: ['-b', '+B'] },
      rejects: true,
    })
  })

  test('with comments alone stage nothing, and send the change back where that is wished', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch(edits) })
    const notes = [{ hunk: 1, text: 'why?' }]
    const said = await galley.decideHunks({ id: change.id, digest: change.digest, notes })
    expect(said.change).toMatchObject({ revision: 1, state: 'staged', comments: [{ text: 'why?' }] })
    const back = await galley.decideHunks({ id: change.id, digest: change.digest, notes, sendBack: true })
    expect(back.change).toMatchObject({ revision: 1, state: 'rejected' })
  })

  test('leave a rename with its file', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const moved = [
      { op: 'move', path: 'move.txt', to: 'moved.txt' },
      { op: 'replace', path: 'moved.txt', old: '15\n', new: 'x\n' },
      { op: 'write', path: 'b.txt', content: 'B\n' },
    ]
    const { change } = await galley.propose({ batch: batch(moved, { order: 'sequential' }) })
    const notes = [{ path: 'moved.txt', text: '', rejects: true as const }]
    const { change: next } = await galley.decideHunks({ id: change.id, digest: change.digest, notes })
    expect(next.files.map((file) => file.path)).toEqual(['b.txt'])
  })

  const one = [{ hunk: 1, text: 'no', rejects: true as const }]
  test.each([
    ['another digest', { digest: '0'.repeat(64), notes: one }, {}, 'digest-mismatch'],
    ['a number that no hunk has', { notes: [{ hunk: 9, text: '' }] }, {}, 'out-of-range'],
    ['a path that is not touched', { notes: [{ path: 'x', text: '' }] }, {}, 'not-found'],
    ['an agent at work', { notes: one }, { GALLEY_AGENT: 'robot' }, 'agent-may-not-approve'],
  ])('by %s are refused, and nothing is noted', async (_, more, env, code) => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo, { env })
    const { change } = await galley.propose({ batch: batch(edits) })
    const before = repo.snapshot()
    const { id, digest } = change
    const refused = await refusal(() => galley.decideHunks({ id, digest, ...more }))
    expect(refused.code).toBe(code)
    expect((await galley.show(id)).change).toEqual(change)
    expect(repo.snapshot()).toEqual(before)
  })

  test('refuse a file that has no room beside what was rejected', async () => {
    using repo = makeRepo({ files: { a: 'x\n' } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch([
        { op: 'delete', path: 'a' },
        { op: 'write', path: 'a/b', content: 'y\n' },
      ]),
    })
    const notes = [{ path: 'a', text: '', rejects: true as const }]
    const refused = await refusal(() => galley.decideHunks({ id: change.id, digest: change.digest, notes }))
    expect(refused.code).toBe('exists')
  })

  test('part no file that takes uncommitted work along', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    repo.write('a.txt', lines(2, 28))
    const { change } = await galley.capture()
    const refused = await refusal(() =>
      galley.decideHunks({ id: change.id, digest: change.digest, notes: one }),
    )
    expect(refused.code).toBe('overlaps-uncommitted')
  })
})

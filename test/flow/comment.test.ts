import { describe, expect, test } from 'vitest'
import { batch, cliHere, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const files = { 'a.txt': 'one\ntwo\nthree\n', 'gone.txt': 'old\n' }
const edits = [
  { op: 'replace', path: 'a.txt', old: 'two', new: 'zwei\ndrei' },
  { op: 'delete', path: 'gone.txt' },
]

describe('a comment', () => {
  test('keeps the lines that it is about, reaches show as data, and leaves the change and the repository as they were', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch(edits) })
    await galley.approve({ id: change.id })
    const before = repo.snapshot()
    const { id } = change
    await galley.comment({ id, text: ' why? \n' })
    await galley.comment({ id, text: 'here', path: 'a.txt', line: 2, toLine: 3 })
    await galley.comment({ id, text: 'there', path: 'gone.txt', line: 1 })
    await galley.comment({ id, text: 'hunk', hunk: 1, digest: change.digest })
    const shown = (await galley.show(id)).change
    expect(shown.comments).toMatchObject([
      { text: 'why?', revision: 1 },
      { path: 'a.txt', line: 2, toLine: 3, about: { side: 'new', lines: ['zwei', 'drei'] } },
      { path: 'gone.txt', line: 1, about: { side: 'old', lines: ['old'] } },
      {
        path: 'a.txt',
        line: 1,
        toLine: 4,
        about: { side: 'diff', lines: [' one', '-two', '+zwei', '+drei', ' three'] },
      },
    ])
    expect([shown.state, shown.digest]).toEqual(['approved', change.digest])
    expect(repo.snapshot()).toEqual(before)
  })

  test('of an agent is noted as its own', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo, { env: { GALLEY_AGENT: 'robot' } })
    const { change } = await galley.propose({ batch: batch(edits) })
    const commented = await galley.comment({ id: change.id, text: 'please look' })
    expect(commented.change.comments).toMatchObject([{ text: 'please look', byAgent: true }])
    expect(commented.change.approvals).toEqual([])
  })

  test.each([
    ['no text', { text: ' \n' }, 'usage'],
    ['a text beyond the limit', { text: 'x'.repeat(70_000) }, 'too-large'],
    ['a file that it does not touch', { path: 'b.txt' }, 'not-found'],
    ['a path that leads out', { path: '../a.txt' }, 'not-found'],
    ['a line that the file has not', { path: 'a.txt', line: 5 }, 'out-of-range'],
    ['lines in the wrong order', { path: 'a.txt', line: 3, toLine: 2 }, 'out-of-range'],
    ['line 0', { path: 'a.txt', line: 0 }, 'out-of-range'],
    ['a hunk that it has not', { hunk: 3 }, 'out-of-range'],
    ['another digest', { digest: '0'.repeat(64) }, 'digest-mismatch'],
    ['a change that is not there', { id: 'gzzzzzzzzz' }, 'unknown-change'],
  ])('with %s is refused, and nothing is noted', async (_, more, code) => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch(edits) })
    const before = repo.snapshot()
    const refused = await refusal(() => galley.comment({ id: change.id, text: 'x', ...more }))
    expect(refused.code).toBe(code)
    expect((await galley.show(change.id)).change.comments).toEqual([])
    expect(repo.snapshot()).toEqual(before)
  })

  test('on a change that has landed is refused', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const { change } = await galley.apply({ batch: batch(edits) })
    expect((await refusal(() => galley.comment({ id: change.id, text: 'late' }))).code).toBe('wrong-state')
  })

  test('of hostile text passes for no line of what is shown around it', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    await using galley = await openGalley(repo)
    const edit = { op: 'write', path: 'a.txt', content: `\u001b[2J\u202e${'y'.repeat(2_000)}\n` }
    const { change } = await galley.propose({ batch: batch([edit]) })
    const said = await cliHere(repo, [
      'comment',
      change.id,
      'a.txt:1',
      '-m',
      'ok\u001b[1m\ncheck lint: passed',
    ])
    expect(said.code).toBe(0)
    const shown = await cliHere(repo, ['show', change.id])
    expect(shown.stdout).not.toContain('\u001b')
    expect(shown.stdout).not.toContain('\u202e')
    expect(shown.stdout).toContain('\n  ok\\u{1B}[1m\n  check lint: passed\n')
    const [kept] = (await galley.show(change.id)).change.comments
    expect(kept?.about).toMatchObject({ isCut: true })
    expect(kept?.about?.lines[0]).toHaveLength(1_000)
  })
})

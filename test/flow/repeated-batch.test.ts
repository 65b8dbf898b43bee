import { describe, expect, test } from 'vitest'
import { batch, cliHere, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const files = { 'a.txt': 'a\nb\none\nc\nd\n', 'other.txt': 'x\n', '.galley.json': '{}' }
const edit = batch([{ op: 'replace', path: 'a.txt', old: 'one', new: 'two' }])
const keyed = { ...edit, key: 'job-7' }
const input = (value: object) => JSON.stringify(value)

const commit = (repo: TestRepo, path: string, text: string) => {
  repo.write(path, text)
  repo.git('commit', '-qam', 'mine')
}

describe('a batch that waits, proposed again', () => {
  test('is found while its files have not moved, whatever else was committed', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const first = await galley.propose({ batch: edit })
    commit(repo, 'other.txt', 'y\n')
    const again = await galley.propose({ batch: edit })
    expect(again).toMatchObject({ repeated: true, change: { id: first.change.id, revision: 1 } })
  })

  test.each([
    ['by its bytes', edit],
    ['by its key', keyed],
  ])('stands on the branch as it is once its files have moved, and lands: %s', async (_, value) => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: value })
    commit(repo, 'a.txt', 'a\nB\none\nc\nd\n')
    await galley.approve({ id: change.id })
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('conflict')
    const again = await galley.propose({ batch: value })
    expect(again).toMatchObject({ repeated: false, asked: 2, change: { id: change.id, revision: 2 } })
    expect((await galley.propose({ batch: value })).repeated).toBe(true)
    expect((await galley.apply({ batch: value })).change.id).toBe(change.id)
    expect(repo.read('a.txt')).toBe('a\nB\ntwo\nc\nd\n')
  })

  test('that does not fit the files any more is refused by the name of the change that waits', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: edit })
    commit(repo, 'a.txt', 'a\n')
    const before = repo.snapshot()
    const refused = await refusal(() => galley.propose({ batch: edit }))
    expect(refused).toMatchObject({ code: 'no-match', data: { id: change.id } })
    expect(refused.hint).toContain(`galley show ${change.id}`)
    expect(repo.snapshot()).toEqual(before)
  })
})

describe('a key after its batch has landed', () => {
  test('answers with what landed, and lands nothing', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const first = await galley.apply({ batch: keyed })
    const before = repo.snapshot()
    const again = await galley.apply({ batch: keyed })
    expect(again).toEqual({ change: first.change, landed: first.landed, remarks: [], repeated: true })
    const said = await cliHere(repo, ['apply', '--yes'], { input: input(keyed) })
    expect(said.code).toBe(0)
    expect(said.stdout).toMatch(/^The same batch landed before:\n/)
    expect(repo.snapshot()).toEqual(before)
  })

  test('is refused once that was undone, without a word of trying again', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const { change } = await galley.apply({ batch: keyed })
    const undo = await galley.undo({ target: change.id })
    await galley.approve({ id: undo.change.id })
    await galley.land({ id: undo.change.id })
    const refused = await refusal(() => galley.apply({ batch: keyed }))
    expect(refused.code).toBe('wrong-state')
    expect(refused.hint).not.toContain('tries again')
  })
})

describe('apply', () => {
  test('lands the next revision of the change that --revise names, and refuses one that is not there', async () => {
    using repo = makeRepo({ files })
    const staged = await cliHere(repo, ['propose', '--json'], { input: input(edit) })
    const { id } = staged.json.change
    const other = input(batch([{ op: 'replace', path: 'a.txt', old: 'one', new: 'three' }]))
    const before = repo.snapshot()
    const unknown = await cliHere(repo, ['apply', '--revise', 'gzzzzzzzz9', '--yes', '--json'], {
      input: other,
    })
    expect(unknown.json.error.code).toBe('unknown-change')
    expect(repo.snapshot()).toEqual(before)
    const landed = await cliHere(repo, ['apply', '--revise', id, '--yes', '--json'], { input: other })
    expect(landed.json).toMatchObject({ ok: true, repeated: false, change: { id, revision: 2 } })
    expect(repo.read('a.txt')).toContain('three')
  })

  test('shows what a rule has approved before it lands', async () => {
    using repo = makeRepo({ files: { ...files, '.galley.json': '{"autoApprove":{"paths":["**"]}}' } })
    const said = await cliHere(repo, ['apply'], { input: input(edit) })
    expect(said.code).toBe(0)
    expect(said.stdout).toContain('two')
    expect(repo.read('a.txt')).toContain('two')
  })
})

import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const names = ['p\tq.txt', 'back\\slash.txt', 'd\tir/n\nl.txt', 'e\\f/"q".txt', 'name:stream.txt', 'aux.c']

describe('a diff that git has written', () => {
  test.each(names)('edits the tracked file %j, and the undo takes it back', async (name) => {
    using repo = makeRepo({ files: { [name]: 'a\n' } })
    await using galley = await openGalley(repo)
    repo.write(name, 'b\n')
    const text = `${repo.git('diff')}\n`
    repo.git('checkout', '-q', '.')
    const { change } = await galley.apply({ batch: batch([{ op: 'diff', strip: 1, text }]) })
    expect(repo.read(name)).toBe('b\n')
    const undo = await galley.undo({ target: change.id })
    await galley.approve({ id: undo.change.id })
    await galley.land({ id: undo.change.id })
    expect(repo.read(name)).toBe('a\n')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test.each(names)('does not make %j', async (name) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    repo.write(name, 'b\n')
    repo.git('add', '-N', '.')
    const text = `${repo.git('diff')}\n`
    repo.git('reset', '-q')
    const before = repo.snapshot()
    const refused = await refusal(() => galley.propose({ batch: batch([{ op: 'diff', strip: 1, text }]) }))
    expect(refused.code).toBe('path-invalid')
    expect(repo.snapshot()).toEqual(before)
  })

  test.each(['x\\..\\..\\y', '..\\y', '\\y', 'a\\.git\\config', '.git/config', 'C:y'])(
    'leads to no place that none may lead to: %j',
    async (name) => {
      using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
      await using galley = await openGalley(repo)
      const quoted = JSON.stringify(name).slice(1, -1)
      const text = `--- "a/${quoted}"\n+++ "b/${quoted}"\n@@ -1 +1 @@\n-a\n+b\n`
      const refused = await refusal(() => galley.propose({ batch: batch([{ op: 'diff', strip: 1, text }]) }))
      expect(['path-invalid', 'outside-repository']).toContain(refused.code)
    },
  )

  test('a name of Windows that the repository has is edited by any dialect, and taken back', async () => {
    using repo = makeRepo({ files: { 'aux.c': 'a\n' } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch([{ op: 'replace', path: 'aux.c', old: 'a', new: 'b' }]),
    })
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect((await galley.read({ path: 'aux.c' })).content).toBe('b\n')
    const back = await galley.undo({ target: change.id })
    await galley.approve({ id: back.change.id })
    await galley.land({ id: back.change.id })
    expect(repo.read('aux.c')).toBe('a\n')
  })
})

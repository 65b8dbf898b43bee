import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const write = (path: string) => ({ op: 'write', path, content: 'x\n' })

describe('a batch cannot choose its own rules by its base', () => {
  test('a branch that carries a rule of its own approves nothing on another branch', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.git('checkout', '--quiet', '-b', 'agent')
    repo.write('.galley.json', '{"autoApprove":{"paths":["**"]}}')
    repo.commit('mine')
    repo.git('checkout', '--quiet', 'main')
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch([write('n.txt')], { base: 'agent', onto: 'main' }),
    })
    expect(change.state).toBe('staged')
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('not-approved')
  })

  test('a rule that was withdrawn after it approved does not land the change', async () => {
    using repo = makeRepo({
      files: { 'a.txt': 'a\n', '.galley.json': '{"autoApprove":{"paths":["*.txt"]}}' },
    })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch([write('n.txt')]) })
    expect(change.state).toBe('approved')
    repo.write('.galley.json', '{}')
    repo.commit('no rule')
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('not-approved')
  })

  test('a check that the tip has dropped runs on a merge with it all the same', async () => {
    const lines = 'one\n2\n3\n4\nlast\n'
    const checks = [{ name: 'look', run: 'true' }]
    using repo = makeRepo({
      files: { 'a.txt': lines, '.galley.json': `${JSON.stringify({ checks })}\n` },
    })
    await using galley = await openGalley(repo)
    const edit = { op: 'replace', path: 'a.txt', old: 'one', new: 'ONE' }
    const { id } = (await galley.propose({ batch: batch([edit]) })).change
    await galley.approve({ id })
    repo.git('rm', '-q', '.galley.json')
    repo.write('a.txt', lines.replace('last', 'LAST'))
    repo.commit('no policy')
    expect((await refusal(() => galley.land({ id }))).data).toMatchObject({ revision: 2 })
    expect((await galley.show(id)).change.checks).toMatchObject([{ name: 'look', outcome: 'passed' }])
  })

  test.each([
    ['deny', '{"deny":["secret/**"]}', 'denied-path'],
    ['mode', '{"mode":"read-only"}', 'read-only'],
  ])('an older base does not escape the "%s" of the tip', async (_name, policy, code) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const early = await galley.propose({ batch: batch([write('secret/x.txt')]) })
    await galley.approve({ id: early.change.id })
    repo.write('.galley.json', policy)
    repo.commit('stricter')
    const before = repo.snapshot()
    expect((await refusal(() => galley.land({ id: early.change.id }))).code).toBe(code)
    const late = batch([write('secret/y.txt')], { base: 'HEAD~1' })
    expect((await refusal(() => galley.propose({ batch: late }))).code).toBe(code)
    expect(repo.snapshot()).toEqual(before)
  })
})

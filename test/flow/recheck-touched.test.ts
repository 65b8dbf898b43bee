import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

type Recheck = 'full' | 'touched'

const lines = 'one\ntwo\nthree\nfour\nfive\nsix\n'
const edit = { op: 'replace', path: 'a.txt', old: 'six', new: 'SIX' }

const policyOf = (repo: Pick<TestRepo, 'home'>, recheck: Recheck) =>
  JSON.stringify({ recheck, checks: [{ name: 'count', run: `echo ran >> ${join(repo.home, 'count')}` }] })

const runs = (repo: TestRepo): number => readFileSync(join(repo.home, 'count'), 'utf8').split('\n').length - 1

/** A repository with a change that passed its check once and is approved. */
async function approved(recheck: Recheck, more: object = {}) {
  const repo = makeRepo({ files: { 'a.txt': lines, 'b.txt': 'b\n' } })
  repo.write('.galley.json', policyOf(repo, recheck))
  repo.commit('policy')
  const galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: batch([edit], more) })
  await galley.approve({ id: change.id })
  return { repo, galley, id: change.id, end: () => galley.close().then(() => repo[Symbol.dispose]()) }
}

describe('what has passed its checks lands on a branch that has moved on elsewhere', () => {
  test.each([
    ['full', 'full', 2],
    ['touched', 'touched', 1],
    ['full', 'touched', 2],
    ['touched', 'full', 2],
  ] as const)('where recheck was %s and is %s, its check has run %s times', async (before, now, times) => {
    const { repo, galley, id, end } = await approved(before)
    repo.write('b.txt', 'B\n')
    repo.write('.galley.json', policyOf(repo, now))
    repo.commit('elsewhere')
    await galley.land({ id })
    expect(runs(repo)).toBe(times)
    expect(repo.git('show', 'HEAD:a.txt')).toContain('SIX')
    await end()
  })

  test('in one of its files: the merge is checked', async () => {
    const { repo, galley, id, end } = await approved('touched')
    repo.write(
      'a.txt',
      lines.replace('one', () => 'ONE'),
    )
    repo.commit('in the same file')
    expect((await refusal(() => galley.land({ id }))).code).toBe('not-approved')
    expect(runs(repo)).toBe(2)
    await galley.approve({ id })
    await galley.land({ id })
    expect(runs(repo)).toBe(2)
    await end()
  })

  test('in a file that its agent has read: it is checked again', async () => {
    const seen = { path: 'b.txt', blob: '61780798228d17af2d34fce4cfbdf35556832472' }
    const { repo, galley, id, end } = await approved('touched', { reads: [seen] })
    repo.write('b.txt', 'B\n')
    repo.commit('what it has read')
    await galley.land({ id })
    expect(runs(repo)).toBe(2)
    await end()
  })

  test('a check that the branch has got since is run', async () => {
    const { repo, galley, id, end } = await approved('touched')
    const fails = { name: 'fails', run: 'false' }
    const policy = JSON.parse(policyOf(repo, 'touched'))
    repo.write('.galley.json', JSON.stringify({ ...policy, checks: [...policy.checks, fails] }))
    repo.commit('a new check')
    expect((await refusal(() => galley.land({ id }))).data).toMatchObject({ checks: ['fails'] })
    await end()
  })
})

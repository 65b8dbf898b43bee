import { expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

test('an edit by lines that names the blob it was made for is told where its lines stand now, and carried there', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\ntwo\nthree\nfour\n' } })
  const blob = repo.git('rev-parse', 'HEAD:a.txt')
  repo.write('a.txt', 'zero\none\ntwo\nthree\nfour\n')
  repo.commit('zero')
  await using galley = await openGalley(repo)
  const edit = { op: 'lines', path: 'a.txt', from: 3, to: 3, content: 'THREE\n', blob }
  const before = repo.snapshot()
  const refused = await refusal(() => galley.propose({ batch: batch([edit]) }))
  expect(refused.code).toBe('stale-read')
  const failure = JSON.stringify(refused)
  expect(failure).toContain('"suggestion":{"from":4,"to":4}')
  expect(failure).toContain('"changes":["')
  expect(repo.snapshot()).toEqual(before)
  // What one edit names is evidence for that edit alone.
  const unread = { op: 'lines', path: 'a.txt', from: 1, to: 1, content: 'ONE\n' }
  expect((await refusal(() => galley.propose({ batch: batch([edit, unread]), carry: true }))).code).toBe(
    'not-read',
  )
  await galley.apply({ batch: batch([edit]), carry: true })
  expect(repo.read('a.txt')).toBe('zero\none\ntwo\nTHREE\nfour\n')
})

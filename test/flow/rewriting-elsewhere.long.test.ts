import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeClones } from '../helpers/clones.ts'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const format = { name: 'format', run: 'sed -i s/two/TWO/ a.txt' }
const files = { 'a.txt': 'one\n', '.galley.json': `${JSON.stringify({ checks: [format] })}\n` }
const two = batch([{ op: 'write', path: 'a.txt', content: 'two\n' }])

function twoClones(more: Readonly<Record<string, string>>) {
  const made = makeClones(2, { files: more })
  const [ann, ben] = made.clones
  if (ann === undefined || ben === undefined) throw new Error('two clones')
  return { ann, ben, [Symbol.dispose]: () => made[Symbol.dispose]() }
}

const hookOf = (repo: TestRepo, lines: string): void => {
  const path = join(repo.dir, '.git/hooks/pre-commit')
  writeFileSync(path, `#!/bin/sh\n${lines}\n`)
  chmodSync(path, 0o755)
}

test('what a check rewrote lands in another clone as it was approved, and can be undone', async () => {
  using made = twoClones(files)
  await using ann = await openGalley(made.ann)
  await using ben = await openGalley(made.ben)
  const { change } = await ann.propose({ batch: two })
  await ann.approve({ id: change.id })
  await ann.push()
  expect(await ben.fetch()).toMatchObject({ changes: [{ id: change.id, how: 'new' }], dropped: [] })
  await ben.land({ id: change.id })
  expect(made.ben.read('a.txt')).toBe('TWO\n')
  const undone = await ben.undo({ target: change.id })
  await ben.approve({ id: undone.change.id })
  await ben.land({ id: undone.change.id })
  expect(made.ben.read('a.txt')).toBe('one\n')
})

test('a fetched change that a hook here would rewrite does not land as it was approved', async () => {
  using made = twoClones({ 'a.txt': 'one\n' })
  hookOf(made.ben, 'sed -i s/two/TWO/ a.txt')
  await using ann = await openGalley(made.ann)
  await using ben = await openGalley(made.ben)
  const { change } = await ann.propose({ batch: two })
  await ann.approve({ id: change.id })
  await ann.push()
  await ben.fetch()
  const before = made.ben.snapshot()
  const refused = await refusal(() => ben.land({ id: change.id }))
  expect(refused).toMatchObject({ code: 'not-approved', data: { revision: 2, paths: ['a.txt'] } })
  expect(made.ben.snapshot()).toEqual(before)
  await ben.approve({ id: change.id })
  await ben.land({ id: change.id })
  expect(made.ben.read('a.txt')).toBe('TWO\n')
})

test('what was captured in another clone is not what stands in this one by chance', async () => {
  using made = twoClones({ ...files, '.galley.json': files['.galley.json'].replace('a.txt', 'new.txt') })
  await using ann = await openGalley(made.ann)
  await using ben = await openGalley(made.ben)
  for (const repo of [made.ann, made.ben]) repo.write('new.txt', 'two\n')
  const { change } = await ann.capture({ paths: ['new.txt'] })
  expect(change.revision).toBe(2)
  await ann.approve({ id: change.id })
  await ann.push()
  await ben.fetch()
  const before = made.ben.snapshot()
  expect((await refusal(() => ben.land({ id: change.id }))).code).toBe('would-overwrite')
  expect(made.ben.snapshot()).toEqual(before)
  await ann.land({ id: change.id })
  expect(made.ann.read('new.txt')).toBe('TWO\n')
})

test('what a run did is a change whose checks may rewrite it', async () => {
  using repo = makeRepo({ files })
  await using galley = await openGalley(repo)
  const { changes } = await galley.run({ command: ['sh', '-c', 'echo two > a.txt'] })
  expect(changes).toMatchObject([{ revision: 2, checks: [{ outcome: 'passed' }] }])
  const [change] = changes
  await galley.approve({ id: change?.id ?? '' })
  await galley.land({ id: change?.id ?? '' })
  expect(repo.read('a.txt')).toBe('TWO\n')
})

test('in a SHA-256 repository, on the first commit, and with a directory that becomes a file', async () => {
  using repo = makeRepo({ objectFormat: 'sha256' })
  hookOf(repo, 'if [ -d d ]; then git rm -rqf d && echo file > d && git add d; fi')
  await using galley = await openGalley(repo)
  const edits = [{ op: 'write', path: 'd/a.txt', content: 'a\n' }]
  const { change } = await galley.propose({ batch: batch(edits) })
  expect(change).toMatchObject({ revision: 2, base: null, files: [{ path: 'd', status: 'added' }] })
  await galley.approve({ id: change.id })
  await galley.land({ id: change.id })
  expect(repo.read('d')).toBe('file\n')
})

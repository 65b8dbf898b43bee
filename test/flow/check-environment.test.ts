import { expect, test } from 'vitest'
import { batch, openGalley } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

test.each(['touched', 'full'])('a check in a %s tree is in that tree, wherever it looks', async (tree) => {
  const isNowhere = 'process.exit("PWD" in process.env || "OLDPWD" in process.env ? 1 : 0)'
  const checks = [
    { name: 'from a folder', run: 'cd docs && test "$(git rev-parse --show-prefix)" = docs/', tree },
    { name: 'no other place', run: [process.execPath, '-e', isNowhere], tree },
  ]
  using repo = makeRepo({ files: { 'docs/a.md': 'one\n', '.galley.json': JSON.stringify({ checks }) } })
  await using galley = await openGalley(repo, { env: { PWD: repo.dir, OLDPWD: repo.home } })
  const before = repo.snapshot()
  const edits = [{ op: 'replace', path: 'docs/a.md', old: 'one', new: 'two' }]
  const { change } = await galley.propose({ batch: batch(edits) })
  expect(change.checks.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
    'from a folder passed',
    'no other place passed',
  ])
  expect(repo.snapshot()).toEqual(before)
})

import { expect, test } from 'vitest'
import { makeRepo } from '../helpers/repo.ts'
import { land, refusalOf } from './stage-change.ts'

test('lands', async () => {
  await using repo = makeRepo({ files: { 'a.txt': 'one\n', 'b/c.txt': 'two\n', 'd/e.txt': 'x\n' } })
  repo.write('other.txt', 'untracked')
  const report = await land(repo, { 'a.txt': 'ONE\n', 'd/e.txt': null, 'n/m/o.txt': 'new\n' })
  console.log(report)
  expect(repo.git('rev-parse', 'HEAD')).toBe(report.after)
  expect(repo.git('status', '--porcelain')).toBe('?? other.txt')
  expect(repo.git('diff-files')).toBe('')
  console.log(repo.git('reflog'), repo.git('fsck', '--strict'))
  repo.write('a.txt', 'dirty\n')
  const s = repo.snapshot()
  expect(await refusalOf(land(repo, { 'a.txt': 'AGAIN\n' }))).toBe('overlaps-uncommitted')
  expect(repo.snapshot()).toEqual(s)
  expect(await refusalOf(land(repo, { 'other.txt': 'AGAIN\n' }))).toBe('would-overwrite')
  expect(repo.snapshot()).toEqual(s)
})

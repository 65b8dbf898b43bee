import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { landCommit } from '../../src/landing/land-commit.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { land, type NewContent, refusalOf, stageChange } from './stage-change.ts'

const FILES = { 'd/x': 'x\n', 'd.txt': 'beside\n', d0: 'after\n', f: 'f\n' }

/** Staged, and nowhere else any more. */
function stageOnly(repo: TestRepo, path: string): void {
  repo.write(path, 'precious\n')
  repo.git('add', path)
  rmSync(join(repo.dir, path))
}

describe('a staged file that only the index has', () => {
  const cases: readonly (readonly [name: string, staged: string, change: Record<string, NewContent>])[] = [
    ['lies where the change makes a directory', 'nn', { 'nn/a': 'a\n' }],
    ['lies where the change makes a directory, further up', 'nn', { 'nn/deep/er/a': 'a\n' }],
    ['lies below what the change makes a file', 'd/n', { 'd/x': null, d: 'a file\n' }],
    ['lies far below what the change makes a file', 'd/w/n', { 'd/x': null, d: 'a file\n' }],
  ]
  test.each(cases)('that %s stays, and the landing is refused', async (_, staged, change) => {
    using repo = makeRepo({ files: FILES })
    stageOnly(repo, staged)
    const request = await stageChange(repo, change)
    const before = repo.snapshot()
    expect(await refusalOf(landCommit(request))).toBe('overlaps-uncommitted')
    expect(repo.snapshot()).toEqual(before)
    expect(repo.git('show', `:${staged}`)).toBe('precious')
  })

  test.each([2, 4])('beside them is in nobody’s way (index version %i)', async (version) => {
    using repo = makeRepo({ files: FILES })
    repo.git('update-index', '--index-version', `${version}`)
    for (const path of ['d.new', 'd1/n', 'c/n']) stageOnly(repo, path)
    await land(repo, { 'd/x': null, d: 'a file\n', 'e/new': 'new\n' })
    expect(repo.read('d')).toBe('a file\n')
    expect(repo.git('diff', '--cached', '--name-only').split('\n')).toEqual(['c/n', 'd.new', 'd1/n'])
  })
})

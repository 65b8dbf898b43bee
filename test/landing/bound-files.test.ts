import { chmodSync, linkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { landCommit } from '../../src/landing/land-commit.ts'
import type { LandingPoint } from '../../src/landing/request.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { leftovers, refusalOf, stageChange } from './stage-change.ts'

const OLD = 'one\n2\n3\n4\nfive\n'
const MINE = 'one\n2\n3\n4\nFIVE, by me\n'

async function boundRequest(repo: TestRepo) {
  const request = await stageChange(repo, { 'a.txt': 'ONE\n2\n3\n4\nfive\n', 'new.txt': 'new\n' })
  const id = repo.git('rev-parse', 'HEAD:a.txt')
  const bound = new Map([
    ['a.txt', { mode: '100644', id }],
    ['new.txt', null],
  ])
  return { request, bound }
}

describe('a landing whose approval is bound to the files', () => {
  test('lands where they are what they were', async () => {
    using repo = makeRepo({ files: { 'a.txt': OLD } })
    const { request, bound } = await boundRequest(repo)
    await landCommit({ ...request, bound })
    expect([repo.read('a.txt'), repo.read('new.txt')]).toEqual(['ONE\n2\n3\n4\nfive\n', 'new\n'])
  })

  const changes: Readonly<Record<string, (repo: TestRepo) => void>> = {
    'other bytes, which would merge': (repo) => repo.write('a.txt', MINE),
    'the executable bit': (repo) => chmodSync(join(repo.dir, 'a.txt'), 0o755),
    'a second name': (repo) => linkSync(join(repo.dir, 'a.txt'), join(repo.home, 'second')),
    'a new file that holds the very bytes': (repo) => repo.write('new.txt', 'new\n'),
  }
  test.each(Object.keys(changes))('is refused for %s, and nothing is changed', async (name) => {
    using repo = makeRepo({ files: { 'a.txt': OLD } })
    const { request, bound } = await boundRequest(repo)
    changes[name]?.(repo)
    const before = repo.snapshot()
    expect(await refusalOf(landCommit({ ...request, bound }))).toBe('changed-after-approval')
    expect(repo.snapshot()).toEqual(before)
    expect(leftovers(repo)).toEqual([])
  })

  const moments: readonly LandingPoint[] = [
    'planned',
    'staged',
    'journaled',
    'index-locked',
    'ref-prepared',
    'moved-away-0',
  ]
  test.each(moments)('never merges with what was saved while it landed (at %s)', async (moment) => {
    using repo = makeRepo({ files: { 'a.txt': OLD } })
    const { request, bound } = await boundRequest(repo)
    const tip = repo.git('rev-parse', 'HEAD')
    let isSaved = false
    const reach = (point: LandingPoint) => {
      if (point !== moment || isSaved) return
      isSaved = true
      writeFileSync(join(repo.dir, 'a.txt'), MINE)
    }
    expect(await refusalOf(landCommit({ ...request, bound, reach }))).toBe('changed-after-approval')
    expect(repo.read('a.txt')).toBe(MINE)
    expect(repo.git('rev-parse', 'HEAD')).toBe(tip)
    expect(repo.git('status', '--porcelain')).toBe(' M a.txt')
    expect(leftovers(repo)).toEqual([])
  })
})

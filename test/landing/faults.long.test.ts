import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { landCommit } from '../../src/landing/land-commit.ts'
import type { LandingPoint } from '../../src/landing/request.ts'
import { makeRepo } from '../helpers/repo.ts'
import { leftovers, refusalOf, stageChange } from './stage-change.ts'
import { attackBySwaps } from './swap-attack.ts'

const FILES = {
  'a.txt': 'a\n',
  'deep/er/b.txt': 'b\n',
  'gone/c.txt': 'c\n',
  'swap/x.txt': 'x\n',
  flat: 'f\n',
}
const CHANGES = {
  'a.txt': 'A\n',
  'deep/er/b.txt': 'B\n',
  'gone/c.txt': null,
  'new/dir/d.txt': 'D\n',
  'swap/x.txt': null,
  swap: 'file\n',
  flat: null,
  'flat/y.txt': 'y\n',
}

const BEFORE_COMMIT: readonly LandingPoint[] = [
  ...([
    'planned',
    'objects-staged',
    'staged',
    'journaled',
    'index-locked',
    'ref-prepared',
    'validated',
  ] as const),
  ...([
    'moved-away-0',
    'moved-away-2',
    'moved-away-3',
    'placed-3',
    'placed-5',
    'placed-6',
    'all-placed',
  ] as const),
  ...(['checked', 'index-completed'] as const),
]

describe('a landing that fails', () => {
  test('for whatever reason and at whatever step, leaves everything as it was', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.write('mine.txt', 'mine\n')
    const request = await stageChange(repo, CHANGES)
    const before = repo.snapshot()
    const reached = new Set<string>()
    for (const point of BEFORE_COMMIT) {
      const fail = (now: LandingPoint) => {
        reached.add(now)
        if (now === point)
          throw Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' })
      }
      expect(await refusalOf(landCommit({ ...request, reach: fail })), point).toBe('io-error')
      expect(repo.snapshot(), point).toEqual(before)
      expect(leftovers(repo), point).toEqual([])
    }
    expect([...reached]).toEqual(expect.arrayContaining([...BEFORE_COMMIT]))
    await landCommit(request)
    expect(repo.git('status', '--porcelain')).toBe('?? mine.txt')
  })

  test.each(['journaled', 'ref-prepared', 'all-placed', 'objects-moved'] as const)(
    'because somebody killed git at %s, leaves nothing of git either',
    async (point) => {
      await using repo = makeRepo({ files: FILES })
      const request = await stageChange(repo, CHANGES)
      const before = repo.snapshot()
      const kill = (now: LandingPoint) => {
        if (now !== point) return
        const [id = ''] = readdirSync(join(request.galleyDir, 'land'))
        const journal = readFileSync(join(request.galleyDir, 'land', id, 'journal.json'), 'utf8')
        process.kill(JSON.parse(journal).refProcess.pid, 'SIGKILL')
      }
      expect(await refusalOf(landCommit({ ...request, reach: kill }))).toBe('io-error')
      expect(leftovers(repo)).toEqual([])
      // It shows when the ref is to move; objects that have their places by then stay, since somebody may have seen them.
      const isObject = (path: string) => path.startsWith('objects/') && point !== 'journaled'
      const { gitFiles, ...rest } = repo.snapshot()
      const others = Object.entries(gitFiles).filter(([path]) => !isObject(path) || path in before.gitFiles)
      expect({ ...rest, gitFiles: Object.fromEntries(others) }).toEqual(before)
      await landCommit(request)
      expect(repo.git('status', '--porcelain')).toBe('')
    },
  )

  test('takes a file back that it cannot reach at that moment, as soon as its directory is in its place again', async () => {
    await using repo = makeRepo({ files: FILES })
    const request = await stageChange(repo, CHANGES)
    const before = repo.snapshot()
    const [deep, aside] = [join(repo.dir, 'deep'), join(repo.home, 'aside')]
    const fail = (now: LandingPoint) => {
      if (now !== 'all-placed') return
      renameSync(deep, aside)
      symlinkSync(repo.home, deep)
      setTimeout(() => {
        unlinkSync(deep)
        renameSync(aside, deep)
      }, 50)
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' })
    }
    expect(await refusalOf(landCommit({ ...request, reach: fail }))).toBe('io-error')
    expect(repo.snapshot()).toEqual(before)
  })

  test('keeps its journal when the index cannot be put in place after the ref has moved', async () => {
    await using repo = makeRepo({ files: FILES })
    const request = await stageChange(repo, CHANGES)
    const fail = (now: LandingPoint) => {
      if (now === 'index-swapped') throw Object.assign(new Error('no'), { code: 'EIO', syscall: 'rename' })
    }
    await expect(landCommit({ ...request, reach: fail })).rejects.toMatchObject({
      code: 'io-error',
      data: { landed: true },
    })
    expect(readdirSync(join(request.galleyDir, 'land'))).toHaveLength(1)
  })
})

describe('a directory that is swapped for a link', () => {
  test('at any step, lets no file out of the work tree', async () => {
    for (const point of BEFORE_COMMIT) {
      await using repo = makeRepo({ files: FILES })
      const outside = join(repo.home, 'outside')
      mkdirSync(join(outside, 'er'), { recursive: true })
      let isSwapped = false
      const reach = (now: LandingPoint) => {
        if (now !== point || isSwapped) return
        isSwapped = true
        renameSync(join(repo.dir, 'deep'), join(repo.home, 'aside'))
        symlinkSync(outside, join(repo.dir, 'deep'))
      }
      const request = await stageChange(repo, CHANGES)
      await landCommit({ ...request, reach }).catch((error: { code?: string }) => {
        expect(['symlink', 'overlaps-uncommitted'], point).toContain(error.code)
      })
      expect(readdirSync(outside, { recursive: true }), point).toEqual(['er'])
    }
  })

  test('again and again by another process, lets no file out of the work tree', {
    timeout: 300_000,
  }, async () => {
    const found = await attackBySwaps(50)
    expect(found).toMatchObject({ outside: [], leftovers: [] })
    expect(found.swaps).toBeGreaterThan(50)
    // Landings refuse, or land; a directory whose name was missing at the very moment may have been made anew.
    expect(found.commits).toBe(1 + found.landed)
    const expected = ['symlink', 'overlaps-uncommitted']
    expect(Object.keys(found.refused).filter((code) => !expected.includes(code))).toEqual([])
  })
})

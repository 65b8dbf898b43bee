import { mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { landCommit } from '../../src/landing/land-commit.ts'
import type { LandingPoint } from '../../src/landing/request.ts'
import { makeRepo } from '../helpers/repo.ts'
import { leftovers, refusalOf, stageChange } from './stage-change.ts'

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

/** Swaps a directory for a link that leads out, and back, as fast as it can. */
const ATTACKER = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
const { workerData, parentPort } = require('node:worker_threads')
const { directory, outside, flag } = workerData
while (Atomics.load(flag, 0) === 0) {
  try {
    renameSync(directory, directory + '.aside')
    symlinkSync(outside, directory)
    unlinkSync(directory)
    renameSync(directory + '.aside', directory)
  } catch {
    try { unlinkSync(directory) } catch {}
    try { renameSync(directory + '.aside', directory) } catch {}
  }
}
parentPort.close()
`

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

  test('again and again by another thread, lets no file out of the work tree', async () => {
    const tries = Number(process.env['GALLEY_ATTACKS'] ?? 15)
    await using repo = makeRepo({ files: FILES })
    const outside = join(repo.home, 'outside')
    mkdirSync(join(outside, 'er'), { recursive: true })
    const flag = new Int32Array(new SharedArrayBuffer(4))
    const workerData = { directory: join(repo.dir, 'deep'), outside, flag }
    const worker = new Worker(ATTACKER, { eval: true, workerData })
    const ended = new Promise((resolve) => worker.on('exit', resolve))
    let landings = 0
    for (let n = 0; n < tries; n++) {
      const request = await stageChange(repo, { 'deep/er/b.txt': `B ${n}\n`, [`deep/er/n${n}.txt`]: 'n\n' })
      landings += await landCommit(request).then(
        () => 1,
        () => 0,
      )
    }
    Atomics.store(flag, 0, 1)
    await ended
    expect(readdirSync(outside, { recursive: true })).toEqual(['er'])
    // Landings refuse, or land; a file may have gone with the directory that was swapped, never outside.
    expect(repo.git('rev-list', '--count', 'HEAD')).toBe(String(landings + 1))
  })
})

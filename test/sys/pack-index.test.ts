import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { smallPacks } from '../../src/store/repack.ts'
import { PackIndex } from '../../src/sys/pack-index.ts'
import { makeRepo } from '../helpers/repo.ts'

test.each(['sha1', 'sha256'] as const)('a pack holds exactly what git says, in %s', (objectFormat) => {
  const files = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`f${n}.txt`, `${n}\n`]))
  using repo = makeRepo({ objectFormat, files })
  repo.git('gc', '-q')
  const directory = join(repo.dir, '.git/objects/pack')
  const file = join(directory, readdirSync(directory).find((name) => name.endsWith('.idx')) ?? '')
  const index = new PackIndex(file, objectFormat === 'sha1' ? 20 : 32)
  const ids = execFileSync('git', ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)'], {
    cwd: repo.dir,
    env: repo.env,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
  expect(ids.length).toBeGreaterThan(600)
  expect(ids.filter((id) => !index.has(id))).toEqual([])
  const others = ids
    .map((id) => `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`)
    .filter((id) => !ids.includes(id))
  expect(others.filter((id) => index.has(id))).toEqual([])
})

test('an index that is gone, cut off or of another kind holds nothing', () => {
  using repo = makeRepo()
  const file = join(repo.home, 'x.idx')
  expect(new PackIndex(file, 20).has('00'.repeat(20))).toBe(false)
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(5000, 1), Buffer.from('ff744f63000000020000', 'hex')]) {
    writeFileSync(file, bytes)
    expect(new PackIndex(file, 20).has('00'.repeat(20))).toBe(false)
  }
})

test.each([
  [[], []],
  [[100], []],
  [
    [100, 100, 100],
    [100, 100, 100],
  ],
  [
    [10, 10, 1000],
    [10, 10],
  ],
  [
    [1, 2, 4, 8, 1000],
    [1, 2, 4, 8],
  ],
  [[10, 30, 100], []],
])('of packs as large as %j, %j are joined', (sizes, joined) => {
  const packs = sizes.map((bytes, n) => ({ name: `pack-${n}`, modifiedMs: 0, bytes, keep: null }))
  const kept = { name: 'kept', modifiedMs: 0, bytes: 1, keep: 'archive' }
  expect(smallPacks([kept, ...packs]).map((pack) => pack.bytes)).toEqual(joined)
})

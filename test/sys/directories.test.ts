import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { makePrivateDirectory, removeDirectoryIfEmpty } from '../../src/sys/directories.ts'

const home = mkdtempSync(join(tmpdir(), 'galley-test-'))
afterAll(() => rmSync(home, { recursive: true }))

describe('a folder of galley', () => {
  test('is made once by many who need it and its parents at the same time', async () => {
    for (let round = 0; round < 50; round++) {
      const path = join(home, `${round}/a/b/c`)
      // Not in step: each finds another part of the way made already.
      const deep = Array.from({ length: 24 }, async (_, n) => {
        for (let waited = 0; waited < n; waited++) await new Promise((resolve) => setImmediate(resolve))
        await makePrivateDirectory(n % 2 === 0 ? path : join(path, `${n}`))
      })
      await Promise.all(deep)
      expect(statSync(path).mode & 0o777).toBe(0o700)
      expect(statSync(join(home, `${round}`)).mode & 0o777).toBe(0o700)
    }
  })

  test('is refused at once where no folder can be made, and where a file stands in the way', async () => {
    await expect(makePrivateDirectory('/proc/galley/a/b')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(makePrivateDirectory('/dev/null/a')).rejects.toMatchObject({ code: 'ENOTDIR' })
    writeFileSync(join(home, 'file'), '')
    await expect(makePrivateDirectory(join(home, 'file'))).rejects.toMatchObject({ code: 'EEXIST' })
  })

  test('goes away when nothing is in it, and nothing else does', async () => {
    await makePrivateDirectory(join(home, 'gone/inner'))
    expect(removeDirectoryIfEmpty(join(home, 'gone'))).toBe(false)
    expect(removeDirectoryIfEmpty(join(home, 'gone/inner'))).toBe(true)
    expect(removeDirectoryIfEmpty(join(home, 'gone/inner'))).toBe(false)
    writeFileSync(join(home, 'gone/file'), '')
    expect(removeDirectoryIfEmpty(join(home, 'gone/file'))).toBe(false)
    expect(readdirSync(join(home, 'gone'))).toEqual(['file'])
  })
})

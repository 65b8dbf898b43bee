import { describe, expect, test } from 'vitest'
import { digestOf } from '../../src/flow/stage.ts'
import { comparePaths, manifestBytes, manifestOf, type Transition } from '../../src/model/manifest.ts'

const vector: readonly Transition[] = [
  {
    path: 'src/new.ts',
    oldMode: '000000',
    oldBlob: '0'.repeat(40),
    newMode: '100644',
    newBlob: 'c'.repeat(40),
  },
  {
    path: 'bin/run.sh',
    oldMode: '100644',
    oldBlob: 'a'.repeat(40),
    newMode: '100755',
    newBlob: 'b'.repeat(40),
  },
]

describe('the digest of a manifest', () => {
  test('is the published vector, whatever the order of the transitions', () => {
    const digest = 'bf1d6ba069a21e0b05856e8cde7ee5387230e61d604adbd3d9cd065fca83a9f8'
    expect(digestOf(manifestOf(vector))).toBe(digest)
    expect(digestOf(manifestOf([...vector].reverse()))).toBe(digest)
  })

  test('differs when a path, a mode or a blob does', () => {
    const [first, second] = manifestOf(vector)
    if (first === undefined || second === undefined) throw new Error('two transitions')
    const others = [
      [{ ...first, path: 'bin/run.sh2' }, second],
      [{ ...first, newMode: '100644' as const }, second],
      [{ ...first, newBlob: 'd'.repeat(40) }, second],
      [first],
    ]
    const digests = new Set([vector, ...others].map((m) => digestOf(manifestOf(m))))
    expect(digests.size).toBe(5)
  })

  test('is taken over lines that end in NUL, so that no path can read as two', () => {
    const bytes = Buffer.from(manifestBytes(manifestOf(vector))).toString()
    expect(bytes.split('\0')).toHaveLength(4)
    expect(bytes.startsWith(['galley-manifest 1', '100644 '].join('\u0000'))).toBe(true)
  })

  test('sorts by bytes, not by UTF-16: an emoji comes after a private-use character', () => {
    expect(comparePaths('\u{1F600}', '\uE000')).toBeGreaterThan(0)
    expect(comparePaths('a', 'a/b')).toBeLessThan(0)
    expect(comparePaths('a-b', 'a/b')).toBeLessThan(0)
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mapAbsolutePath } from '../../src/policy/absolute-path.ts'
import { checkPlace } from '../../src/policy/paths.ts'

const map = (path: string, root = '/home/ann/repo') => {
  const mapped = mapAbsolutePath(path, root)
  return mapped.kind === 'mapped' ? mapped.path : mapped.refusal.code
}

describe('an absolute path', () => {
  test.each([
    ['/home/ann/repo/src/a.ts', '/home/ann/repo', 'src/a.ts'],
    ['/home/ann/repo/src/a.ts', '/home/ann/repo/', 'src/a.ts'],
    ['/home/ann/repo//src/a.ts', '/home/ann/repo', 'src/a.ts'],
    ['/a', '/', 'a'],
    ['src/a.ts', '/home/ann/repo', 'src/a.ts'],
    ['C:\\repo\\src\\a.ts', 'C:\\repo', 'src/a.ts'],
    ['c:/repo/src/a.ts', 'C:\\repo', 'src/a.ts'],
    ['src\\a.ts', 'C:\\repo', 'src/a.ts'],
  ])('%j below %j is %j', (path, root, expected) => {
    expect(map(path, root)).toBe(expected)
  })

  test.each([
    '/etc/hosts',
    '/home/ann/repo2/f.txt',
    '/home/ann/repo-other/f.txt',
    '/home/ann',
    '/home/ann/repo/../secret',
    '/home/ann/repo/a/../../secret',
    '/HOME/ann/repo/a',
    'C:/repo/a',
    '\\home\\ann\\repo\\a',
    '../secret',
  ])('%j is outside', (path) => {
    expect(map(path)).toBe('outside-repository')
  })

  test.each(['D:\\repo\\a', 'C:\\repo2\\a', '\\\\server\\repo\\a', '/repo/a', 'C:\\Repo\\a'])(
    '%j is outside of C:\\repo',
    (path) => {
      expect(map(path, 'C:\\repo')).toBe('outside-repository')
    },
  )

  test.each([
    '/home/ann/repo',
    '/home/ann/repo/',
    '/home/ann/repo/a/../b',
    '/home/ann/repo/./a',
    '/home/ann/repo/a//b',
    '/home/ann/repo/.git/config',
    '/home/ann/repo/a\0b',
  ])('%j is inside and still no path to use', (path) => {
    expect(map(path)).toBe('path-invalid')
  })

  test('maps to a name that the repository may hold already, portable or not', () => {
    expect(map('/home/ann/repo/a\\b')).toBe('a\\b')
  })

  test('is refused without naming the root', () => {
    const mapped = mapAbsolutePath('/etc/hosts', '/home/ann/repo')
    expect(JSON.stringify(mapped)).not.toContain('ann')
  })

  test('maps to a path that may be tracked, or is refused', () => {
    const part = fc.constantFrom('a', 'b.ts', '..', '.', '', '.git', 'repo', 'x:y', '\\')
    const anyPath = fc.array(part, { maxLength: 6 }).map((parts) => parts.join('/'))
    fc.assert(
      fc.property(fc.constantFrom('/repo/', '/repo', '/', '', '/repo2/'), anyPath, (start, rest) => {
        const mapped = mapAbsolutePath(start + rest, '/repo')
        if (mapped.kind === 'mapped') expect(checkPlace(mapped.path)).toBeNull()
      }),
      { numRuns: 5000 },
    )
  })
})

import fc from 'fast-check'
import picomatch from 'picomatch'
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { compileGlob, matchesGlob } from '../../src/policy/glob.ts'
import { indexGlobs } from '../../src/policy/glob-index.ts'
import { branchMatcher, coveringMatcher, exactMatcher, globFault } from '../../src/policy/path-matcher.ts'
import { checkPath } from '../../src/policy/paths.ts'

const exact = (pattern: string, path: string) => exactMatcher([pattern])(path) === pattern
const covers = (pattern: string, path: string) => coveringMatcher([pattern])(path) === pattern

describe('a list that allows matches', () => {
  test.each([
    ['docs/**', 'docs/a.md'],
    ['docs/**', 'docs/a/b/c.md'],
    ['docs/**', 'docs/.hidden'],
    ['**', 'a'],
    ['**', 'a/b'],
    ['*.md', 'README.md'],
    ['*.md', 'docs/deep/README.md'],
    ['docs/*.md', 'docs/a.md'],
    ['**/*.md', 'a.md'],
    ['**/*.md', 'x/y/a.md'],
    ['a/**/z', 'a/z'],
    ['a/**/z', 'a/b/c/z'],
    ['docs/', 'docs/a'],
    ['docs/', 'pkg/docs/a'],
    ['pkg/docs/', 'pkg/docs/a/b'],
    ['src/{a,b}.ts', 'src/b.ts'],
    ['{src,test}/**/*.{ts,tsx}', 'test/x/y.tsx'],
    ['a{,b}', 'a'],
    ['file?.txt', 'file1.txt'],
    ['file?.txt', 'file😀.txt'],
    ['[a-c]x', 'bx'],
    ['[!a-c]x', 'dx'],
    ['[^a-c]x', 'dx'],
    ['[]x]y', ']y'],
    ['[*]', '*'],
    ['\\*', '*'],
    ['\\[slug\\]/page.tsx', '[slug]/page.tsx'],
    ['(group)/a+b$.^|x', '(group)/a+b$.^|x'],
    ['\\{a,b\\}', '{a,b}'],
    ['[{]a,b[}]', '{a,b}'],
    ['{[,],b}', ','],
    ['a**b', 'axxb'],
    ['*.test.*', 'src/a.test.ts'],
    ['cafe\u0301', 'café'],
  ])('%j %j', (pattern, path) => {
    expect(exact(pattern, path)).toBe(true)
  })
})

describe('a list that allows does not match', () => {
  test.each([
    ['docs/**', 'docs'],
    ['docs/**', 'docsx/a'],
    ['docs/**', 'pkg/docs/a'],
    ['docs/*', 'docs/a/b'],
    ['docs/*.md', 'docs/a/b.md'],
    ['docs', 'docs/a'],
    ['docs/', 'docs'],
    ['DOCS/**', 'docs/a'],
    ['docs/**', 'DOCS/a'],
    ['*.md', 'a.mdx'],
    ['a?b', 'a/b'],
    ['[!x]', '/'],
    ['file?.txt', 'file.txt'],
    ['[!a-c]x', 'ax'],
    ['a/**/z', 'a/bz'],
    ['x.y', 'xzy'],
    ['a+', 'aa'],
    ['(a|b)', 'a'],
  ])('%j %j', (pattern, path) => {
    expect(exact(pattern, path)).toBe(false)
  })
})

describe('a list that forbids or protects', () => {
  test.each([
    ['secrets', 'secrets'],
    ['secrets', 'secrets/a/b'],
    ['secrets', 'pkg/secrets/a'],
    ['.git*', '.gitattributes'],
    ['.git*', 'sub/.gitignore'],
    ['.git*', '.github/workflows/ci.yml'],
    ['pkg/private', 'pkg/private/x'],
    ['pkg/private/**', 'pkg/private/x'],
    ['.env', '.ENV'],
    ['.ENV', '.env'],
    ['Straße/**', 'STRASSE/x'],
    ['*.PEM', 'keys/a.pem'],
    ['café', 'CAFÉ'],
    ['[A-C]x', 'bX'],
  ])('covers with %j: %j', (pattern, path) => {
    expect(covers(pattern, path)).toBe(true)
  })

  test.each([
    ['secrets', 'secretsx'],
    ['secrets', 'my-secrets/a'],
    ['secrets/', 'secrets'],
    ['pkg/private', 'other/pkg/private'],
    ['hooks/**', 'src/hooks/a'],
  ])('does not cover with %j: %j', (pattern, path) => {
    expect(covers(pattern, path)).toBe(false)
  })

  test('names the first pattern that matches', () => {
    expect(coveringMatcher(['x', '*.pem', 'a.pem'])('a.pem')).toBe('*.pem')
    expect(coveringMatcher([])('a')).toBeNull()
  })
})

describe('a list of branches', () => {
  const guards = (pattern: string, branch: string) => branchMatcher([pattern])(branch) !== null

  test('matches whole names, with or without refs/heads/', () => {
    expect(guards('main', 'main')).toBe(true)
    expect(guards('main', 'refs/heads/main')).toBe(true)
    expect(guards('refs/heads/main', 'main')).toBe(true)
    expect(guards('release/*', 'release/1.0')).toBe(true)
    expect(guards('Main', 'main')).toBe(true)
    expect(guards('main', 'feature/main')).toBe(false)
    expect(guards('main', 'main/x')).toBe(false)
    expect(guards('release/*', 'release/1/2')).toBe(false)
  })
})

describe('a glob is faulty where it', () => {
  test.each([
    ['', 'empty'],
    ['/abs', 'absolute'],
    ['!not', '"!"'],
    ['../x', '".." part'],
    ['a/../b', '".." part'],
    ['./a', '"." part'],
    ['a//b', 'empty part'],
    ['/', 'absolute'],
    ['a/{/b,c}', 'empty part'],
    ['{,a}', 'empty part'],
    ['a\\b', 'backslash'],
    ['a\\', 'backslash'],
    ['[a', 'no "]"'],
    ['[a/b]', 'no "]"'],
    ['[z-a]', 'backwards'],
    ['[Z-a]', 'backwards'],
    ['{a,b', 'no "}"'],
    ['a}', 'no "{"'],
    ['{a}', 'two alternatives'],
    ['a\u200bb', 'U+200B'],
    ['a\nb', 'U+000A'],
    ['{a,b}'.repeat(9), `more than ${limits.globMaxAlternatives}`],
    ['x'.repeat(limits.globMaxCharacters + 1), 'characters, more than'],
  ])('is %j: %s', (pattern, reason) => {
    expect(globFault(pattern)).toContain(reason)
  })

  test('a faulty glob never becomes a matcher that matches nothing', () => {
    expect(() => coveringMatcher(['[z-a]'])).toThrow('BUG')
  })
})

const word = fc.constantFrom('a', 'b', 'ab', '.', 'x')
const patternPart = fc.oneof(
  { weight: 1, arbitrary: fc.constant('**') },
  {
    weight: 5,
    arbitrary: fc
      .array(fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '{a,b}', '{a,*b}', 'x'), {
        minLength: 1,
        maxLength: 4,
      })
      .map((parts) => parts.join('').replace(/\*+/g, () => '*')),
  },
)
const path = fc
  .array(
    fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('')),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join('/'))

describe('globs', () => {
  test('match as picomatch has it, but that `**` at the end is at least one part', () => {
    fc.assert(
      fc.property(fc.array(patternPart, { minLength: 1, maxLength: 4 }), path, (parts, candidate) => {
        const pattern = parts.join('/')
        const compiled = compileGlob(pattern, { anchors: true, covers: false })
        if (compiled.kind === 'fault' || checkPath(candidate) !== null) return
        const theirs = pattern.endsWith('**') ? `${pattern}/*` : pattern
        const expected = picomatch.isMatch(candidate, theirs, { dot: true, noextglob: true, nonegate: true })
        expect(matchesGlob(compiled.glob, candidate.split('/')), `${pattern} ${candidate}`).toBe(expected)
      }),
      { numRuns: 3000 },
    )
  })

  test('looked up among many are the first of them that match', () => {
    const pattern = fc.array(patternPart, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 6 }), fc.boolean(), path, (patterns, covers, candidate) => {
        const globs = patterns.flatMap((each) => {
          const compiled = compileGlob(each, { anchors: false, covers })
          return compiled.kind === 'glob' ? [compiled.glob] : []
        })
        const segments = candidate.split('/')
        const first = globs.findIndex((glob) => matchesGlob(glob, segments))
        expect(indexGlobs(globs)(segments), `${patterns.join()} ${candidate}`).toBe(
          first === -1 ? null : first,
        )
      }),
      { numRuns: 3000 },
    )
  })

  test('never throw, whatever the pattern', () => {
    const hostile = fc
      .array(fc.constantFrom(...'ab/*?[]{},!^-\\.'), { maxLength: 16 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string()), path, (pattern, candidate) => {
        if (globFault(pattern) === null)
          expect(typeof coveringMatcher([pattern])(candidate)).not.toBe('undefined')
      }),
      { numRuns: 3000 },
    )
  })

  test('take no longer on a path made to make a regular expression backtrack', () => {
    const name = 'a'.repeat(255)
    const deep = Array.from({ length: 15 }, () => name).join('/')
    const stars = `${'*a'.repeat(40)}*b`
    for (let run = 0; run < 50; run++) {
      expect(exact(stars, deep)).toBe(false)
      expect(exact(`**/${stars}/**/${stars}/**/${stars}`, deep)).toBe(false)
    }
  })
})

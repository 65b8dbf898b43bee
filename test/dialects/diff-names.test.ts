import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stripName, unquoteName } from '../../src/dialects/quoted-path.ts'
import { translateDiff } from '../../src/dialects/unified-diff.ts'
import { pureRuns } from '../helpers/runs.ts'
import { context, editsOf } from './translation.ts'

/** Quotes as git does with `core.quotePath` on: bytes in, a byte string out. */
function quoted(name: string): string {
  const short: Readonly<Record<string, string>> = {
    '"': '\\"',
    '\\': '\\\\',
    '\t': '\\t',
    '\n': '\\n',
    '\r': '\\r',
  }
  const escaped = [...name].map((character) => {
    const code = character.charCodeAt(0)
    if (short[character] !== undefined) return short[character]
    return code < 0x20 || code > 0x7e ? `\\${code.toString(8).padStart(3, '0')}` : character
  })
  return `"${escaped.join('')}"`
}

const byteName = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
})

describe('a quoted name', () => {
  test('is read back byte for byte, and its end is found', () => {
    fc.assert(
      fc.property(byteName, byteName, (name, rest) => {
        const text = quoted(name)
        expect(unquoteName(text + rest, 0)).toEqual({ name, end: text.length })
      }),
      { numRuns: pureRuns(2000) },
    )
  })

  test.each(['"', '"a', '"a\\"', '"\\', '"\\x41"', '"\\8"', '"\\40"', '"\\400"', '"\\"'])(
    '%s is none',
    (text) => {
      expect(unquoteName(text, 0)).toBeNull()
    },
  )

  test('knows all escapes of C', () => {
    expect(unquoteName('"\\a\\b\\f\\v\\101"', 0)).toMatchObject({ name: '\x07\b\f\vA' })
  })
})

test.each([
  ['a/b/c', 0, 'a/b/c'],
  ['a/b/c', 1, 'b/c'],
  ['a/b/c', 2, 'c'],
  ['a/b/c', 3, null],
  ['a/', 1, null],
  ['', 0, null],
  ['/a', 1, 'a'],
])('%j without its first %i parts is %j', (name, strip, rest) => {
  expect(stripName(name, strip)).toBe(rest)
})

describe('the names of a "diff --git" line without others', () => {
  const word = fc.stringMatching(/^[ab ]{1,4}$/)
  const name = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
  const isPath = (path: string) => path.split('/').every((part) => part.trim() === part)

  test('are told apart wherever the spaces are', () => {
    fc.assert(
      fc.property(
        name.filter(isPath),
        fc.constantFrom(['a/', 'b/', 1], ['', '', 0], ['x/y/', 'z/w/', 2]),
        (path, form) => {
          const [left, right, strip] = form as [string, string, number]
          const text = `diff --git ${left}${path} ${right}${path}\nold mode 100644\nnew mode 100755\n`
          const paths = editsOf(translateDiff({ op: 'diff', text, strip }, context)).map((edit) => edit.path)
          expect(paths).toEqual([path])
        },
      ),
      { numRuns: pureRuns(2000) },
    )
  })
})

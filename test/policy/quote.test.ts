import { expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { codePointName, firstUnseen, isWellFormed, quote } from '../../src/policy/quote.ts'

test.each([
  ['plain', '"plain"'],
  ['with "quotes" and \\', '"with \\"quotes\\" and \\\\"'],
  ['two\nlines\r\n\t', '"two\\nlines\\r\\n\\t"'],
  ['a\u202eb\u200bc\0', '"a\\u{202E}b\\u{200B}c\\u{0}"'],
  ['half \ud800', '"half \\u{D800}"'],
  ['日本 😀', '"日本 😀"'],
])('a quoted text shows what cannot be seen: %j', (text, quoted) => {
  expect(quote(text)).toBe(quoted)
})

test('a long text is cut, and shown to be', () => {
  expect(quote('x'.repeat(10_000))).toBe(`"${'x'.repeat(limits.quoteMaxCharacters)}…"`)
})

test('an unseen character is found and named', () => {
  expect(firstUnseen('visible')).toBeNull()
  expect(codePointName(firstUnseen('a\u{e0041}') ?? '')).toBe('U+E0041')
  expect(codePointName('\n')).toBe('U+000A')
})

test('half of a surrogate pair is not well-formed', () => {
  expect([isWellFormed('😀'), isWellFormed('\ud83d'), isWellFormed('\ude00\ud83d')]).toEqual([
    true,
    false,
    false,
  ])
})

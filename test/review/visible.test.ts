import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { visible, visibleParts } from '../../src/review/visible.ts'

const bytes = (...values: readonly number[]) => Uint8Array.from(values)

describe('visible', () => {
  test.each([
    ['an escape sequence', '\u001b[31mred', '\\u{1B}[31mred'],
    ['a C1 control', 'a\u009b2Jb', 'a\\u{9B}2Jb'],
    ['NUL, bell, backspace, DEL', '\0\u0007\b\u007f', '\\u{0}\\u{7}\\u{8}\\u{7F}'],
    ['a carriage return', 'safe\rEVIL', 'safe\\u{D}EVIL'],
    ['right-to-left override and isolates', '\u202eabc\u2066\u2069', '\\u{202E}abc\\u{2066}\\u{2069}'],
    ['zero width and joiners', 'a\u200bb\u200dc\u2060', 'a\\u{200B}b\\u{200D}c\\u{2060}'],
    ['a byte-order mark in the middle', 'a\ufeffb', 'a\\u{FEFF}b'],
    ['no-break and other wide spaces', 'a\u00a0b\u3000c\u202f', 'a\\u{A0}b\\u{3000}c\\u{202F}'],
    ['a soft hyphen', 'a\u00adb', 'a\\u{AD}b'],
    ['line and paragraph separators', 'a\u2028b\u2029c', 'a\\u{2028}b\\u{2029}c'],
    ['variation selectors and tags', 'a\ufe0f\u{e0041}', 'a\\u{FE0F}\\u{E0041}'],
    ['fillers that are drawn as nothing', '\u3164\u2800\uffa0', '\\u{3164}\\u{2800}\\u{FFA0}'],
    ['a Cyrillic letter in a Latin word', 'p\u0430ypal Привет', 'p\\u{430}ypal Привет'],
    ['a Greek question mark', 'f()\u037e', 'f()\\u{37E}'],
    ['a mark without a letter', ' \u0301a', ' \\u{301}a'],
    ['a pile of marks', `a${'\u0301'.repeat(6)}`, `a${'\u0301'.repeat(4)}\\u{301}\\u{301}`],
    ['half a surrogate pair', 'a\ud83d.', 'a\\u{D83D}.'],
  ])('marks %s', (_, text, expected) => {
    expect(visible(text)).toBe(expected)
  })

  test.each([
    'plain text, tab\tand\nlines',
    'äöü 漢字 Ελληνικά עברית',
    '🎉 → “quotes” – dashes',
    'e\u0301',
    'हिन्दी ไทย ‘naïve’ 日本語ABC αβγ',
    '',
  ])('leaves %j as it is', (text) => {
    expect(visible(text)).toBe(text)
    expect(visible(Buffer.from(text, 'utf8'))).toBe(text)
  })

  test.each([
    ['a stray continuation byte', bytes(0x61, 0x80, 0x62), 'a\\x{80}b'],
    ['Latin-1', bytes(0x67, 0xfc, 0x6e), 'g\\x{FC}n'],
    ['an overlong slash', bytes(0xc0, 0xaf), '\\x{C0}\\x{AF}'],
    ['an overlong escape', bytes(0xe0, 0x80, 0x9b), '\\x{E0}\\x{80}\\x{9B}'],
    ['an encoded surrogate', bytes(0xed, 0xa0, 0x80), '\\x{ED}\\x{A0}\\x{80}'],
    ['a code point beyond the last', bytes(0xf4, 0x90, 0x80, 0x80), '\\x{F4}\\x{90}\\x{80}\\x{80}'],
    ['a sequence cut short', bytes(0xe2, 0x82), '\\x{E2}\\x{82}'],
    ['a byte-order mark at the beginning', bytes(0xef, 0xbb, 0xbf, 0x61), '\\u{FEFF}a'],
  ])('shows the bytes of %s', (_, content, expected) => {
    expect(visible(content)).toBe(expected)
  })

  test('lets nothing through that a terminal would obey, whatever the bytes', () => {
    const obeyed = /[\0-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/
    const hostile = fc.constantFrom(
      '\u001b',
      '\u009b',
      '\r',
      '\u202e',
      '\u2067',
      '\ufeff',
      '\ud800',
      'a',
      'ä',
      '🎉',
    )
    const text = fc.string({
      unit: fc.oneof(hostile, fc.string({ unit: 'binary', maxLength: 1 })),
      maxLength: 32,
    })
    fc.assert(
      fc.property(fc.oneof(text, fc.uint8Array({ maxLength: 64 })), (content) => {
        expect(visible(content)).not.toMatch(obeyed)
        if (typeof content === 'string') expect(visible(Buffer.from(content, 'utf8'))).not.toMatch(obeyed)
      }),
      { numRuns: 10_000 },
    )
  })

  test('tells any two different texts apart, backslashes aside', () => {
    const text = fc.string({ unit: 'binary', maxLength: 8 }).filter((t) => !t.includes('\\'))
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(visible(a) === visible(b)).toBe(a === b)
      }),
      { numRuns: 10_000 },
    )
  })

  test('agrees on bytes and text, wherever the bytes are UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(visible(Buffer.from(text, 'utf8'))).toBe(visible(text))
      }),
      { numRuns: 2_000 },
    )
  })

  test('stays linear on a long line of marks', () => {
    expect(visible('\u202e'.repeat(300_000))).toHaveLength(300_000 * '\\u{202E}'.length)
  })
})

describe('visibleParts', () => {
  test('sets trailing blanks apart', () => {
    expect(visibleParts('a b \t')).toEqual([
      { kind: 'text', text: 'a b' },
      { kind: 'trailing-blank', text: ' \t' },
    ])
  })

  test('takes a line of blanks for trailing as a whole', () => {
    expect(visibleParts('  ')).toEqual([{ kind: 'trailing-blank', text: '  ' }])
  })

  test('joins to what visible gives', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (line) => {
        expect(
          visibleParts(line)
            .map(({ text }) => text)
            .join(''),
        ).toBe(visible(line))
      }),
      { numRuns: 5_000 },
    )
  })
})

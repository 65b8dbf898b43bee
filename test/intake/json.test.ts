import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeUtf8, parseJson } from '../../src/intake/json.ts'
import { pointerOf, stepsOf } from '../../src/intake/json-pointer.ts'

const parse = (text: string, maxDepth = 64) => parseJson(text, maxDepth)

function parsedValue(text: string): unknown {
  const parsed = parse(text)
  if (parsed.kind === 'refused') throw new Error(parsed.refusal.message)
  return parsed.value
}

function messageOf(text: string): string {
  const parsed = parse(text)
  return parsed.kind === 'refused' ? `${parsed.refusal.code}: ${parsed.refusal.message}` : 'taken'
}

describe('a JSON text is parsed', () => {
  test('to the same value as by the engine', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parsedValue(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 3000 },
    )
  })

  test('or refused, exactly where the engine does', () => {
    const token = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '"a"',
        '"b\\n"',
        '"\\u00e9"',
        '"\\x"',
        '"\\u12"',
        '\\',
        ' ',
        '\n',
        '\u00a0',
        '\ufeff',
      ],
      ...[
        '0',
        '1',
        '-1',
        '01',
        '1.',
        '.5',
        '1.5e3',
        '1e',
        '-',
        '+1',
        'true',
        'false',
        'null',
        'tru',
        'NaN',
        "'a'",
        '//',
        '\t',
        '\0',
      ],
    )
    const text = fc.array(token, { maxLength: 8 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, (candidate) => {
        const takenByEngine = (() => {
          try {
            JSON.parse(candidate)
            return true
          } catch (error) {
            if (error instanceof SyntaxError) return false
            throw error
          }
        })()
        const parsed = parse(candidate)
        const isStricter = parsed.kind === 'refused' && /stands twice|too large/.test(parsed.refusal.message)
        expect(parsed.kind === 'value', candidate).toBe(takenByEngine && !isStricter)
      }),
      { numRuns: 5000 },
    )
  })

  test('with objects that have no prototype to reach', () => {
    const value = parsedValue('{"__proto__":{"polluted":1},"constructor":2,"toString":3}') as Record<
      string,
      unknown
    >
    expect(Object.getPrototypeOf(value)).toBeNull()
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.getPrototypeOf(Object.values(value)[0])).toBeNull()
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('with half of a surrogate pair as it stands', () => {
    expect(parsedValue('"\\ud83d"')).toBe('\ud83d')
  })
})

describe('a fault is named with line, column, what was expected and what was found', () => {
  test.each([
    ['', 'invalid-json: JSON at line 1, column 1: expected a JSON value, found the end of the text'],
    ['  \n ', 'invalid-json: JSON at line 2, column 2: expected a JSON value, found the end of the text'],
    ['{"a":1,}', 'invalid-json: JSON at line 1, column 8: expected a key in double quotes, found "}"'],
    ['[1,]', 'invalid-json: JSON at line 1, column 4: expected a JSON value, found "]"'],
    ['[1 2]', 'invalid-json: JSON at line 1, column 4: expected "," or "]", found "2"'],
    ['{"a" 1}', 'invalid-json: JSON at line 1, column 6: expected ":" after the key, found "1"'],
    ['{"a":1', 'invalid-json: JSON at line 1, column 7: expected "," or "}", found the end of the text'],
    ['{a:1}', 'invalid-json: JSON at line 1, column 2: expected a key in double quotes, found "a"'],
    ["{'a':1}", 'invalid-json: JSON at line 1, column 2: expected a key in double quotes, found "\'"'],
    ['{}\n{}', 'invalid-json: JSON at line 2, column 1: expected the end of the text, found "{"'],
    [
      '"abc',
      'invalid-json: JSON at line 1, column 5: expected a closing double quote, found the end of the text',
    ],
    [
      '"a\nb"',
      'invalid-json: JSON at line 1, column 3: expected an escape such as \\n in place of a control character, found "\\n"',
    ],
    [
      '"\\q"',
      'invalid-json: JSON at line 1, column 3: expected one of the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found "q"',
    ],
    ['[1,\r\n  -]', 'invalid-json: JSON at line 2, column 4: expected a digit, found "]"'],
    ['1e999', 'invalid-json: JSON at line 1, column 1: the number is too large for a double'],
    ['😀', 'invalid-json: JSON at line 1, column 1: expected a JSON value, found "😀"'],
    ['["😀", x]', 'invalid-json: JSON at line 1, column 8: expected a JSON value, found "x"'],
    ['NaN', 'invalid-json: JSON at line 1, column 1: expected a JSON value, found "N"'],
    ['[\u202e]', 'invalid-json: JSON at line 1, column 2: expected a JSON value, found "\\u{202E}"'],
  ])('%j', (text, message) => {
    expect(messageOf(text)).toBe(message)
  })

  test('a key that an object holds twice is refused with both places', () => {
    const parsed = parse('{\n "a": {"b": 1, "c": [{}],\n  "\\u0062": 2}}')
    expect(parsed).toEqual({
      kind: 'refused',
      refusal: {
        code: 'invalid-json',
        message:
          'JSON at line 3, column 3: the key "b" stands twice in one object; it stands at line 2, column 8 already',
        data: { line: 3, column: 3, first: { line: 2, column: 8 } },
      },
    })
    expect(parsedValue('[{"a":1},{"a":2}]')).toEqual([{ a: 1 }, { a: 2 }])
    expect(messageOf('{"__proto__":1,"__proto__":2}')).toContain('stands twice')
  })

  test('nesting is taken up to the limit and refused as too large beyond it', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(parse(nested(64)).kind).toBe('value')
    expect(messageOf(nested(65))).toBe('too-large: JSON at line 1, column 65: nested deeper than 64 levels')
    expect(messageOf('{"a":'.repeat(1_000_000))).toContain('too-large')
    expect(parse('[[],[],[]]', 2).kind).toBe('value')
  })
})

/** Every way into a JSON value, with what stands there. */
function* leaves(
  value: unknown,
  way: readonly PropertyKey[] = [],
): Generator<[readonly PropertyKey[], unknown]> {
  yield [way, value]
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) yield* leaves(child, [...way, key])
}

describe('a position', () => {
  const offsetOf = (text: string, place: { readonly line: number; readonly column: number }) =>
    text
      .split('\n')
      .slice(0, place.line - 1)
      .join('\n').length +
    (place.line > 1 ? 1 : 0) +
    place.column -
    1

  test('is where the value begins, for every pointer into every text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (generated) => {
        const text = JSON.stringify(generated, null, 1)
        const parsed = parse(text)
        if (parsed.kind === 'refused') throw new Error(parsed.refusal.message)
        for (const [way, value] of leaves(parsed.value)) {
          const rest = text.slice(offsetOf(text, parsed.positionOf(pointerOf(way))))
          const start =
            typeof value === 'object' && value !== null
              ? Array.isArray(value)
                ? '['
                : '{'
              : JSON.stringify(value)
          expect(rest.startsWith(start), `${pointerOf(way)} in ${text}`).toBe(true)
          const last = way.at(-1)
          const isMember = typeof last === 'string' && !/^\d+$/.test(last)
          const key = text.slice(offsetOf(text, parsed.keyPositionOf(pointerOf(way))))
          if (isMember)
            expect(key.startsWith(JSON.stringify(last)), `${pointerOf(way)} in ${text}`).toBe(true)
        }
      }),
      { numRuns: 1000 },
    )
  })

  test('of a pointer that leads to nothing is that of the innermost value on its way', () => {
    const parsed = parse('{\n  "a": [10, {"b": null}]\n}')
    if (parsed.kind === 'refused') throw new Error(parsed.refusal.message)
    expect(parsed.positionOf('')).toEqual({ line: 1, column: 1 })
    expect(parsed.positionOf('/a/1/b')).toEqual({ line: 2, column: 19 })
    expect(parsed.positionOf('/a/1/zzz/y')).toEqual({ line: 2, column: 13 })
    expect(parsed.positionOf('/a/7')).toEqual({ line: 2, column: 8 })
    expect(parsed.positionOf('/a/01')).toEqual({ line: 2, column: 8 })
    expect(parsed.keyPositionOf('/a/1/b')).toEqual({ line: 2, column: 14 })
  })

  test('is found in a long text, far from its beginning', () => {
    const text = `[\n${'[1,\n"two"],\n'.repeat(50_000)}{"last":\n 3}]`
    const parsed = parse(text)
    if (parsed.kind === 'refused') throw new Error(parsed.refusal.message)
    expect(parsed.positionOf('/50000/last')).toEqual({ line: 100_003, column: 2 })
    expect(parsed.positionOf('/12345/1')).toEqual({ line: 24_693, column: 1 })
    expect(parsed.positionOf('/0')).toEqual({ line: 2, column: 1 })
  })
})

test('a pointer reads back as it was written', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (way) => {
      expect(stepsOf(pointerOf(way))).toEqual(way)
    }),
  )
  expect(pointerOf(['edits', 0, 'a/b~c'])).toBe('/edits/0/a~1b~0c')
})

describe('UTF-8', () => {
  test('is decoded, and one byte-order mark dropped', () => {
    expect(decodeUtf8(new TextEncoder().encode('\ufeff{"é":"😀"}'))).toBe('{"é":"😀"}')
    expect(decodeUtf8(new TextEncoder().encode('\ufeff\ufeffx'))).toBe('\ufeffx')
    expect(decodeUtf8(new Uint8Array())).toBe('')
  })

  const bytes = (...parts: (string | number | number[])[]) =>
    Uint8Array.from(
      parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : part)),
    )

  test.each([
    ['Latin-1', bytes('caf', 0xe9, '"'), 3],
    ['a lone continuation', bytes('é', 0x80), 2],
    ['an overlong form', bytes('a', [0xc0, 0xaf]), 1],
    ['a surrogate', bytes('ab', [0xed, 0xa0, 0x80]), 2],
    ['a character cut off', bytes('abc', [0xf0, 0x9f, 0x98]), 3],
    ['a character broken off by another', bytes('abc', [0xf0, 0x9f], 'd'), 3],
    ['a fault after the first piece', bytes('é'.repeat(70_000), 0xff, 'x'), 140_000],
    [
      'a sound character across the edge of a piece, and a fault later',
      bytes('a'.repeat(65_535), 'é'.repeat(10), 0xff),
      65_555,
    ],
    ['a fault across the edge of a piece', bytes('a'.repeat(65_535), [0xe6, 0x97], 'x'), 65_535],
  ])('with %s is refused with the offset', (_, text, offset) => {
    expect(decodeUtf8(text)).toMatchObject({ code: 'invalid-json', data: { offset } })
  })

  test('refused where it is UTF-16 says so', () => {
    expect(decodeUtf8(bytes([0xff, 0xfe], 'a', 0))).toMatchObject({ hint: expect.stringContaining('UTF-16') })
  })

  test('is taken exactly where the platform takes it, with the offset of the first fault', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 8 }), fc.constantFrom('', 'é', '😀'), (tail, head) => {
        const all = bytes(head, [...tail])
        const decoded = decodeUtf8(all)
        const lenient = new TextDecoder('utf-8', { ignoreBOM: true }).decode(all)
        const isValid = Buffer.from(lenient).equals(Buffer.from(all))
        expect(typeof decoded === 'string').toBe(isValid)
        if (typeof decoded === 'string') return
        const offset = Number(decoded.data['offset'])
        expect(typeof decodeUtf8(all.subarray(0, offset))).toBe('string')
      }),
      { numRuns: 3000 },
    )
  })
})

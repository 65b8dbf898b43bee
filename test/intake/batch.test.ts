import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseBatch } from '../../src/intake/batch.ts'
import { limits } from '../../src/model/limits.ts'

const encode = (value: unknown) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const read = (value: unknown) => parseBatch(encode(value))
const withEdits = (...edits: unknown[]) => ({ version: 1, title: 'T', edits })
const deletion = { op: 'delete', path: 'a' }
const blob = 'a'.repeat(40)

function batchOf(value: unknown) {
  const parsed = read(value)
  if (parsed.kind === 'refused') throw new Error(parsed.refusal.message)
  return parsed.batch
}

function refusalOf(value: unknown) {
  const parsed = read(value)
  if (parsed.kind === 'batch') throw new Error('the batch was taken')
  return parsed.refusal
}

const faultsOf = (value: unknown) =>
  refusalOf(value).data['faults'] as readonly {
    pointer: string
    line: number
    column: number
    message: string
  }[]

describe('a batch is taken', () => {
  test('with only what it needs, and its defaults filled in', () => {
    expect(batchOf(withEdits(deletion))).toEqual({
      version: 1,
      title: 'T',
      reads: [],
      dialect: 'auto',
      items: [deletion],
    })
  })

  test('with everything that DESIGN.md section 4 shows', () => {
    const edits = [
      { op: 'replace', path: 'a.ts', old: 'x', new: '', all: false },
      { op: 'lines', path: 'a.ts', from: 11, to: 13, content: 'c', expected: 'e', blob },
      { op: 'lines', path: 'a.ts', from: 1, content: null },
      { op: 'insert', path: 'a.ts', after: 0, content: 'c', blob: null },
      { op: 'append', path: 'a.ts', content: 'c' },
      { op: 'write', path: 'b.ts', content: 'aGk=', mode: 'create', encoding: 'base64', executable: false },
      { op: 'write', path: 'b.ts', content: '', mode: 'overwrite', encoding: 'utf8' },
      { op: 'delete', path: 'c.ts' },
      { op: 'move', path: 'd.ts', to: 'e.ts' },
      { op: 'chmod', path: 'run.sh', executable: true },
      { op: 'patch', text: '*** Begin Patch\n' },
      { op: 'diff', text: '--- a/x\n', strip: 1, reverse: false, encoding: 'utf8' },
      { op: 'blocks', text: 'path\n<<<<<<< SEARCH\n', path: 'x' },
      { tool: 'edit_file', input: { path: 'greet.go', old_string: 'a', nested: [{ any: null }] } },
    ]
    const head = {
      version: 1,
      title: 'Use the shared clock',
      body: 'longer\n\ttext\r\n',
      agent: { name: 'my-agent', model: 'x-1', session: 's-42' },
      base: 'HEAD~1^{commit}',
      onto: 'main',
      key: 'k',
      order: 'original',
      reads: [
        { path: 'src/clock.ts', blob: 'b'.repeat(64) },
        { path: 'absent.ts', blob: null },
      ],
      dialect: 'claude-code',
    }
    expect(batchOf({ ...head, edits })).toEqual({ ...head, items: edits })
  })

  test('with a byte-order mark before it', () => {
    expect(parseBatch(encode(`\ufeff${JSON.stringify(withEdits(deletion))}`)).kind).toBe('batch')
  })

  test('with blanks around its title taken away', () => {
    expect(batchOf({ ...withEdits(deletion), title: ' \tT\r\n' }).title).toBe('T')
  })

  test('with every case of the conformance fixtures', () => {
    const folder = new URL('../fixtures/conformance/', import.meta.url)
    const cases = readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => readFileSync(new URL(name, folder), 'utf8').trimEnd().split('\n'))
      .map((line) => JSON.parse(line) as { id: string; batch?: unknown })
      .filter(({ batch }) => batch !== undefined)
    expect(cases.length).toBeGreaterThan(200)
    expect(cases.filter(({ batch }) => read(batch).kind !== 'batch').map(({ id }) => id)).toEqual([])
  })

  test('a call of a tool that takes one text, with that text as its input', () => {
    const batch = batchOf('{"version":1,"title":"T","edits":[{"tool":"apply_patch","input":"*** Begin"}]}')
    expect(batch.items).toEqual([{ tool: 'apply_patch', input: { input: '*** Begin' } }])
  })

  test('a tool call keeps its input as it came, keys like __proto__ included', () => {
    const batch = batchOf(
      '{"version":1,"title":"T","edits":[{"tool":"x","input":{"__proto__":{"a":1},"b":[1.5]}}]}',
    )
    const [item] = batch.items
    if (item === undefined || !('tool' in item)) throw new Error('not a tool call')
    expect(Object.keys(item.input)).toEqual(['__proto__', 'b'])
    expect(Object.getPrototypeOf(item.input)).toBeNull()
  })
})

describe('a fault of the head is named with its pointer', () => {
  test.each([
    [{ version: 2 }, '/version', 'expected the number 1, found number 2'],
    [{ version: '1' }, '/version', 'expected the number 1, found text "1"'],
    [
      { title: undefined },
      '/title',
      '"title" is missing; expected one line of 1 to 200 characters without control characters',
    ],
    [{ title: ' ' }, '/title', 'found text " "'],
    [{ title: 'two\nlines' }, '/title', 'found text "two\\nlines"'],
    [{ title: 'bell\u0007' }, '/title', 'without control characters'],
    [{ title: 'x'.repeat(201) }, '/title', 'one line of 1 to 200 characters'],
    [{ title: 7 }, '/title', 'found number 7'],
    [{ body: 'nul\0' }, '/body', 'without control characters'],
    [{ body: 'esc\u001b[2J' }, '/body', 'without control characters'],
    [{ body: 'é'.repeat(40_000) }, '/body', 'text of at most 65536 bytes'],
    [{ agent: 'me' }, '/agent', 'expected an object with a "name", found text "me"'],
    [{ agent: {} }, '/agent/name', '"name" is missing'],
    [{ agent: { name: 'a', session: 'x\ny' } }, '/agent/session', 'one line'],
    [
      { agent: { name: 'a', modle: 'x' } },
      '/agent/modle',
      'unknown key "modle"; the nearest known is "model"',
    ],
    [{ base: '' }, '/base', 'one line'],
    [{ base: null }, '/base', 'found null'],
    [{ onto: ['main'] }, '/onto', 'found a list of 1'],
    [{ key: true }, '/key', 'found true'],
    [{ order: 'orginal' }, '/order', 'expected one of "original", "sequential", found text "orginal"'],
    [{ dialect: 'vim' }, '/dialect', '"mcp-filesystem"'],
    [{ reads: {} }, '/reads', 'expected a list, found an object'],
    [{ reads: [{ path: 'a' }] }, '/reads/0/blob', '"blob" is missing'],
    [
      { reads: [{ path: 'a', blob: blob.toUpperCase() }] },
      '/reads/0/blob',
      'lower-case hexadecimal digits, or null',
    ],
    [
      { reads: [{ path: 'a', blob, lines: 1 }] },
      '/reads/0/lines',
      'unknown key "lines"; known here: path, blob',
    ],
    [{ titel: 'x' }, '/titel', 'unknown key "titel"; the nearest known is "title"'],
    [{ files: [] }, '/files', 'unknown key "files"; known here: version, title'],
    [{ edits: undefined }, '/edits', '"edits" is missing'],
    [{ edits: {} }, '/edits', 'expected a list of edits, found an object'],
  ])('%j', (change, pointer, message) => {
    const value = { ...withEdits(deletion), ...change }
    expect(faultsOf(value)).toEqual([
      expect.objectContaining({ pointer, message: expect.stringContaining(message) }),
    ])
    expect(refusalOf(value).code).toBe('invalid-batch')
    expect(refusalOf(value).message).toContain(`batch at ${pointer} (line `)
  })

  test.each([['[]'], ['null'], ['"x"'], ['1']])('the whole value is no object: %s', (text) => {
    expect(refusalOf(text)).toMatchObject({
      code: 'invalid-batch',
      message: expect.stringContaining('expected an object'),
    })
  })
})

describe('a fault of an edit is named with its pointer', () => {
  test.each([
    [
      { op: 'lines', path: 'a', from: '1', content: 'x' },
      '/from',
      'expected a whole number of at least 1, at most 9007199254740991, found text "1"',
    ],
    [{ op: 'lines', path: 'a', from: 0, content: 'x' }, '/from', 'found number 0'],
    [{ op: 'lines', path: 'a', from: 1.5, content: 'x' }, '/from', 'found number 1.5'],
    [{ op: 'lines', path: 'a', from: 2 ** 53, content: 'x' }, '/from', 'found number 9007199254740992'],
    [
      { op: 'lines', path: 'a', from: 5, to: 4, content: 'x' },
      '/to',
      'expected a line not before "from" (5), found 4',
    ],
    [{ op: 'lines', path: 'a', from: 5 }, '/content', '"content" is missing; expected text or null'],
    [{ op: 'lines', path: 'a', from: 5, content: 1 }, '/content', 'expected text or null, found number 1'],
    [{ op: 'insert', path: 'a', after: -1, content: 'x' }, '/after', 'at least 0'],
    [{ op: 'insert', path: 'a', after: null, content: 'x' }, '/after', 'found null'],
    [{ op: 'replace', path: 'a', old: '', new: 'x' }, '/old', 'expected text that is not empty'],
    [{ op: 'replace', path: 'a', old: 'x' }, '/new', '"new" is missing'],
    [
      { op: 'replace', path: 'a', old: 'x', new: 'y', all: 'yes' },
      '/all',
      'expected true or false, found text "yes"',
    ],
    [
      { op: 'replace', path: 'a', old: 'x', new: 'y', old_string: 'z' },
      '/old_string',
      'the nearest known is "old"',
    ],
    [
      { op: 'replace', path: 'a', old: 'x', new: 'y', replaceAll: true },
      '/replaceAll',
      'the nearest known is "all"',
    ],
    [{ op: 'delete', path: 'a', content: 'x' }, '/content', 'known here: op, path, blob'],
    [{ op: 'delete', path: '' }, '/path', 'expected a path'],
    [{ op: 'delete', path: 'a', blob: 'abc' }, '/blob', 'lower-case hexadecimal digits, or null'],
    [{ op: 'move', path: 'a' }, '/to', '"to" is missing; expected a path'],
    [{ op: 'chmod', path: 'a', executable: 1 }, '/executable', 'found number 1'],
    [
      { op: 'write', path: 'a', content: 'x', mode: 'append' },
      '/mode',
      'expected one of "create", "overwrite"',
    ],
    [
      { op: 'write', path: 'a', content: 'a b=', encoding: 'base64' },
      '/content',
      'expected base64, but the character at offset 1',
    ],
    [
      { op: 'write', path: 'a', content: 'aGk', encoding: 'base64' },
      '/content',
      'its length, 3, is not a multiple of 4',
    ],
    [
      { op: 'write', path: 'a', content: 'aGl=', encoding: 'base64' },
      '/content',
      'bits set that belong to no byte',
    ],
    [{ op: 'write', path: 'a', content: 'aG\nk=', encoding: 'base64' }, '/content', 'offset 2'],
    [{ op: 'write', path: 'a', content: '_-8=', encoding: 'base64' }, '/content', 'offset 0'],
    [{ op: 'write', path: 'a', content: '====', encoding: 'base64' }, '/content', 'offset 0'],
    [{ op: 'diff', text: 'x', encoding: 'base64' }, '/text', 'expected base64'],
    [{ op: 'diff', text: 'x', strip: -1 }, '/strip', 'at least 0, at most 128'],
    [{ op: 'diff', text: 'x', path: 'a' }, '/path', 'unknown key "path"'],
    [{ op: 'patch', text: 7 }, '/text', 'expected text that is not empty, found number 7'],
    [{ op: 'repalce', path: 'a' }, '/op', 'unknown operation "repalce"; the nearest is "replace"'],
    [{ op: 'frobnicate' }, '/op', 'unknown operation "frobnicate"; known: replace, lines, insert'],
    [{ op: 5 }, '/op', 'expected the name of an operation, found number 5'],
    [{ op: '__proto__' }, '/op', 'unknown operation "__proto__"'],
    [{ op: 'toString' }, '/op', 'unknown operation "toString"'],
    [{ op: 'delete', path: 'a', tool: 'x' }, '', 'not both'],
    [{ path: 'a' }, '', 'an edit needs "op" or "tool"'],
    [{ tol: 'x', input: {} }, '', 'an edit needs "op" or "tool", found "tol"'],
    [{ name: 'Edit', input: {} }, '', 'found "name"; write the call as { "tool": "Edit", "input": { … } }'],
    [{ type: 'function_call', name: 'x', arguments: '{}' }, '', 'write the call as { "tool": "x"'],
    ['delete', '', 'expected an object with "op" or "tool", found text "delete"'],
    [null, '', 'found null'],
    [[], '', 'found a list of 0'],
    [{ tool: 'x' }, '/input', '"input" is missing; expected an object'],
    [{ tool: 'x', input: 'y' }, '/input', 'expected an object, found text "y"'],
    [{ tool: '', input: {} }, '/tool', 'one line of 1 to 512 characters'],
    [{ tool: 'x', input: {}, imput: {} }, '/imput', 'the nearest known is "input"'],
  ])('%j', (edit, pointer, message) => {
    const value = withEdits(deletion, edit)
    const faults = faultsOf(value)
    expect(faults).toEqual([
      expect.objectContaining({ pointer: `/edits/1${pointer}`, message: expect.stringContaining(message) }),
    ])
    expect(refusalOf(value).code).toBe('invalid-batch')
  })

  test('a text with half of a surrogate pair is no UTF-8, wherever it stands', () => {
    const texts = [
      '{"op":"append","path":"a","content":"x\\ud800"}',
      '{"op":"append","path":"a\\uDfff","content":"x"}',
      '{"tool":"x","input":{"deep":[{"er":"\\ud83d"}]}}',
      '{"tool":"x","input":{"\\ud83d":1}}',
    ]
    for (const text of texts) {
      const refusal = refusalOf(`{"version":1,"title":"T","edits":[${text}]}`)
      expect(refusal.code, text).toBe('not-utf8')
      expect(refusal.message, text).toContain('half of a surrogate pair')
    }
    expect(
      read('{"version":1,"title":"T","edits":[{"op":"append","path":"a","content":"\\ud83d\\ude00"}]}').kind,
    ).toBe('batch')
  })
})

describe('a refusal', () => {
  test('lists every fault in the order of the text, the first in its message', () => {
    const text = `{
  "version": 1,
  "edits": [
    { "op": "insert", "after": -1, "path": 3, "content": "x" },
    { "op": "dlete", "path": "a" }
  ],
  "titel": "x"
}`
    expect(faultsOf(text).map(({ pointer, line, column }) => [pointer, line, column])).toEqual([
      ['/title', 1, 1],
      ['/edits/0/after', 4, 32],
      ['/edits/0/path', 4, 44],
      ['/edits/1/op', 5, 13],
      ['/titel', 7, 3],
    ])
    expect(refusalOf(text).message).toMatch(
      /^batch at \/title \(line 1, column 1\): "title" is missing.* \(and 4 more\)$/,
    )
  })

  test('shows a bounded number of faults and counts the rest', () => {
    const value = withEdits(...Array.from({ length: 300 }, () => ({ op: 'nope' })))
    expect(faultsOf(value)).toHaveLength(limits.failuresShown)
    expect(refusalOf(value).data['more']).toBe(300 - limits.failuresShown)
    const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key${index}`, 1]))
    expect(refusalOf({ ...withEdits(deletion), ...keys }).message).toContain('unknown key "key0"')
  })

  test('of a batch without edits is empty-batch', () => {
    expect(refusalOf(withEdits()).code).toBe('empty-batch')
    expect(refusalOf({ ...withEdits(), titel: 1 }).data['faults']).toHaveLength(2)
  })

  test('of a path among the reads has that path’s own code', () => {
    const reads = (path: string) => ({ ...withEdits(deletion), reads: [{ path, blob }] })
    expect(refusalOf(reads('../x'))).toMatchObject({
      code: 'outside-repository',
      message: expect.stringContaining('/reads/0/path'),
    })
    expect(refusalOf(reads('.git/config')).code).toBe('path-invalid')
  })

  test('of bytes that are not UTF-8 or not JSON is invalid-json', () => {
    expect(parseBatch(Uint8Array.of(0x7b, 0xff))).toMatchObject({
      refusal: { code: 'invalid-json', data: { offset: 1 } },
    })
    expect(refusalOf('{"version":1,}')).toMatchObject({ code: 'invalid-json', data: { line: 1, column: 14 } })
    expect(refusalOf('{"version":1,"version":1}').code).toBe('invalid-json')
  })

  test('of too many bytes, edits or levels is too-large', () => {
    const blanks = new Uint8Array(limits.batchMaxBytes + 1).fill(0x20)
    expect(parseBatch(blanks)).toMatchObject({ refusal: { code: 'too-large' } })
    const many = `{"version":1,"title":"T","edits":[${'1,'.repeat(limits.batchMaxEdits)}1]}`
    expect(refusalOf(many).code).toBe('too-large')
    const deep = `{"version":1,"title":"T","edits":[{"tool":"x","input":{"a":${'['.repeat(80)}${']'.repeat(80)}}}]}`
    expect(refusalOf(deep).code).toBe('too-large')
  })

  test('holds no invisible character of the request', () => {
    const refusal = refusalOf(withEdits({ op: '\u202ex\0', path: 'a' }))
    expect(refusal.message).toContain('"\\u{202E}x\\u{0}"')
  })
})

test('no JSON value makes the parser throw', () => {
  const key = fc.constantFrom('op', 'tool', 'path', 'from', 'content', 'input', 'blob', '__proto__', 'x')
  const value = fc.oneof(
    fc.constantFrom<unknown>('replace', 'lines', 'write', 1, 0, null, true, 'a', {}, [], '\ud800'),
    fc.jsonValue(),
  )
  const edit = fc.dictionary(key, value, { maxKeys: 5 })
  fc.assert(
    fc.property(
      fc.array(edit, { maxLength: 4 }),
      fc.dictionary(fc.constantFrom('version', 'title', 'edits', 'reads'), value),
      (edits, head) => {
        const parsed = read({ ...withEdits(...edits), ...head })
        if (parsed.kind === 'refused') expect(parsed.refusal.message.length).toBeLessThan(2000)
        else expect(parsed.batch.items.length).toBeGreaterThan(0)
      },
    ),
    { numRuns: 1000 },
  )
})

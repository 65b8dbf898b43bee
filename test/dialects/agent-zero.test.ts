import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agentZero, contentMaxBytes } from '../../src/dialects/agent-zero.ts'
import type { Translation } from '../../src/model/dialect.ts'
import { pureRuns } from '../helpers/runs.ts'
import { fixture, root } from './in-memory.ts'

const context = { item: 1, step: 4, root }
type Input = Readonly<Record<string, unknown>>

const translate = (input: Input, tool = 'text_editor_remote'): Translation =>
  agentZero.translate({ tool, input }, context)
const patch = (input: Input) => translate({ action: 'patch', path: 'f.txt', ...input })
const firstOf = (translation: Translation) =>
  translation.kind === 'edits' ? translation.edits[0] : translation.failures[0]

describe('the call', () => {
  test.each([
    [{}, 'action is required (read, write, or patch)'],
    [{ action: null }, 'action is required (read, write, or patch)'],
    [{ action: 'delete' }, "Unknown action: 'delete'. Use read, write, or patch."],
    [{ action: ' De-Lete ' }, "Unknown action: 'de_lete'. Use read, write, or patch."],
    [{ action: 'patch' }, 'path is required'],
    [{ action: 'read', path: '  ' }, 'path is required'],
    [{ action: 'write', path: 'a' }, 'content is required for write'],
    [{ action: 'write', path: 'a', content: null }, 'content is required for write'],
  ])('%j is told what it lacks', (input, message) => {
    expect(firstOf(translate(input))).toMatchObject({ message, item: 1 })
  })

  test.each([
    ['text_editor_remote', { action: ' WRITE ' }],
    ['text_editor', { action: 'write' }],
    ['text_editor_remote', { op: 'write' }],
    ['text_editor:write', {}],
    ['text_editor_remote:write', { action: 'read' }],
  ])('%s with %j writes', (tool, input) => {
    expect(firstOf(translate({ ...input, path: 'a', content: 'x' }, tool))).toMatchObject({
      op: 'write',
      path: 'a',
    })
  })

  test.each([
    ['a/b.txt', 'a/b.txt'],
    ['  a.txt ', 'a.txt'],
    ['.\\a\\b.txt', 'a/b.txt'],
    ['./a/./b//c.txt', 'a/b/c.txt'],
    ['a/../b.txt', 'b.txt'],
    [`${root}/a.txt`, 'a.txt'],
    [`${root}/a/../b.txt`, 'b.txt'],
  ])('the path %j is %s', (path, mapped) => {
    expect(firstOf(translate({ action: 'write', path, content: 'x' }))).toHaveProperty('path', mapped)
  })

  test.each(['../a', 'a/../../b', '/etc/passwd', `${root}/../b`, '~/a', '~other/a', 'C:\\a', '\\\\host\\a'])(
    'the path %j leads outside',
    (path) => {
      expect(firstOf(translate({ action: 'write', path, content: 'x' }))).toMatchObject({
        code: 'outside-repository',
        data: { native: `Path is outside the allowed local workspace: ${path}` },
      })
    },
  )

  test.each([
    [{ path: 'a' }, { from: null, to: null }],
    [
      { path: 'a', line_from: 2, line_to: 3 },
      { from: 2, to: 3 },
    ],
    [
      { path: 'a', line_from: '2' },
      { from: 2, to: null },
    ],
    [
      { path: 'a', line_from: 0, line_to: 0 },
      { from: null, to: null },
    ],
  ])('a read of %j', (input, lines) => {
    const read = agentZero.readCall?.(
      { tool: 'text_editor_remote', input: { action: 'read', ...input } },
      context,
    )
    expect(read).toEqual({ kind: 'read', path: 'a', ...lines })
  })

  test.each([
    [{ line_from: -1 }, 'line_from must be >= 1'],
    [{ line_from: 4, line_to: 2 }, 'line_to must be >= line_from'],
    [{ line_to: -1 }, 'line_to must be >= line_from'],
    [{ line_from: 'two' }, "invalid literal for int() with base 10: 'two'"],
  ])('a read of %j is refused', (lines, message) => {
    const input = { action: 'read', path: 'a', ...lines }
    expect(agentZero.readCall?.({ tool: 'text_editor_remote', input }, context)).toMatchObject({ message })
  })

  test('a write has no limit but that of the remote tool, in bytes', () => {
    const write = { action: 'write', path: 'a', content: 'é'.repeat(contentMaxBytes / 2 + 1) }
    const native =
      'text_editor_remote limits write and patch content to 262144 bytes; received 262146. Use the authenticated HTTP bulk transfer path instead.'
    expect(firstOf(translate(write))).toMatchObject({ code: 'too-large', data: { native } })
    expect(translate(write, 'text_editor').kind).toBe('edits')
    const halves = [1, 2].map((from) => ({ from, to: from, content: 'a'.repeat(contentMaxBytes / 2) }))
    expect(patch({ edits: halves }).kind).toBe('edits')
    expect(firstOf(patch({ edits: [...halves, { from: 3, to: 3, content: 'a' }] }))).toMatchObject({
      code: 'too-large',
    })
  })

  test.each([[['a']], [{}], [1.5], [true]])('content of %j is refused', (content) => {
    expect(firstOf(translate({ action: 'write', path: 'a', content }))).toMatchObject({
      code: 'invalid-batch',
    })
  })
})

interface RequestRow {
  readonly args?: Input
  readonly tool_args?: Input
  readonly error?: string
  readonly message?: string
  readonly mode?: string
}

describe('the forms of a patch', () => {
  const rows = (JSON.parse(fixture('agent-zero.json')) as { readonly patchRequest: readonly RequestRow[] })
    .patchRequest
  const refusals = rows.filter(({ error, args }) => error !== undefined && args !== undefined)
  const forms = rows.filter(({ mode }) => mode !== undefined)

  test.each(refusals)('$args is refused as Agent Zero does', ({ args, error }) => {
    expect(firstOf(patch(args ?? {}))).toMatchObject({ message: error, data: { native: error } })
  })

  test.each(forms)('$args is a form', ({ args }) => {
    // Two of these are refused later: an edits list in a text, and `from` alone.
    const translation = patch(args ?? {})
    const later = translation.kind === 'refused' ? translation.failures[0]?.message : ''
    expect(later).not.toMatch(/required|exactly one/)
  })

  test('a list of edits in a text is refused', () => {
    expect(firstOf(patch({ edits: '[{}]' }))).toMatchObject({ message: 'edits must be a non-empty list' })
  })

  test.each([
    [{ old_text: 1 }, 'invalid-batch'],
    [{ old_text: 'a', new_text: 1 }, 'invalid-batch'],
    [{ old_text: 'a', new_text: 'a' }, 'no-change'],
    [{ old_text: 'a', new_text: '\ud800' }, 'not-utf8'],
    [{ patch_text: 7 }, 'invalid-batch'],
    [{ patch_text: '-a\n+\udc00' }, 'not-utf8'],
    [{ edits: [{ from: 1, to: 1, content: '\ud800' }] }, 'not-utf8'],
  ])('%j is refused', (input, code) => {
    expect(firstOf(patch(input))).toMatchObject({ code })
  })

  test('an exact replace may name a part of a line', () => {
    expect(firstOf(patch({ old_text: '30', new_text: 'x\r\ny' }))).toEqual({
      op: 'replace',
      item: 1,
      step: 4,
      path: 'f.txt',
      old: '30',
      new: 'x\ny',
      all: false,
      maxTier: 'trailing-space',
    })
  })
})

describe('numbered edits', () => {
  const lines = { op: 'lines', item: 1, step: 4, path: 'f.txt', expectedOrder: 'in-order' }
  const numbered = (edit: unknown) => firstOf(patch({ edits: [edit] }))

  test.each([
    ['a range', { from: 2, to: 4, content: 'X\n' }, { from: 2, to: 4, content: 'X\n' }],
    ['a deletion', { from: 2, to: 4 }, { from: 2, to: 4, content: null }],
    ['a deletion by empty content', { from: 2, to: 2, content: '' }, { from: 2, to: 2, content: null }],
    ['a deletion of one line by null', { from: 2, content: null }, { from: 2, to: null, content: null }],
    ['numbers in text', { from: '2', to: ' 3 ', content: 'X' }, { from: 2, to: 3, content: 'X' }],
    ['fractions are cut off', { from: 2.9, to: 3.2, content: 'X' }, { from: 2, to: 3, content: 'X' }],
    ['true is 1', { from: true, to: true, content: 'X' }, { from: 1, to: 1, content: 'X' }],
    ['to of 0 is from', { from: 3, to: 0, content: 'X' }, { from: 3, to: 3, content: 'X' }],
    ['to of "" is from', { from: 3, to: '', content: 'X' }, { from: 3, to: 3, content: 'X' }],
    ['a number past all lines', { from: 1e300, content: 'X' }, { from: Number.MAX_SAFE_INTEGER, to: null }],
    ['a whole number as content', { from: 2, to: 2, content: 5 }, { from: 2, to: 2, content: '5' }],
    ['an insert at the top', { from: 1, content: 'X' }, { from: 1, to: null, content: 'X' }],
    ['an insert', { from: 3, to: null, content: 'X' }, { from: 3, to: null, content: 'X' }],
  ])('%s', (_, edit, expected) => {
    expect(numbered(edit)).toMatchObject({ ...lines, ...expected })
  })

  test.each([
    ['from of 0', { from: 0, to: 1, content: 'X' }, 'out-of-range', "patch 'from' must be >= 1"],
    ['from below 0', { from: -2, to: 1, content: 'X' }, 'out-of-range', "patch 'from' must be >= 1"],
    ['to below from', { from: 3, to: 2, content: 'X' }, 'out-of-range', "patch 'to' must be >= 'from'"],
    ['to of -1', { from: 3, to: -1, content: 'X' }, 'out-of-range', "patch 'to' must be >= 'from'"],
    [
      'from in words',
      { from: 'two', content: 'X' },
      'invalid-batch',
      "invalid literal for int() with base 10: 'two'",
    ],
    ['a text as edit', 'x', 'invalid-batch', "'str' object has no attribute 'get'"],
  ])('%s is refused as Agent Zero does', (_, edit, code, native) => {
    expect(numbered(edit)).toMatchObject({ code, data: { native } })
  })

  test.each([
    ['no from', { to: 2, content: 'X' }, 'invalid-batch'],
    ['from alone', { from: 2 }, 'invalid-batch'],
    ['an insert of nothing', { from: 2, content: '' }, 'no-change'],
    ['a list as content', { from: 2, to: 2, content: ['X'] }, 'invalid-batch'],
    ['null as edit', null, 'invalid-batch'],
  ])('%s is refused', (_, edit, code) => {
    expect(numbered(edit)).toMatchObject({ code })
  })

  test('all faulty edits of a list are named', () => {
    const refused = patch({ edits: [{ from: 0 }, { from: 1, to: 1 }, { from: 'x', to: 1 }] })
    const messages = refused.kind === 'refused' ? refused.failures.map(({ message }) => message) : []
    expect(messages).toEqual([expect.stringMatching(/^edits\[0\]/), expect.stringMatching(/^edits\[2\]/)])
  })

  test('all edits of a call refer to the file as it was', () => {
    const both = patch({
      edits: [
        { from: 1, to: 1 },
        { from: 3, to: 3 },
      ],
    })
    expect(both).toMatchObject({ edits: [{ step: 4 }, { step: 4 }], nextStep: 5 })
  })
})

describe('context patches', () => {
  const envelope = (...lines: readonly string[]) =>
    ['*** Begin Patch', '*** Update File: f.txt', ...lines, '*** End Patch'].join('\n')
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')

  test('become hunks below their anchors', () => {
    const translation = patch({
      patch_text: envelope('@@ def f():', '-    return 1', '+    return 2', '', ' x'),
    })
    const edit = firstOf(translation)
    if (edit === undefined || !('op' in edit) || edit.op !== 'hunks') throw new Error('no hunks')
    expect(edit).toMatchObject({ flavour: 'envelope', maxTier: 'trailing-space', path: 'f.txt' })
    expect(edit.hunks.map(({ anchors, sourceLine, oldStart }) => [anchors, sourceLine, oldStart])).toEqual([
      [['def f():'], 4, null],
    ])
    expect(edit.hunks[0]?.lines.map((line) => [line.kind, text(line.text)])).toEqual([
      ['remove', '    return 1'],
      ['add', '    return 2'],
      ['context', ''],
      ['context', 'x'],
    ])
  })

  test.each([
    ['U+2028', '\u2028'],
    ['a vertical tab', '\v'],
    ['a form feed', '\f'],
  ])('hold %s as text', (_, character) => {
    const edit = firstOf(patch({ patch_text: `-a${character}b\n+c` }))
    expect(edit).toMatchObject({
      hunks: [{ lines: [{ text: new TextEncoder().encode(`a${character}b`) }, {}] }],
    })
  })

  test.each([
    ['f.txt', true],
    ['./f.txt', true],
    [`${root}/f.txt`, true],
    ['', true],
    ['g.txt', false],
    ['/etc/passwd', false],
    ['../f.txt', false],
  ])('with the header %j name the file of the call: %s', (header, isSame) => {
    const translation = patch({
      patch_text: `*** Begin Patch\n*** Update File: ${header}\n-a\n+b\n*** End Patch`,
    })
    expect(translation.kind).toBe(isSame ? 'edits' : 'refused')
  })

  test.each([
    ['stacked anchors', ['@@ class B:', '@@   def f(self):', '-    1', '+    2'], /stacks anchors/],
    ['a unified header', ['@@ -1,2 +1,2 @@', '-beta', '+B'], /^anchor not found: -1,2 \+1,2 @@$/],
    [
      'an end-of-file marker',
      ['-a', '+b', '*** End of File'],
      /^invalid patch control line: \*\*\* End of File$/,
    ],
  ])('with %s are refused', (_, lines, message) => {
    expect(firstOf(patch({ patch_text: envelope(...lines) }))).toMatchObject({
      code: 'parse-error',
      message: expect.stringMatching(message),
    })
  })

  test('name every hunk that is at fault, with its line', () => {
    const refused = patch({ patch_text: envelope(' a', ' b', '@@', '+x', '@@', '-c', '+d') })
    expect(refused).toMatchObject({
      failures: [
        { code: 'no-change', data: { line: 3, native: 'patch hunk does not change content' } },
        { code: 'parse-error', data: { line: 6, native: 'insert-only patch hunk needs an @@ anchor' } },
      ],
    })
  })
})

test('no call makes the adapter throw', () => {
  const names = 'action path edits patch_text old_text new_text content line_from line_to op'.split(' ')
  const line = fc.constantFrom(
    '*** Begin Patch',
    '*** End Patch',
    '*** Update File: a',
    '@@',
    '@@ a',
    '-a',
    '+b',
    ' c',
    '',
    'x',
  )
  const edit = fc.dictionary(
    fc.constantFrom('from', 'to', 'content'),
    fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.integer(), fc.string()),
  )
  const value = fc.oneof(
    fc.constantFrom('read', 'write', 'patch', 'a'),
    fc.array(line).map((lines) => lines.join('\n')),
    fc.array(edit),
    fc.jsonValue({ maxDepth: 1 }),
    fc.string({ unit: 'binary' }),
  )
  const input = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), value)
  fc.assert(
    fc.property(fc.constantFrom(...agentZero.tools), input, (tool, arguments_) => {
      const call = { tool, input: { path: 'a', ...arguments_ } }
      agentZero.fits(call)
      agentZero.readCall?.(call, context)
      const result = agentZero.translate(call, context)
      expect(result.kind === 'edits' ? result.edits.length : result.failures.length).toBeGreaterThan(0)
    }),
    { numRuns: pureRuns(1000) },
  )
})

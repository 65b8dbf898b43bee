import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { validateMinoArguments } from '../../src/dialects/answers/mino.ts'
import { mino, textMaxBytes } from '../../src/dialects/mino.ts'
import { pureRuns } from '../helpers/runs.ts'
import { root } from './in-memory.ts'

const context = { item: 1, step: 3, root }
type Input = Readonly<Record<string, unknown>>

const translate = (tool: string, input: Input) => mino.translate({ tool, input }, context)
const edit = { path: 'greet.go', old_string: '"hi"', new_string: '"hello"' }
const write = { path: 'new.go', content: 'x\n', mode: 'create' }

describe("Mino's profile", () => {
  test('has the limits of the system', () => {
    expect(mino.profile).toEqual({
      order: 'sequential',
      maxTier: 'exact',
      needsRead: false,
      fileMaxBytes: 65_536,
      wholeFileUtf8: 'every-edit',
      parentsMustExist: true,
      callsPerTurn: 16,
      bindsFile: true,
    })
  })
})

describe('what a call becomes', () => {
  test('edit_file replaces text that stands exactly once, exactly', () => {
    expect(translate('edit_file', edit)).toEqual({
      kind: 'edits',
      edits: [
        {
          op: 'replace',
          item: 1,
          step: 3,
          path: 'greet.go',
          old: '"hi"',
          new: '"hello"',
          all: false,
          maxTier: 'exact',
        },
      ],
      nextStep: 4,
    })
  })

  test.each([['create'], ['overwrite']])('write_file with mode %s', (mode) => {
    const content = new TextEncoder().encode('x\n')
    expect(translate('write_file', { ...write, mode })).toMatchObject({
      edits: [{ op: 'write', mode, content, isText: true }],
    })
  })

  test('an empty new_string removes', () => {
    expect(translate('edit_file', { ...edit, new_string: '' })).toMatchObject({ edits: [{ new: '' }] })
  })

  test('read_file reads the whole file and is no edit', () => {
    const call = { tool: 'read_file', input: { path: 'a.go' } }
    expect(mino.readCall?.(call, context)).toEqual({ kind: 'read', path: 'a.go', from: null, to: null })
    expect(mino.translate(call, context)).toMatchObject({ failures: [{ code: 'unknown-tool' }] })
    expect(mino.readCall?.({ tool: 'edit_file', input: edit }, context)).toBeNull()
  })
})

describe('what is refused by the arguments alone', () => {
  test.each([
    ['no mode', 'write_file', { path: 'a', content: 'x' }, 'invalid-batch'],
    ['a third mode', 'write_file', { ...write, mode: 'create_or_overwrite' }, 'invalid-batch'],
    ['an argument too many', 'edit_file', { ...edit, replace_all: true }, 'invalid-batch'],
    ['no old_string', 'edit_file', { path: 'a', new_string: 'b' }, 'invalid-batch'],
    ['no new_string', 'edit_file', { path: 'a', old_string: 'b' }, 'invalid-batch'],
    ['an empty old_string', 'edit_file', { ...edit, old_string: '' }, 'invalid-batch'],
    ['equal texts', 'edit_file', { ...edit, new_string: '"hi"' }, 'no-change'],
    ['content that is no text', 'write_file', { ...write, content: 1 }, 'invalid-batch'],
    ['no path', 'write_file', { content: 'x', mode: 'create' }, 'invalid-batch'],
    ['an absolute path', 'edit_file', { ...edit, path: '/etc/hosts' }, 'outside-repository'],
    [
      'an absolute path below the root',
      'edit_file',
      { ...edit, path: `${root}/greet.go` },
      'outside-repository',
    ],
    ['a path that climbs out', 'write_file', { ...write, path: '../new.go' }, 'outside-repository'],
    ['a path into .git', 'write_file', { ...write, path: '.git/config' }, 'path-invalid'],
    ['a NUL in a path', 'write_file', { ...write, path: 'a\0' }, 'path-invalid'],
    ['a NUL in a text', 'edit_file', { ...edit, new_string: 'a\0' }, 'binary'],
    ['half of a surrogate pair', 'write_file', { ...write, content: '\udc00' }, 'not-utf8'],
    [
      'a content of 64 KiB and a byte',
      'write_file',
      { ...write, content: 'a'.repeat(textMaxBytes + 1) },
      'too-large',
    ],
    [
      'a text whose UTF-8 is too long',
      'edit_file',
      { ...edit, new_string: 'é'.repeat(textMaxBytes / 2 + 1) },
      'too-large',
    ],
  ])('%s', (_, tool, input, code) => {
    expect(translate(tool, input)).toMatchObject({ kind: 'refused', failures: [{ code, item: 1 }] })
  })

  test('a content of exactly 64 KiB is taken', () => {
    expect(translate('write_file', { ...write, content: 'a'.repeat(textMaxBytes) }).kind).toBe('edits')
  })

  test('all faults are listed', () => {
    const refused = translate('write_file', { path: '/a', content: '\0', mode: 'append', extra: 1 })
    const codes = refused.kind === 'refused' ? refused.failures.map(({ code }) => code) : []
    expect(codes).toEqual(['invalid-batch', 'outside-repository', 'binary', 'invalid-batch'])
  })
})

describe('the shape of a call', () => {
  test.each([
    ['edit_file', edit, true],
    ['edit_file', { path: 'a', edits: [] }, false],
    ['write_file', write, true],
    ['write_file', { path: 'a', content: 'x' }, false],
    ['write_file', { file_path: 'a', content: 'x' }, false],
    ['read_file', { path: 'a' }, true],
    ['read_file', { path: 'a', head: 3 }, false],
    ['Edit', edit, false],
  ])('%s %j fits: %s', (tool, input, isFitting) => {
    expect(mino.fits({ tool, input })).toBe(isFitting)
  })
})

describe('replaying a journal', () => {
  test('canonical arguments have their keys in one order', () => {
    const shuffled = { new_string: '"hello"', old_string: '"hi"', path: 'greet.go' }
    expect(validateMinoArguments('edit_file', shuffled)).toEqual({
      kind: 'valid',
      canonical: JSON.stringify(edit),
    })
  })

  test.each([
    ['no tool of Mino', 'run_bash', { path: 'a' }],
    ['no object', 'read_file', ['a']],
    ['null', 'read_file', null],
    ['a missing argument', 'write_file', { path: 'a' }],
    ['equal texts', 'edit_file', { ...edit, new_string: '"hi"' }],
  ])('%s is invalid', (_, tool, input) => {
    expect(validateMinoArguments(tool, input).kind).toBe('invalid')
  })

  test('canonical arguments are valid and stay as they are', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (old, text) => {
        const first = validateMinoArguments('edit_file', { path: 'a', old_string: old, new_string: text })
        if (first.kind === 'invalid') return
        expect(validateMinoArguments('edit_file', JSON.parse(first.canonical))).toEqual(first)
      }),
      { numRuns: pureRuns(1000) },
    )
  })
})

test('no call makes the adapter throw', () => {
  const names = fc.constantFrom(
    'path',
    'content',
    'mode',
    'old_string',
    'new_string',
    '__proto__',
    'constructor',
  )
  const input = fc.dictionary(
    fc.oneof(names, fc.string()),
    fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.string({ unit: 'binary' })),
  )
  fc.assert(
    fc.property(fc.constantFrom(...mino.tools, 'x'), input, (tool, arguments_) => {
      const call = { tool, input: arguments_ }
      mino.fits(call)
      mino.readCall?.(call, context)
      validateMinoArguments(tool, arguments_)
      const result = mino.translate(call, context)
      expect(result.kind === 'edits' ? result.edits.length : result.failures.length).toBeGreaterThan(0)
    }),
    { numRuns: pureRuns(1000) },
  )
})

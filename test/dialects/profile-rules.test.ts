import { describe, expect, test } from 'vitest'
import { profileFailures } from '../../src/dialects/profile-rules.ts'
import type { DialectProfile } from '../../src/model/dialect.ts'
import type { Edit } from '../../src/model/edit.ts'
import { absent, type FileState, type ReadRecord } from '../../src/model/file-state.ts'
import { blobOf } from './in-memory.ts'

const open: DialectProfile = { order: 'original', maxTier: 'exact', needsRead: false }
const append: Edit = { op: 'append', item: 0, step: 0, path: 'a', content: 'x' }
const write: Edit = {
  op: 'write',
  item: 0,
  step: 0,
  path: 'a',
  content: new Uint8Array(),
  mode: 'overwrite',
  isText: true,
}

const file = (content: string | Uint8Array): FileState => ({
  kind: 'file',
  bytes: Buffer.from(content),
  executable: false,
  blob: blobOf(content),
})

function codesFor(
  edit: Edit,
  profile: Partial<DialectProfile>,
  state: FileState,
  reads: readonly ReadRecord[] = [],
): readonly string[] {
  const files = new Map([['a', state]])
  return profileFailures({ edits: [edit], profiles: [{ ...open, ...profile }], files, reads }).map(
    ({ code }) => code,
  )
}

describe('the limits of a system', () => {
  test('on size count the bytes of the existing file', () => {
    expect(codesFor(append, { fileMaxBytes: 3 }, file('abc'))).toEqual([])
    expect(codesFor(append, { fileMaxBytes: 3 }, file('abcd'))).toEqual(['too-large'])
  })

  test.each([
    ['text edits', 'text-edits', append, ['not-utf8']],
    ['text edits, for a whole-file write', 'text-edits', write, []],
    ['every edit', 'every-edit', write, ['not-utf8']],
  ] as const)('on UTF-8 hold for %s', (_, wholeFileUtf8, edit, codes) => {
    expect(codesFor(edit, { wholeFileUtf8 }, file(Uint8Array.of(0x61, 0xff)))).toEqual(codes)
  })

  test.each([
    ['a byte-order mark', '\ufeffa'],
    ['U+FFFD itself', 'a\ufffd'],
    ['no byte', ''],
  ])('on UTF-8 take a file with %s', (_, content) => {
    expect(codesFor(append, { wholeFileUtf8: 'text-edits' }, file(content))).toEqual([])
  })

  test('on UTF-8 take a NUL for binary', () => {
    expect(codesFor(append, { wholeFileUtf8: 'text-edits' }, file('a\0'))).toEqual(['binary'])
  })

  test('on reads want one of any existing file, or the blob in the edit', () => {
    const read: ReadRecord = { path: 'a', blob: blobOf('x') }
    expect(codesFor(append, { needsRead: true }, file('x'))).toEqual(['not-read'])
    expect(codesFor(write, { needsRead: true }, file('x'))).toEqual(['not-read'])
    expect(codesFor(append, { needsRead: true }, file('x'), [read])).toEqual([])
    expect(codesFor({ ...append, blob: blobOf('x') }, { needsRead: true }, file('x'))).toEqual([])
  })

  test('hold for no file that is absent, nor for systems without them', () => {
    const strict = { needsRead: true, fileMaxBytes: 0, wholeFileUtf8: 'every-edit' } as const
    expect(codesFor(append, strict, absent)).toEqual([])
    expect(codesFor(append, {}, file(Uint8Array.of(0xff, 0)))).toEqual([])
  })
})

test('each edit is judged by the profile of its own item', () => {
  const files = new Map([['a', file('x')]])
  const edits = [append, { ...append, item: 1 }]
  const profiles = [open, { ...open, needsRead: true }]
  expect(profileFailures({ edits, profiles, files, reads: [] })).toMatchObject([
    { item: 1, path: 'a', code: 'not-read' },
  ])
})

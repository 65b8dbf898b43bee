import { describe, expect, test } from 'vitest'
import { callsOf, conformanceCases, filesOf, isAllowed, outcomeOf, submit } from './in-memory.ts'

/** Cases that are not played here, each with its reason. */
const notPlayed: Readonly<Record<string, string>> = {
  'mi-overwrite-mode-kept': "permission bits are the work tree's",
  'mi-edit-mode-kept': "permission bits are the work tree's",
  'mi-changed-after-asking': 'needs an approval',
  'mi-deleted-after-asking': 'needs an approval',
  'mi-replaced-by-symlink': 'needs an approval',
  'mi-overwrite-changed': 'needs an approval',
  'mi-no-temp-left-ok': 'needs a disk',
  'mi-abs-path': 'only reads: see mino.test.ts, and the refusal of absolute paths there',
  'mi-link-dir-outside': "links are the work tree's",
  'mi-not-utf8': 'only reads; an edit of such a file is refused below',
  'mi-nul': 'only reads; an edit of such a file is refused below',
  'mi-home-disabled-write': 'galley keeps its data in .git/galley, which no path reaches',
  'mi-preview-lines': 'a screen: see mino-answers.test.ts',
  'mi-preview-bytes': 'a screen: see mino-answers.test.ts',
}

interface Call {
  readonly tool: string
  readonly path: string
}

/** The call as Mino's model sends it: the tool's name beside its arguments. */
const asItem = ({ tool, ...input }: Call) => ({ tool, input })

describe('Mino conformance cases', () => {
  const cases = conformanceCases('mino-file-tools')
  const played = cases.filter(({ id }) => !(id in notPlayed))

  test('every case is played or has a reason why not', () => {
    expect(played).toHaveLength(cases.length - Object.keys(notPlayed).length)
  })

  test.each(played)('$id', (row) => {
    const { calls } = row.request as { readonly calls: readonly Call[] }
    const files = filesOf(row)
    const edits = calls.filter(({ tool }) => tool !== 'read_file').map(asItem)
    const isRepeat = row.id === 'mi-repeat-same-edit'
    const ending = submit(callsOf('mino', files, isRepeat ? edits.slice(0, 1) : edits), files)
    expect(isAllowed(row, ending), JSON.stringify(outcomeOf(ending))).toBe(true)
  })

  test('mi-repeat-same-edit: the same call in one batch does not match its own result', () => {
    const call = { tool: 'edit_file', input: { path: 'greet.go', old_string: 'a', new_string: 'A' } }
    const files = { 'greet.go': 'a\n' }
    expect(submit(callsOf('mino', files, [call, call]), files).kind).toBe('refused')
  })
})

describe('existing files that Mino does not edit', () => {
  const edit = (content: Uint8Array) => {
    const files = { 'a.txt': content }
    const input = { path: 'a.txt', old_string: 'caf', new_string: 'tea' }
    return submit(callsOf('mino', files, [{ tool: 'edit_file', input }]), files)
  }
  const overwrite = (content: Uint8Array) => {
    const files = { 'a.txt': content }
    const input = { path: 'a.txt', content: 'new\n', mode: 'overwrite' }
    return submit(callsOf('mino', files, [{ tool: 'write_file', input }]), files)
  }

  test.each([
    ['of more than 64 KiB', new Uint8Array(65_537).fill(0x61), 'too-large'],
    ['that are not UTF-8', Buffer.from([0x63, 0x61, 0x66, 0xe9]), 'not-utf8'],
    ['with a NUL', Buffer.from([0x63, 0x61, 0x66, 0]), 'binary'],
  ])('%s, whichever tool asks', (_, content, code) => {
    expect(edit(content)).toMatchObject({ kind: 'refused', failures: [{ code }] })
    expect(overwrite(content)).toMatchObject({ kind: 'refused', failures: [{ code }] })
  })

  test('and look-alikes do not match', () => {
    const files = { 'a.txt': 'say(‘x’)  \r\n' }
    const input = { path: 'a.txt', old_string: "say('x')\n", new_string: 'y\n' }
    const ending = submit(callsOf('mino', files, [{ tool: 'edit_file', input }]), files)
    expect(ending).toMatchObject({ kind: 'refused', failures: [{ code: 'no-match' }] })
  })

  test.each([
    ['create over a file', 'create', { 'a.txt': 'old\n' }, 'exists'],
    ['overwrite of no file', 'overwrite', {}, 'not-found'],
  ])('%s', (_, mode, files, code) => {
    const input = { path: 'a.txt', content: 'new\n', mode }
    const ending = submit(callsOf('mino', files, [{ tool: 'write_file', input }]), files)
    expect(ending).toMatchObject({ kind: 'refused', failures: [{ code }] })
  })
})

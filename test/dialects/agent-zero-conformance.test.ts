import { describe, expect, test } from 'vitest'
import {
  contextPatchOthers,
  editsOthers,
  exactReplaceOthers,
  type Other,
  type Others,
  writeOthers,
} from './agent-zero-others.ts'
import {
  callsOf,
  conformanceCases,
  type Files,
  filesOf,
  fixture,
  isAllowed,
  outcomeOf,
  submit,
} from './in-memory.ts'

type Text = string | { readonly hex: string } | null

interface Row {
  readonly name: string
  readonly error?: string
}

interface PatchRow extends Row {
  readonly content: string
  readonly patchText: string
  readonly expect?: string
}

interface ReplaceRow extends Row {
  readonly content: string
  readonly oldText: string
  readonly newText: string
  readonly expect?: string
}

interface EditsRow extends Row {
  readonly initial: Text
  readonly args: Readonly<Record<string, unknown>>
  readonly after: Text
}

interface WriteRow extends Row {
  readonly initial: Text
  readonly request: Readonly<Record<string, unknown>>
  readonly after: Text
}

const table = JSON.parse(fixture('agent-zero.json')) as {
  readonly deliberatelyBad: Readonly<Record<string, readonly string[]>>
  readonly contextPatch: readonly PatchRow[]
  readonly exactReplace: readonly ReplaceRow[]
  readonly edits: readonly EditsRow[]
  readonly write: readonly WriteRow[]
}

/** What became of the file: its text, or the code of the refusal, which leaves it as it was. */
interface Played {
  readonly text: string | null
  readonly code: string | null
}

const path = 'f.txt'

function play(initial: Text, input: Readonly<Record<string, unknown>>): Played {
  const content = initial !== null && typeof initial === 'object' ? Buffer.from(initial.hex, 'hex') : initial
  const files: Files = content === null ? {} : { [path]: content }
  const call = { tool: 'text_editor_remote', input: { path, ...input } }
  const ending = submit(callsOf('agent-zero', files, [call]), files)
  if (ending.kind === 'refused') return { text: null, code: ending.failures[0]?.code ?? '' }
  return { text: ending.files[path] ?? null, code: null }
}

function compare(row: Row, others: Others, after: Text | undefined, played: () => Played): void {
  const other = others[row.name]
  if (other !== undefined && 'skipped' in other) return
  const { text, code } = played()
  if (other !== undefined) expect({ text, code }).toEqual({ text: null, code: null, ...withoutWhy(other) })
  else if (row.error !== undefined) expect(code, `expected a refusal like "${row.error}"`).not.toBeNull()
  else expect({ text, code }).toEqual({ text: after, code: null })
}

const withoutWhy = ({ why: _, ...rest }: Other) => rest

/** A row that is deliberately not copied has to stand in the list of what is done instead, unless it comes out right. */
function unexplained(
  section: string,
  rows: readonly Row[],
  others: Others,
  right: readonly string[],
): readonly string[] {
  const names = rows.map(({ name }) => name)
  const strangers = [...Object.keys(others), ...right].filter((name) => !names.includes(name))
  const bad = (table.deliberatelyBad[section] ?? []).filter(
    (name) => !(name in others) && !right.includes(name),
  )
  return [...strangers, ...bad]
}

describe('context patches: every row is followed but these', () => {
  const others = contextPatchOthers
  /** Refused by Agent Zero and by galley: an end-of-file marker is no line, a unified header is no anchor. */
  const right: readonly string[] = ['end of file marker', 'unified header anchor']

  test('every row that is not copied is explained', () => {
    expect(unexplained('context_patch', table.contextPatch, others, right)).toEqual([])
  })

  /** Some rows name the file `f`; the path of the call and of the patch must be one. */
  const named = (patchText: string): string =>
    patchText.split('*** Update File: f\n').join(`*** Update File: ${path}\n`)

  test.each(table.contextPatch)('$name', (row) => {
    compare(row, others, row.expect, () =>
      play(row.content, { action: 'patch', patch_text: named(row.patchText) }),
    )
  })
})

describe('exact replaces: every row is followed but these', () => {
  const others = exactReplaceOthers

  test('every row that is not copied is explained', () => {
    // Emptying a line is what the request says: the newline was not named.
    expect(unexplained('exact_replace', table.exactReplace, others, ['empty new_text'])).toEqual([])
  })

  test.each(table.exactReplace)('$name', (row) => {
    const input = { action: 'patch', old_text: row.oldText, new_text: row.newText }
    compare(row, others, row.expect, () => play(row.content, input))
  })
})

describe('numbered edits: every row is followed but these', () => {
  const others = editsOthers

  test('every row that is not copied is explained', () => {
    expect(unexplained('edits', table.edits, others, [])).toEqual([])
  })

  test.each(table.edits)('$name', (row) => {
    compare(row, others, row.after, () => play(row.initial, { action: 'patch', ...row.args }))
  })
})

describe('writes: every row is followed but these', () => {
  const others = writeOthers

  test('every row that is not copied is explained', () => {
    expect(unexplained('write', table.write, others, [])).toEqual([])
  })

  test.each(table.write)('$name', (row) => {
    const { op: _, ...input } = row.request
    compare(row, others, row.after, () => play(row.initial, { action: 'write', ...input }))
  })

  test('a write makes the directories above', () => {
    const call = {
      tool: 'text_editor_remote',
      input: { action: 'write', path: 'd1/d2/f.txt', content: 'a\n' },
    }
    expect(outcomeOf(submit(callsOf('agent-zero', {}, [call]), {}))).toEqual({ 'd1/d2/f.txt': 'a\n' })
  })
})

describe('conformance cases', () => {
  /** Cases that are not played here, each with its reason. */
  const notPlayed: Readonly<Record<string, string>> = {
    'az-write-read-patch': 'a sequence with a read between: needs a session',
    'az-read-only-patch': "the mode is the policy's",
    'azf-read-then-patch': 'a read and a patch: needs a session',
    'azf-external-change': 'a foreign write between two calls: needs a session',
    'azf-in-place-chain': 'a landed edit between two calls: needs a session',
  }
  const cases = conformanceCases('agent-zero-patch')

  test('every case is played or has a reason why not', () => {
    const missing = cases.filter((row) => row.batch === undefined).map(({ id }) => id)
    expect(missing).toEqual(Object.keys(notPlayed))
  })

  test.each(cases.filter((row) => row.batch !== undefined))('$id', (row) => {
    const ending = submit(row.batch, filesOf(row))
    expect(isAllowed(row, ending), JSON.stringify(outcomeOf(ending))).toBe(true)
  })

  test('numbered edits of a file that was not read are refused', () => {
    const files: Files = { [path]: 'a\nb\n' }
    for (const edits of [
      [{ from: 1, to: 1, content: 'A\n' }],
      [{ from: 1, content: 'A\n' }],
      [{ from: 3, content: 'A\n' }],
    ]) {
      const call = { tool: 'text_editor_remote', input: { action: 'patch', path, edits } }
      const ending = submit(callsOf('agent-zero', {}, [call]), files)
      expect(ending).toMatchObject({ kind: 'refused', failures: [{ code: 'not-read' }] })
    }
  })
})

import { describe, expect, test } from 'vitest'
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

/** What galley does instead of a row, and why. */
type Other =
  | { readonly text: string; readonly why: string }
  | { readonly code: string; readonly why: string }
  | { readonly skipped: true; readonly why: string }

type Others = Readonly<Record<string, Other>>

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
  const one = 'there must be exactly one place below the anchor'
  const noPhantom = 'a final newline begins no line'
  const others: Others = {
    'stacked anchors only last used': { code: 'parse-error', why: 'drops the outer anchor' },
    'stacked anchors class/def': { code: 'parse-error', why: 'edits the wrong class' },
    'u2028 on added line': { text: 'x\u2028 y\n', why: 'only LF ends a line' },
    'vertical tab in patch line splits': { text: 'c\n', why: 'only LF ends a line' },
    'u2028 in patch line splits': { text: 'c\n', why: 'only LF ends a line' },
    'ambiguous with anchor picks first': { code: 'ambiguous-match', why: one },
    'two hunks in order': { code: 'ambiguous-match', why: one },
    'duplicate anchor: first wins': { code: 'ambiguous-match', why: 'the anchor stands twice' },
    'duplicate anchor second hunk uses next': { code: 'ambiguous-match', why: 'the anchor stands twice' },
    'trailing ws in file tolerated': { text: 'alpha  \nB\n', why: 'context keeps its own bytes' },
    'trailing ws in patch tolerated': { text: 'alpha\nB\n', why: 'context keeps its own bytes' },
    'nbsp trailing tolerated by rstrip': {
      code: 'no-match',
      why: 'of blanks only space and tab are forgiven',
    },
    'delete last line no trailing nl': { text: 'alpha\n', why: 'the newline before is not named' },
    'crlf content direct': { text: 'x\r\nb\r\n', why: 'line endings stay' },
    'bom first line anchor': { text: '\ufeffimport os\nimport sys\nx\n', why: 'the mark is no text' },
    'phantom last line matchable': { code: 'no-match', why: noPhantom },
    'phantom: delete trailing newline': { code: 'no-change', why: noPhantom },
    'empty file replace blank': { code: 'no-match', why: noPhantom },
    'empty file keep blank': { code: 'no-match', why: noPhantom },
  }
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
  const anywhere = 'the text may stand anywhere, as in the tool of the same arguments on the server'
  const others: Others = {
    'substring of a line': { text: 'timeout = 60\n', why: anywhere },
    'trailing newline in both': { text: 'alpha\nBETA\ngamma\n', why: anywhere },
    'leading newline': { text: 'alpha\nBETA\ngamma\n', why: anywhere },
    'old spans mid-line': { text: 'alXta\ngamma\n', why: anywhere },
    'trailing ws fuzzy': { text: 'B  \n', why: 'the blanks are not named, so they stay' },
    'old is only newline': { code: 'ambiguous-match', why: 'there are four newlines' },
  }

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
  const fused = 'content without a newline gets one: lines are not fused'
  const others: Others = {
    'insert at end, no trailing newline in file': { text: 'a\nb\nX\n', why: fused },
    'content without newline merges next line': { text: 'l1\nX\nl3\nl4\nl5\n', why: fused },
    'insert without newline merges': { text: 'l1\nX\nl2\nl3\nl4\nl5\n', why: fused },
    'content number': { text: 'l1\n5\nl3\nl4\nl5\n', why: fused },
    'from only (no to, no content) deletes': { code: 'invalid-batch', why: 'deletes a line unasked' },
    'from + empty content no to': { code: 'no-change', why: 'inserts nothing' },
    'from 0 treated as 1': { code: 'out-of-range', why: 'guesses a line' },
    'from missing treated as 1': { code: 'invalid-batch', why: 'guesses a line' },
    'two inserts same line: reversed': {
      text: 'l1\nA\nB\nl2\nl3\nl4\nl5\n',
      why: 'inserts keep their order',
    },
    'insert then replace same line': { text: 'l1\nA\nB\nl3\nl4\nl5\n', why: 'the insert is not lost' },
    'overlapping ranges corrupt': { code: 'overlap', why: 'destroys lines' },
    'nested ranges': { code: 'overlap', why: 'destroys lines' },
    'crlf file becomes lf': { text: 'a\r\nX\r\nc\r\n', why: 'line endings stay' },
    'lone cr file becomes lf': { text: 'a\rX\rc\r', why: 'line endings stay' },
    'nul bytes accepted': { code: 'binary', why: 'no text' },
    'empty file delete': { code: 'out-of-range', why: 'there is no line' },
    'patch_text crlf file becomes lf': { text: 'a\r\nX\r\nc\r\n', why: 'line endings stay' },
    'patch_text invalid utf8 replaced by U+FFFD': { code: 'not-utf8', why: 'destroys bytes' },
    'patch_text Update File path is ignored': { code: 'invalid-batch', why: 'edits another file than named' },
    'lone surrogate in content truncates file': {
      code: 'not-utf8',
      why: 'refused before anything is written',
    },
    'readonly mode': { skipped: true, why: "the mode is the policy's" },
    'delete beyond end': { code: 'out-of-range', why: 'deletes nothing' },
  }

  test('every row that is not copied is explained', () => {
    expect(unexplained('edits', table.edits, others, [])).toEqual([])
  })

  test.each(table.edits)('$name', (row) => {
    compare(row, others, row.after, () => play(row.initial, { action: 'patch', ...row.args }))
  })
})

describe('writes: every row is followed but these', () => {
  const disk = 'made of links and directories of the work tree'
  const others: Others = {
    'null content writes None': { code: 'invalid-batch', why: 'writes a text that nobody sent' },
    'list content': { code: 'invalid-batch', why: 'writes a text that nobody sent' },
    'missing content key writes empty': { code: 'invalid-batch', why: 'the tool requires it of the model' },
    'lone surrogate truncates': { code: 'not-utf8', why: 'refused before anything is written' },
    'read only': { skipped: true, why: "the mode is the policy's" },
    'mkdir parents': { skipped: true, why: 'another path than f.txt; see below' },
    'parent is a file': { skipped: true, why: disk },
    'through symlink writes target; realpath is target': { skipped: true, why: disk },
    'dangling symlink creates target': { skipped: true, why: disk },
  }

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

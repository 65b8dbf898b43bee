import type { Hunk, HunkLine } from '../model/edit.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import { quote } from '../policy/quote.ts'
import { shortened } from './arguments.ts'
import { withoutCr } from './request-lines.ts'

/** A context patch that was read: the path its header names (null without an envelope), and its hunks. */
export type PatchText =
  | { readonly kind: 'parsed'; readonly headerPath: string | null; readonly hunks: readonly Hunk[] }
  | { readonly kind: 'refused'; readonly faults: readonly PatchTextFault[] }

/** One thing wrong with a context patch; `message` is Agent Zero's own sentence where it has one. */
export interface PatchTextFault {
  readonly code: ErrorCode
  readonly message: string
  /** Line of the patch text, from 1. */
  readonly line: number
  readonly hint?: string
}

interface PatchLine {
  readonly text: string
  readonly number: number
}

/** A hunk as written, with its lines as text: what the rules on hunks look at. */
interface RawHunk {
  readonly anchor: string | null
  readonly anchorLine: number
  readonly lines: readonly { readonly kind: HunkLine['kind']; readonly text: string }[]
  readonly sourceLine: number
}

type Step<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'fault'; readonly fault: PatchTextFault }

const BEGIN = '*** Begin Patch'
const END = '*** End Patch'
const UPDATE = '*** Update File:'
const MOVE = '*** Move to:'
const ADD = '*** Add File:'
const DELETE = '*** Delete File:'

const UNIFIED_HEADER = /^-\d{1,16}(?:,\d{1,16})? \+\d{1,16}(?:,\d{1,16})? @@/
const KINDS: ReadonlyMap<string, HunkLine['kind']> = new Map([
  [' ', 'context'],
  ['-', 'remove'],
  ['+', 'add'],
])

const encoder = new TextEncoder()

/**
 * Reads the `patch_text` of an Agent Zero patch: one `*** Update File:` block in an envelope, or bare hunks.
 *
 * Its rules are Agent Zero's (anchors are whole lines, stripped; a blank line is blank context; any other line that
 * begins with `***` is an error), but for three that edit another place than the one meant: stacked anchors, of
 * which it drops all but the last, and unified headers as anchors are refused, and only LF ends a line.
 */
export function parsePatchText(text: string): PatchText {
  const lines = withoutOuterBlankLines(linesOf(text))
  const [first] = lines
  if (first === undefined) return refused({ code: 'parse-error', message: 'patch_text is required', line: 1 })
  const isEnveloped = first.text.startsWith(BEGIN)
  const body: Step<Body> = isEnveloped ? envelopeBody(lines) : ok({ headerPath: null, lines })
  if (body.kind === 'fault') return refused(body.fault)
  const raw = rawHunks(body.value.lines)
  if (raw.kind === 'fault') return refused(raw.fault)
  if (raw.value.length === 0) {
    const message = 'patch_text must contain at least one update hunk'
    return refused({ code: 'parse-error', message, line: first.number })
  }
  const faults = raw.value.flatMap(faultsOfHunk)
  if (faults.length > 0) return { kind: 'refused', faults }
  return { kind: 'parsed', headerPath: body.value.headerPath, hunks: raw.value.map(hunkOf) }
}

interface Body {
  readonly headerPath: string | null
  readonly lines: readonly PatchLine[]
}

function linesOf(text: string): readonly PatchLine[] {
  return text.split('\n').map((line, index) => ({ text: withoutCr(line), number: index + 1 }))
}

function withoutOuterBlankLines(lines: readonly PatchLine[]): readonly PatchLine[] {
  const isFilled = (line: PatchLine): boolean => line.text.trim() !== ''
  return lines.slice(Math.max(0, lines.findIndex(isFilled)), lines.findLastIndex(isFilled) + 1)
}

/** The lines below `*** Update File:`, up to the envelope's last line. */
function envelopeBody(lines: readonly PatchLine[]): Step<Body> {
  const last = lines.at(-1)
  if (lines.length < 2 || last?.text !== END) {
    return fault('patch_text missing *** End Patch', last?.number ?? 1)
  }
  let headerPath: string | null = null
  const body: PatchLine[] = []
  for (const line of lines.slice(1, -1)) {
    if (line.text.startsWith(UPDATE)) {
      if (headerPath !== null) return fault('patch_text may update only one file per operation', line.number)
      headerPath = line.text.slice(UPDATE.length).trim()
    } else if (line.text.startsWith(MOVE)) {
      return fault('patch_text does not support file moves', line.number)
    } else if (line.text.startsWith(ADD) || line.text.startsWith(DELETE)) {
      return fault('patch_text supports update hunks only', line.number)
    } else if (headerPath !== null) {
      body.push(line)
    }
  }
  if (headerPath === null) return fault('patch_text must include an update file block', 1)
  return ok({ headerPath, lines: body })
}

/** Splits a body at its `@@` lines. A last anchor with no lines below it means nothing and is dropped. */
function rawHunks(lines: readonly PatchLine[]): Step<readonly RawHunk[]> {
  const hunks: RawHunk[] = []
  let anchor: { text: string; line: number } | null = null
  let open: RawHunk['lines'][number][] | null = null
  for (const line of lines) {
    if (endsBody(line.text)) break
    if (line.text.startsWith('@@')) {
      if (open === null && anchor !== null && anchor.text !== '') return stackedAnchors(line, anchor.text)
      anchor = { text: line.text.slice(2).trim(), line: line.number }
      open = null
      continue
    }
    const parsed = hunkLine(line)
    if (parsed.kind === 'fault') return parsed
    if (open === null) {
      open = []
      hunks.push({
        anchor: anchor?.text || null,
        anchorLine: anchor?.line ?? line.number,
        lines: open,
        sourceLine: line.number,
      })
    }
    open.push(parsed.value)
  }
  return ok(hunks)
}

const endsBody = (text: string): boolean =>
  text === END || text.startsWith(UPDATE) || text.startsWith(ADD) || text.startsWith(DELETE)

function hunkLine(line: PatchLine): Step<RawHunk['lines'][number]> {
  if (line.text.startsWith('***'))
    return fault(`invalid patch control line: ${shortened(line.text)}`, line.number)
  if (line.text === '') return ok({ kind: 'context', text: '' })
  const kind = KINDS.get(line.text.charAt(0))
  if (kind === undefined) return fault(`invalid patch line prefix: ${shortened(line.text)}`, line.number)
  return ok({ kind, text: line.text.slice(1) })
}

function faultsOfHunk(hunk: RawHunk): readonly PatchTextFault[] {
  const { anchor, anchorLine, lines, sourceLine } = hunk
  if (anchor !== null && UNIFIED_HEADER.test(anchor)) {
    const hint = 'An anchor is the text of one line of the file; leave line numbers out.'
    return [
      { code: 'parse-error', message: `anchor not found: ${shortened(anchor)}`, line: anchorLine, hint },
    ]
  }
  const isInsert = lines.every((line) => line.kind === 'add')
  if (isInsert && anchor === null) {
    return [{ code: 'parse-error', message: 'insert-only patch hunk needs an @@ anchor', line: sourceLine }]
  }
  const before = lines.filter((line) => line.kind !== 'add')
  const after = lines.filter((line) => line.kind !== 'remove')
  const isSame = before.length === after.length && before.every((line, i) => line.text === after[i]?.text)
  if (isSame) return [{ code: 'no-change', message: 'patch hunk does not change content', line: sourceLine }]
  return []
}

const hunkOf = (hunk: RawHunk): Hunk => ({
  anchors: hunk.anchor === null ? [] : [hunk.anchor],
  oldStart: null,
  lines: hunk.lines.map((line) => ({ kind: line.kind, text: encoder.encode(line.text) })),
  endOfFile: false,
  sourceLine: hunk.sourceLine,
})

function stackedAnchors(line: PatchLine, above: string): Step<never> {
  const message = `patch_text stacks anchors: line ${line.number} follows the anchor ${quote(above)} with no lines between`
  const hint = 'Give one @@ anchor a hunk: the nearest line above the change that stands only once.'
  return { kind: 'fault', fault: { code: 'parse-error', message, line: line.number, hint } }
}

const ok = <T>(value: T): Step<T> => ({ kind: 'ok', value })

const fault = (message: string, line: number): Step<never> => ({
  kind: 'fault',
  fault: { code: 'parse-error', message, line },
})

const refused = (...faults: readonly PatchTextFault[]): PatchText => ({ kind: 'refused', faults })

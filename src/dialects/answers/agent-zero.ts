import type { Refusal } from '../../model/error.ts'
import { hintFor } from '../../model/error-codes.ts'

/** Lines of one read; more are cut off. */
const readMaxLines = 2000
/** UTF-8 bytes of one read's content, line numbers included; more are cut off. */
const readMaxBytes = 262_144
/** Bytes at a file's beginning that decide whether it is binary. */
const sniffedBytes = 8192
/** More than one replacement character in a hundred bytes is no text. */
const undecodableShare = 0.01

const LF = 0x0a
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export type AgentZeroAction = 'read' | 'write' | 'patch'

/** The result object of a read, under the names of the wire. */
export interface ReadResult {
  /** Numbered lines; see {@link readFile}. */
  readonly content: string
  readonly total_lines: number
  readonly line_from: number
  /** The last line given; below `line_from` when there is none. */
  readonly line_to: number
  readonly truncated: boolean
  readonly limits: { readonly max_lines: number; readonly max_bytes: number }
  readonly truncation?: {
    readonly reason: 'max_lines' | 'max_bytes'
    readonly next_line: number
    readonly alternative: 'http_bulk_transfer'
  }
}

export type ReadAnswer =
  | { readonly ok: true; readonly result: ReadResult }
  | {
      readonly ok: false
      readonly error: string
      readonly code?: 'BINARY_FILE'
      readonly details?: Readonly<Record<string, unknown>>
    }

/**
 * Reads lines of a file as Agent Zero's host does in its latest form: each with its number right-aligned in four
 * columns and ` | `, line endings as they stand, at most 2,000 lines and 262,144 bytes.
 *
 * A line cut off by the byte limit ends at a whole character; `next_line` is the line after it.
 *
 * @param from - First line, from 1; null = 1. Past the end there is no content.
 * @param to - Last line; null or past the end = the last one.
 */
export function readFile(bytes: Uint8Array, from: number | null, to: number | null): ReadAnswer {
  const binary = binaryAnswer(bytes)
  if (binary !== null) return binary
  const lines = lineSpans(bytes)
  const total = lines.length
  const first = from ?? 1
  if (first < 1) return { ok: false, error: 'line_from must be >= 1' }
  if (to !== null && to < first && total > 0) return { ok: false, error: 'line_to must be >= line_from' }
  const last = Math.min(to ?? total, total)
  return { ok: true, result: readResult(bytes, lines, first, last) }
}

/** The text of a read that the model sees. */
export function readText(path: string, answer: ReadAnswer): string {
  if (!answer.ok) return failureText('read', path, answer.error)
  const { content, total_lines: total, truncation } = answer.result
  const text = `${path} ${total} lines\n>>>\n${content}\n<<<`
  if (truncation === undefined) return text
  const { reason, next_line: next } = truncation
  const advice = `Continue with line_from=${next}. Use HTTP bulk transfer for the complete or binary file.`
  return `${text}\n[Remote text read truncated by ${reason}. ${advice}]`
}

export const writtenText = (path: string): string => `${path} written successfully`
export const patchedText = (path: string): string => `${path} patched successfully`

/** A failure as the model sees it. */
export const failureText = (action: AgentZeroAction, path: string, error: string): string =>
  `Error (${action} '${path}'): ${error}`

/**
 * The error string for a refusal: Agent Zero's own sentence where it has one, with what galley found below it where
 * that says more; else galley's message and advice.
 *
 * @param path - As the call gave it.
 */
export function errorText(refusal: Refusal, path: string): string {
  const native = refusal.data['native']
  const own = typeof native === 'string' ? native : sentenceFor(refusal, path)
  const found = `${refusal.message}\n${refusal.hint ?? hintFor(refusal.code)}`
  if (own === null) return found
  return detailed.has(refusal.code) ? `${own}\n${found}` : own
}

/** The state of a read by Agent Zero's names, where it is why a numbered edit was refused. */
export function freshnessCode(refusal: Refusal): 'patch_need_read' | 'patch_stale_read' | null {
  if (refusal.code === 'not-read') return 'patch_need_read'
  return refusal.code === 'stale-read' ? 'patch_stale_read' : null
}

/** Number of lines of a file: its newlines, and one more for an unterminated tail. */
export const totalLines = (bytes: Uint8Array): number => lineSpans(bytes).length

/** Refusals whose details help more than Agent Zero's sentence: where the text nearly stands, or stands twice. */
const detailed: ReadonlySet<string> = new Set(['no-match', 'ambiguous-match', 'stale-read', 'overlap'])

function sentenceFor(refusal: Refusal, path: string): string | null {
  switch (refusal.code) {
    case 'not-read':
      return `error patching ${path}: read file before patching - line numbers unknown`
    case 'stale-read':
      return `error patching ${path}: file changed since last read - re-read to get current line numbers`
    case 'not-found':
    case 'is-directory':
    case 'special-file':
      return `File not found: ${path}`
    case 'outside-repository':
      return `Path is outside the allowed local workspace: ${path}`
    case 'read-only':
      return 'Frontend file writes are disabled in this CLI session. Press F3 to switch to Read&Write.'
    case 'no-match':
      return 'context not found:'
    case 'ambiguous-match':
      return 'context matched multiple locations; add an @@ anchor or more context:'
    default:
      return null
  }
}

interface Span {
  readonly start: number
  /** After the line's own newline. */
  readonly end: number
}

/** CRLF counts as one ending, a lone CR as none. */
function lineSpans(bytes: Uint8Array): readonly Span[] {
  const spans: Span[] = []
  let start = 0
  while (start < bytes.length) {
    const newline = bytes.indexOf(LF, start)
    const end = newline === -1 ? bytes.length : newline + 1
    spans.push({ start, end })
    start = end
  }
  return spans
}

function readResult(bytes: Uint8Array, lines: readonly Span[], first: number, last: number): ReadResult {
  const shown = lines.slice(first - 1, Math.min(last, first - 1 + readMaxLines))
  let content = ''
  let room = readMaxBytes
  let taken = 0
  for (const span of shown) {
    const line = `${String(first + taken).padStart(4)} | ${decoder.decode(bytes.subarray(span.start, span.end))}`
    const encoded = encoder.encode(line)
    taken++
    content += encoded.length <= room ? line : cutAt(encoded, room)
    if (encoded.length > room) return result(lines, content, first, taken, 'max_bytes')
    room -= encoded.length
    if (room === 0 && first + taken - 1 < last) return result(lines, content, first, taken, 'max_bytes')
  }
  const isCut = taken === readMaxLines && first + taken - 1 < last
  if (isCut) return result(lines, content, first, taken, 'max_lines')
  return {
    ...result(lines, content, first, taken, null),
    line_to: shown.length === 0 ? last : first + taken - 1,
  }
}

function result(
  lines: readonly Span[],
  content: string,
  first: number,
  taken: number,
  reason: 'max_lines' | 'max_bytes' | null,
): ReadResult {
  const next = first + taken
  const whole = {
    content,
    total_lines: lines.length,
    line_from: first,
    line_to: next - 1,
    truncated: reason !== null,
    limits: { max_lines: readMaxLines, max_bytes: readMaxBytes },
  }
  if (reason === null) return whole
  return { ...whole, truncation: { reason, next_line: next, alternative: 'http_bulk_transfer' } }
}

/** The longest beginning of at most `room` bytes that ends at a character's end. */
function cutAt(encoded: Uint8Array, room: number): string {
  let end = room
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end--
  return decoder.decode(encoded.subarray(0, end))
}

function binaryAnswer(bytes: Uint8Array): ReadAnswer | null {
  const sample = bytes.subarray(0, sniffedBytes)
  if (sample.length === 0) return null
  const ratio = countReplaced(sample, bytes.length > sample.length) / sample.length
  if (!sample.includes(0) && ratio <= undecodableShare) return null
  const error =
    'Remote text read rejected a binary-looking file. Use the authenticated HTTP bulk transfer path instead.'
  const details = {
    type: 'binary_file',
    alternative: 'http_bulk_transfer',
    sample_bytes: sample.length,
    decode_error_ratio: ratio,
  }
  return { ok: false, error, code: 'BINARY_FILE', details }
}

/** Counts what does not decode. A character cut by the sample's end does not count when the file goes on. */
function countReplaced(sample: Uint8Array, isCut: boolean): number {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(sample, { stream: isCut })
  let count = 0
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', at + 1)) count++
  return count
}

import type { Refusal } from '../../model/error.ts'
import { assertNever } from '../../model/error.ts'
import { type ErrorCode, hintFor } from '../../model/error-codes.ts'

/** What came of a call. `unknown`: begun, and whether it took effect is not known; it is never done again. */
export type MinoKind = 'completed' | 'denied' | 'failed' | 'invalid_arguments' | 'unknown'

export interface MinoResult {
  readonly kind: MinoKind
  readonly text: string
}

const previewMaxLines = 20
const previewMaxBytes = 2048

/** The question below the screen; the cursor stays behind it. The default is no. */
export const approvalPrompt = 'Approve this operation? [y/N] '

const changedAfterApproval = 'File changed after approval; nothing was written.'
const deniedText = 'The operation was not approved; nothing was written.'
const unknownText =
  'The call was interrupted and may or may not have taken effect. Read the file before going on; the call is not repeated.'

const accountWarning =
  'Writes with your account permissions; approval applies only to this change to the current file.'

/** Refusals that can come only after the approval: the call was begun. All others are found by the check before it. */
const failsAfterApproval: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'changed-after-approval',
  'would-overwrite',
  'overlaps-uncommitted',
  'conflict',
  'branch-moved',
  'checked-out-elsewhere',
  'stale',
  'expired',
  'digest-mismatch',
  'not-approved',
  'checks-failed',
  'check-missing',
  'hook-refused',
  'in-progress',
  'unmerged',
  'locked',
  'busy',
  'io-error',
  'git-failed',
])

/** The check of a call, as the person sees it before saying yes. */
export type MinoScreen =
  | {
      readonly tool: 'edit_file'
      readonly path: string
      readonly projectDirectory: string
      /** Line of the first byte replaced, from 1. */
      readonly startingLine: number
      readonly remove: string
      readonly insert: string
      readonly resultingBytes: number
      readonly resultingLines: number
    }
  | {
      readonly tool: 'write_file'
      readonly path: string
      readonly projectDirectory: string
      /** Bytes of the file that is overwritten; null = there is none. */
      readonly existingBytes: number | null
      readonly content: string
    }

/** The part of a text that a screen shows; the rest only as a number of bytes. */
export interface TextPreview {
  /** Lines shown, each with its newline. */
  readonly lines: readonly string[]
  readonly restBytes: number
  readonly totalBytes: number
  /** Counts an unterminated last line. */
  readonly totalLines: number
}

const encoder = new TextEncoder()

/** The screen above {@link approvalPrompt}. Every value is quoted, in ASCII, so that what is shown is what is meant. */
export function screenText(screen: MinoScreen): string {
  const head = [
    `[Tool: ${screen.tool}]`,
    `Path: ${quoteAscii(screen.path)}`,
    `Project directory: ${quoteAscii(screen.projectDirectory)}`,
  ]
  return `${[...head, ...bodyLines(screen), accountWarning].join('\n')}\n`
}

/** Whether an answer approves: `y` or `yes`, in any case, blanks around it aside. Anything else denies. */
export const isApproval = (answer: string): boolean => /^(?:y|yes)$/i.test(answer.trim())

/** Cuts a text to 20 lines and 2 KiB, never inside a character. */
export function previewOf(text: string): TextPreview {
  const totalBytes = encoder.encode(text).length
  const all = linesOf(text)
  const lines: string[] = []
  let room = previewMaxBytes
  for (const line of all.slice(0, previewMaxLines)) {
    const part = fitting(line, room)
    if (part !== '') lines.push(part)
    room -= encoder.encode(part).length
    if (part !== line) break
  }
  const shownBytes = lines.reduce((sum, line) => sum + encoder.encode(line).length, 0)
  return { lines, restBytes: totalBytes - shownBytes, totalBytes, totalLines: all.length }
}

/** The answer to an edit or a write that was done. */
export function completedText(
  done:
    | {
        readonly kind: 'edited'
        readonly path: string
        readonly line: number
        readonly bytes: number
        readonly lines: number
      }
    | {
        readonly kind: 'created' | 'overwrote'
        readonly path: string
        readonly bytes: number
        readonly lines: number
      },
): string {
  const size = sizeText(done.bytes, done.lines)
  switch (done.kind) {
    case 'edited':
      return `Edited ${done.path} at line ${done.line} (${size}).`
    case 'created':
      return `Created ${done.path} (${size}).`
    case 'overwrote':
      return `Overwrote ${done.path} (${size}).`
    default:
      return assertNever(done)
  }
}

/**
 * The result of a call that galley refused: what was wrong and, where nothing was begun, what to do next.
 *
 * `changed-after-approval` has the fixed sentence. A fault of galley's own is `unknown`.
 */
export function refusedResult(refusal: Refusal): MinoResult {
  const { code, message } = refusal
  if (code === 'denied') return { kind: 'denied', text: deniedText }
  if (code === 'changed-after-approval') return { kind: 'failed', text: changedAfterApproval }
  if (code === 'internal') return { kind: 'unknown', text: unknownText }
  const text = `${sentence(message)} ${refusal.hint ?? hintFor(code)}`
  return { kind: failsAfterApproval.has(code) ? 'failed' : 'invalid_arguments', text }
}

/** Quotes a text in double quotes and printable ASCII: `\n`, `\x1b`, `\u00e9`, `\U0001f600`. */
export function quoteAscii(text: string): string {
  let quoted = ''
  for (const character of text) quoted += asciiOf(character)
  return `"${quoted}"`
}

/** A message as a sentence of its own. */
const sentence = (message: string): string =>
  `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`

function bodyLines(screen: MinoScreen): readonly string[] {
  if (screen.tool === 'write_file') {
    const preview = previewOf(screen.content)
    const { existingBytes } = screen
    const operation =
      existingBytes === null
        ? 'Create a new file'
        : `Overwrite the existing file (${countText(existingBytes, 'byte')})`
    return [
      operation,
      `Content (${totalsText(preview)}):`,
      ...preview.lines.map((line) => `  ${quoteAscii(line)}`),
      `Resulting file: "${sizeText(preview.totalBytes, preview.totalLines)}"`,
    ]
  }
  return [
    `Starting line: "${screen.startingLine}"`,
    `Remove: ${fragmentText(screen.remove)}`,
    `Insert: ${fragmentText(screen.insert)}`,
    `Resulting file: "${sizeText(screen.resultingBytes, screen.resultingLines)}"`,
  ]
}

function fragmentText(text: string): string {
  const preview = previewOf(text)
  return `${quoteAscii(preview.lines.join(''))} (${totalsText(preview)})`
}

function totalsText({ totalBytes, totalLines, restBytes }: TextPreview): string {
  const rest = restBytes === 0 ? '' : `; ${countText(restBytes, 'byte')} not shown`
  return `${sizeText(totalBytes, totalLines)}${rest}`
}

const sizeText = (bytes: number, lines: number): string =>
  `${countText(bytes, 'byte')}, ${countText(lines, 'line')}`
const countText = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`

/** Lines with their newlines. */
function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const parts = text.split('\n')
  const last = parts.pop() ?? ''
  const lines = parts.map((part) => `${part}\n`)
  return last === '' ? lines : [...lines, last]
}

/** The longest beginning of a line that has at most `room` bytes. */
function fitting(line: string, room: number): string {
  let end = 0
  let bytes = 0
  for (const character of line) {
    bytes += encoder.encode(character).length
    if (bytes > room) break
    end += character.length
  }
  return line.slice(0, end)
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ['"', '\\"'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
])

function asciiOf(character: string): string {
  const short = shortEscapes.get(character)
  if (short !== undefined) return short
  const code = character.codePointAt(0) ?? 0
  if (code >= 0x20 && code < 0x7f) return character
  const hex = code.toString(16)
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`
  return code > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`
}

export { validateMinoArguments } from '../mino.ts'

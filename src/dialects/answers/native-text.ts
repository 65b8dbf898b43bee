import type { ToolItem } from '../../model/batch.ts'
import type { NativeRead } from '../../model/call.ts'
import type { Refusal } from '../../model/error.ts'
import { hintFor } from '../../model/error-codes.ts'
import type { ResolvedFile } from '../../model/resolution.ts'

/** Lines of one read where the call names no end; more are cut off. */
export const readMaxLines = 2000
/** Bytes of UTF-8 that one read shows; a longer answer is refused. */
const readMaxBytes = 262_144
/** Further refusals named below the first. */
const othersMax = 10

const LF = 0x0a
const encoder = new TextEncoder()
/** Of a file in another encoding, what is not UTF-8 shows as U+FFFD, which no edit can match. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** An argument of a call as text; empty where it is none. */
export function textOf(call: ToolItem, ...names: readonly string[]): string {
  const name = names.find((candidate) => Object.hasOwn(call.input, candidate))
  const value = name === undefined ? undefined : call.input[name]
  return typeof value === 'string' ? value : ''
}

/** What was found and what to do: galley's own words, for refusals of which the system has none. */
export function foundText(refusal: Refusal): string {
  const { changes } = refusal.data
  const changed = Array.isArray(changes) ? [`What changed:`, ...changes.map(String)] : []
  return [refusal.message, ...changed, refusal.hint ?? hintFor(refusal.code)].join('\n')
}

/** The refusals after the first, one line each. */
export function othersText(refusals: readonly Refusal[]): string {
  const others = refusals.slice(1)
  const listed = others.slice(0, othersMax).map(({ code, message }) => `\nalso ${code}: ${message}`)
  const more = others.length - listed.length
  return `${listed.join('')}${more > 0 ? `\nand ${more} more` : ''}`
}

/** A file's text, without its byte-order mark; bytes that are not UTF-8 as U+FFFD. */
export function decoded(bytes: Uint8Array): string {
  const text = decoder.decode(bytes)
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** Lines without their line feeds; a final one begins no further line. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Number of lines of a file: its line feeds, and one more for an unterminated tail. */
export function countLines(bytes: Uint8Array): number {
  let count = bytes.length > 0 && bytes.at(-1) !== LF ? 1 : 0
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count++
  return count
}

/** Lines as `cat -n` prints them: the number in six columns, a tab, the line. CRs of line ends are left out. */
export const numbered = (lines: readonly string[], from: number): string =>
  lines.map((line, index) => `${String(from + index).padStart(6)}\t${line.replace(/\r$/, '')}`).join('\n')

/** Some lines of a file. */
export interface LinePart {
  readonly lines: readonly string[]
  /** 1-based, inclusive; `to` is below `from` where there are none. */
  readonly from: number
  readonly to: number
  readonly total: number
}

/** Takes lines out of a text; `to` null or past the end = `most` lines or the end. */
export function partOf(text: string, from: number | null, to: number | null, most: number): LinePart {
  const all = linesOf(text)
  const first = from ?? 1
  const lines = all.slice(first - 1, to === null ? first - 1 + most : to)
  return { lines, from: first, to: first + lines.length - 1, total: all.length }
}

/** The lines around the changed ones of a file as it now is, for an answer that shows what an edit came to. */
export function snippetOf(
  bytes: Uint8Array,
  lines: { readonly from: number; readonly to: number },
  around: number,
): LinePart {
  return partOf(decoded(bytes), Math.max(1, lines.from - around), lines.to + around, readMaxLines)
}

/** The answer to a read, refused where it would be too long. */
export function shownRead(
  text: string,
  part: Pick<LinePart, 'from' | 'to' | 'total'>,
  tooLong: string,
): NativeRead {
  const bytes = encoder.encode(text).length
  if (bytes > readMaxBytes) {
    return { kind: 'refused', text: `${tooLong} (${bytes} bytes; at most ${readMaxBytes} are shown at once)` }
  }
  const isWhole = part.from <= 1 && part.to >= part.total
  return { kind: 'shown', text, lines: isWhole ? null : { from: part.from, to: part.to } }
}

/** Whether a file looks like no text: a NUL among its first bytes. */
export const looksBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, 8192).includes(0)

/** The bytes that a file has now; none where it is gone. */
export const bytesAfter = (file: ResolvedFile | undefined): Uint8Array =>
  file?.after.kind === 'file' ? file.after.bytes : new Uint8Array(0)

import type { Hunk, HunkLine } from '../model/edit.ts'
import { quote } from '../policy/quote.ts'
import { fault, isFault, type ParseFault } from './parse-fault.ts'
import { requestLines, withoutCr } from './request-lines.ts'

const BEGIN = '*** Begin Patch'
const END = '*** End Patch'
const ADD = '*** Add File: '
const DELETE = '*** Delete File: '
const UPDATE = '*** Update File: '
const MOVE = '*** Move to: '
const END_OF_FILE = '*** End of File'
const HEADERS = `"${ADD}{path}", "${DELETE}{path}" or "${UPDATE}{path}"`

/** First lines of a heredoc that came as the argument itself: GPT-4.1 writes it so. */
const HEREDOCS: ReadonlySet<string> = new Set(['<<EOF', "<<'EOF'", '<<"EOF"'])

const encoder = new TextEncoder()

/** One file of an envelope. Paths are as sent. */
export type EnvelopePart = { readonly path: string; readonly line: number } & (
  | { readonly kind: 'add'; readonly content: string }
  | { readonly kind: 'delete' }
  | {
      readonly kind: 'update'
      readonly to: string | null
      readonly toLine: number
      readonly hunks: readonly Hunk[]
    }
)

export interface Envelope {
  readonly kind: 'envelope'
  readonly parts: readonly EnvelopePart[]
}

/** The part or hunk that was read, and the index of the first line after it. */
type Read<T> = { readonly kind: 'read'; readonly value: T; readonly next: number } | ParseFault

interface Region {
  readonly lines: readonly string[]
  /** Index of the line that ends the envelope. */
  readonly end: number
  /** The envelope's own line endings are CRLF: the `\r` of every line is of the transport, not of the text. */
  readonly isCrlf: boolean
}

/**
 * Reads a Codex `apply_patch` envelope: Add File, Delete File and Update File with Move to, hunks with `@@` anchors
 * and `*** End of File`.
 *
 * Follows Codex's own parser (codex-rs/apply-patch), and reads several `@@` lines in a row as anchors, outermost
 * first, as OpenAI's description of the format does. Only the lines of headers are trimmed: below an Update header a
 * line that begins with a space is content whatever it looks like.
 */
export function parseEnvelope(text: string): Envelope | ParseFault {
  const split = requestLines(text)
  if (isFault(split)) return split
  const found = findRegion(split.lines)
  if (isFault(found)) return found
  const parts: EnvelopePart[] = []
  for (let at = found.start; at < found.region.end; ) {
    const part = readPart(found.region, at)
    if (isFault(part)) return part
    parts.push(part.value)
    at = part.next
  }
  if (parts.length === 0) {
    return fault(found.start, 'the patch names no file', { code: 'empty-batch' })
  }
  return { kind: 'envelope', parts }
}

function findRegion(
  lines: readonly string[],
): { readonly region: Region; readonly start: number } | ParseFault {
  let first = lines.findIndex((line) => line.trim() !== '')
  let last = lines.findLastIndex((line) => line.trim() !== '')
  if (first === -1) return fault(1, 'the patch is empty', { code: 'empty-batch' })
  const isHeredoc = HEREDOCS.has(trimmed(lines, first)) && trimmed(lines, last).endsWith('EOF')
  if (isHeredoc && last - first >= 3) {
    first++
    last--
  }
  if (trimmed(lines, first) !== BEGIN) {
    return fault(first + 1, `found ${quote(trimmed(lines, first))}; the first line must be "${BEGIN}"`)
  }
  if (last === first || trimmed(lines, last) !== END) {
    return fault(last + 1, `found ${quote(trimmed(lines, last))}; the last line must be "${END}"`)
  }
  const isCrlf = lines[first]?.endsWith('\r') === true
  return { region: { lines, end: last, isCrlf }, start: first + 1 }
}

const trimmed = (lines: readonly string[], at: number): string => (lines[at] ?? '').trim()

function readPart(region: Region, at: number): Read<EnvelopePart> {
  const header = trimmed(region.lines, at)
  const line = at + 1
  if (header.startsWith(DELETE)) {
    const part = { kind: 'delete', path: header.slice(DELETE.length), line } as const
    return { kind: 'read', value: part, next: at + 1 }
  }
  if (header.startsWith(ADD)) return readAdd(region, at, header.slice(ADD.length))
  if (header.startsWith(UPDATE)) return readUpdate(region, at, header.slice(UPDATE.length))
  const hint =
    header === END
      ? 'Send each envelope as an edit of its own.'
      : 'Below "*** Add File" every line of the file begins with "+".'
  return fault(line, `found ${quote(header)}; expected ${HEADERS}`, { hint })
}

function readAdd(region: Region, at: number, path: string): Read<EnvelopePart> {
  const added: string[] = []
  let next = at + 1
  for (; next < region.end; next++) {
    const line = region.lines[next] ?? ''
    if (!line.startsWith('+')) break
    added.push(`${region.isCrlf ? withoutCr(line.slice(1)) : line.slice(1)}\n`)
  }
  return { kind: 'read', value: { kind: 'add', path, line: at + 1, content: added.join('') }, next }
}

function readUpdate(region: Region, at: number, path: string): Read<EnvelopePart> {
  let next = at + 1
  const moveLine = withoutCr(region.lines[next])
  const to = next < region.end && moveLine.startsWith(MOVE) ? moveLine.slice(MOVE.length).trim() : null
  if (to !== null) next++
  const hunks: Hunk[] = []
  while (next < region.end) {
    const line = region.lines[next] ?? ''
    if (line.startsWith('*')) break
    if (line.trim() === '') {
      next++
      continue
    }
    const hunk = readHunk(region, next, hunks.length === 0)
    if (isFault(hunk)) return { ...hunk, path }
    hunks.push(hunk.value)
    next = hunk.next
  }
  if (hunks.length === 0 && to === null) {
    return fault(at + 1, `the update of ${quote(path)} has no hunk and moves nothing`, { path })
  }
  return { kind: 'read', value: { kind: 'update', path, line: at + 1, to, toLine: at + 2, hunks }, next }
}

function readHunk(region: Region, at: number, isFirst: boolean): Read<Hunk> {
  const head = readAnchors(region, at)
  if (isFault(head)) return head
  if (head.next === at && !isFirst) {
    return fault(at + 1, `found ${quote(region.lines[at] ?? '')}; a further hunk begins with "@@"`)
  }
  const lines: HunkLine[] = []
  let next = head.next
  for (; next < region.end; next++) {
    const line = hunkLine(withoutCr(region.lines[next]))
    if (line === null) break
    lines.push(line)
  }
  const stop = next < region.end ? withoutCr(region.lines[next]) : null
  if (lines.length === 0) {
    const seen = stop === null ? 'the patch ends' : `found ${quote(stop)}`
    return fault(next + 1, `${seen}; a hunk's lines begin with " ", "+" or "-"`)
  }
  const endOfFile = stop === END_OF_FILE
  if (endOfFile) next++
  return placed({ anchors: head.value, oldStart: null, lines, endOfFile, sourceLine: at + 1 }, next)
}

/** Reads `@@` lines: all but the last must name something to be anchors of what follows. */
function readAnchors(region: Region, at: number): Read<readonly string[]> {
  const anchors: string[] = []
  let next = at
  for (let isBare = false; next < region.end; next++) {
    const line = withoutCr(region.lines[next])
    if (line !== '@@' && !line.startsWith('@@ ')) break
    if (isBare) return fault(next + 1, 'the hunk before this "@@" has no lines')
    const anchor = line.slice(3)
    isBare = anchor.trim() === ''
    if (!isBare) anchors.push(anchor)
  }
  return { kind: 'read', value: anchors, next }
}

function hunkLine(line: string): HunkLine | null {
  const text = encoder.encode(line.slice(1))
  // A line without its leading space is the empty context line that an editor trimmed.
  if (line === '' || line.startsWith(' ')) return { kind: 'context', text }
  if (line.startsWith('+')) return { kind: 'add', text }
  if (line.startsWith('-')) return { kind: 'remove', text }
  return null
}

/**
 * A hunk that only adds goes to the end of the file, as in Codex. Below an anchor it is refused: Codex would still put
 * it at the end, and other readers of the format below the anchor.
 */
function placed(hunk: Hunk, next: number): Read<Hunk> {
  if (hunk.endOfFile || hunk.lines.some((line) => line.kind !== 'add'))
    return { kind: 'read', value: hunk, next }
  if (hunk.anchors.length === 0) return { kind: 'read', value: { ...hunk, endOfFile: true }, next }
  const message = `the hunk below ${quote(hunk.anchors.at(-1) ?? '')} only adds lines, so its place is not clear`
  return fault(hunk.sourceLine, message, {
    hint: 'Quote a line of the file next to the new ones, or end the hunk with "*** End of File".',
  })
}

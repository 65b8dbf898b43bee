import { quote } from '../policy/quote.ts'
import { type BlockLine, blockLine, closingSign, lineHint, unescaped } from './blocks-markers.ts'
import { type BlockName, nameAbove } from './blocks-name.ts'
import { fault, isFault, type ParseFault } from './parse-fault.ts'
import { requestLines, withoutCr } from './request-lines.ts'

/** One SEARCH/REPLACE block. */
export interface Block {
  /** Line of its SEARCH marker, from 1. */
  readonly line: number
  readonly name: BlockName
  /** Where the file's lines to find begin, from 1; null = not said. */
  readonly startLine: number | null
  readonly search: readonly string[]
  readonly replace: readonly string[]
}

interface BlockList {
  readonly kind: 'blocks'
  readonly blocks: readonly Block[]
}

type Read<T> = { readonly kind: 'read'; readonly value: T; readonly next: number } | ParseFault

/**
 * Reads a text for SEARCH/REPLACE blocks. Prose and fences between them are passed over; a line that looks like a
 * marker out of place is a fault, because it is either a block that would be lost or content that would be cut.
 *
 * @param isStrict - Nothing but blocks is expected, as in the `diff` argument of a tool: a divider alone is a fault.
 */
export function parseBlocks(text: string, isStrict: boolean): BlockList | ParseFault {
  const split = requestLines(text)
  if (isFault(split)) return split
  const { lines } = split
  const blocks: Block[] = []
  let floor = 0
  for (let at = 0; at < lines.length; ) {
    const marker = blockLine(withoutCr(lines[at]))
    if (marker.kind === 'text' || (marker.kind === 'divider' && !isStrict)) {
      at++
      continue
    }
    if (marker.kind !== 'search') return outOfPlace(lines, at, 'a SEARCH marker')
    const name = nameAbove(lines, at, floor)
    const block = readBlock(lines, at, marker, name)
    if (isFault(block)) return block
    blocks.push(block.value)
    at = block.next
    floor = block.next
  }
  if (blocks.length > 0) return { kind: 'blocks', blocks }
  return fault(1, 'the text has no SEARCH/REPLACE block', { hint: markersHint })
}

const markersHint =
  'A block is "<<<<<<< SEARCH", the lines to find, "=======", the new lines, ">>>>>>> REPLACE", each marker alone on its line.'

function outOfPlace(lines: readonly string[], at: number, expected: string): ParseFault {
  const hint = `${markersHint} A content line that looks like a marker takes a backslash before it.`
  return fault(at + 1, `found ${quote(lines[at] ?? '')}; expected ${expected}`, { hint })
}

function readBlock(
  lines: readonly string[],
  at: number,
  marker: Extract<BlockLine, { readonly length: number }>,
  name: BlockName,
): Read<Block> {
  // A text with CRLF lines has one on its markers too; it is then of the text, not of the file.
  const isCrlf = lines[at]?.endsWith('\r') === true
  const hints = readHints(lines, at + 1)
  if (isFault(hints)) return hints
  const search = readSide(lines, hints.next, { sign: '=', length: marker.length, isCrlf, isSearch: true })
  if (isFault(search)) return search
  const closing = { sign: closingSign(marker.sign), length: marker.length, isCrlf, isSearch: false }
  const replace = readSide(lines, search.next, closing)
  if (isFault(replace)) return replace
  const block = { line: at + 1, name, startLine: hints.value, search: search.value, replace: replace.value }
  return { kind: 'read', value: block, next: replace.next }
}

/** Reads `:start_line:`, `:end_line:` and the `-------` below them. The end is implied by the lines to find. */
function readHints(lines: readonly string[], at: number): Read<number | null> {
  let start: number | null = null
  let next = at
  for (; ; next++) {
    const hint = lineHint(withoutCr(lines[next]))
    if (hint === null) break
    if (hint.line === null)
      return fault(next + 1, `${quote(lines[next] ?? '')} names no line; lines count from 1`)
    if (hint.name === 'start') start = hint.line
  }
  if (next > at && /^-{7}[ \t]*$/.test(withoutCr(lines[next]))) next++
  return { kind: 'read', value: start, next }
}

interface Side {
  readonly sign: string
  readonly length: number
  readonly isCrlf: boolean
  readonly isSearch: boolean
}

function readSide(lines: readonly string[], at: number, side: Side): Read<readonly string[]> {
  const content: string[] = []
  const expected = `"${side.sign.repeat(side.length)}${side.isSearch ? '' : ' REPLACE'}"`
  for (let next = at; next < lines.length; next++) {
    const line = lines[next] ?? ''
    const plain = withoutCr(line)
    const marker = blockLine(plain)
    const isEnd = 'sign' in marker && marker.sign === side.sign && marker.length === side.length
    if (isEnd) return { kind: 'read', value: content, next: next + 1 }
    if (isMarkerIn(marker, plain, side) || (!side.isSearch && lineHint(plain) !== null)) {
      return outOfPlace(lines, next, expected)
    }
    content.push(unescaped(side.isCrlf ? plain : line))
  }
  return fault(lines.length, `the text ends inside a block; expected ${expected}`, { hint: markersHint })
}

/**
 * A divider of another length is content: headings are underlined so. What is indented is content too; if it was meant
 * as a marker, the block does not end and is refused for that.
 */
function isMarkerIn(marker: BlockLine, line: string, side: Side): boolean {
  if (marker.kind === 'divider') return marker.length === side.length
  return marker.kind !== 'text' && !/^[ \t]/.test(line)
}

import type { ItemResult } from '../model/resolution.ts'
import type { ChangedRegion } from './line-origins.ts'
import type { LineTable } from './lines.ts'
import type { Claim } from './outcome.ts'

type Lines = NonNullable<ItemResult['oldLines']>

/** Where an edit stood and stands, by line numbers (1-based, inclusive). */
export interface ChangedLines {
  readonly oldLines?: Lines
  readonly newLines?: Lines
}

/** What a step did to the lines of one file. */
export interface LineChanges {
  readonly byClaim: ReadonlyMap<Claim, ChangedLines>
  /** From top to bottom. */
  readonly regions: readonly ChangedRegion[]
}

/**
 * For each claim of the sorted list, the lines it changed, in the file as it was and as it now is.
 *
 * Lines that only begin to exist have no old lines; lines that are gone have no new ones.
 */
export function changedLines(table: LineTable, sorted: readonly Claim[]): LineChanges {
  const terminator = table.usesCr ? 13 : 10
  const byClaim = new Map<Claim, ChangedLines>()
  const regions: ChangedRegion[] = []
  let shift = 0
  let openEnd = table.isUnterminated
  for (const claim of sorted) {
    const end = claim.offset + claim.length
    const separated = claim.ownLine !== null && openEnd
    if (end === table.bytes.length) openEnd = leavesLineOpen(table, claim, terminator)
    const first = lineNumber(table, claim.offset) + (separated ? 1 : 0)
    const added = countByte(claim.replacement, terminator)
    const removed = countByte(table.bytes.subarray(claim.offset, end), terminator)
    const newFrom = first + shift
    const newLines = newLinesOf({ claim, from: newFrom, added, table, terminator })
    byClaim.set(claim, { ...oldLinesOf(table, claim), ...newLines })
    shift += added - removed + (separated ? 1 : 0)
    const newEnd = newLines.newLines === undefined ? newFrom : newLines.newLines.to + 1
    regions.push({ newFrom, newEnd, shift })
  }
  return { byClaim, regions }
}

function leavesLineOpen(table: LineTable, claim: Claim, terminator: number): boolean {
  if (claim.replacement.length > 0) return !endsWith(claim.replacement, terminator)
  return !table.isLineStart(claim.offset)
}

/** The line that begins or continues at the offset; the end of a terminated file is a line of its own. */
function lineNumber(table: LineTable, offset: number): number {
  if (offset >= table.bytes.length && !table.isUnterminated) return table.count + 1
  return table.lineAt(offset) + 1
}

function oldLinesOf(table: LineTable, claim: Claim): ChangedLines {
  if (claim.length === 0) return {}
  const last = claim.offset + claim.length - 1
  return { oldLines: { from: table.lineAt(claim.offset) + 1, to: table.lineAt(last) + 1 } }
}

function newLinesOf(place: {
  readonly claim: Claim
  readonly from: number
  readonly added: number
  readonly table: LineTable
  readonly terminator: number
}): ChangedLines {
  const { claim, from, added, table, terminator } = place
  const end = claim.offset + claim.length
  if (claim.replacement.length === 0) {
    const isWhole = table.isLineStart(claim.offset) && (table.isLineStart(end) || end === table.bytes.length)
    return isWhole ? {} : { newLines: { from, to: from } }
  }
  const to = from + added - (endsWith(claim.replacement, terminator) ? 1 : 0)
  return { newLines: { from, to: Math.max(from, to) } }
}

const endsWith = (bytes: Uint8Array, byte: number): boolean => bytes[bytes.length - 1] === byte

function countByte(bytes: Uint8Array, byte: number): number {
  let count = 0
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count++
  return count
}

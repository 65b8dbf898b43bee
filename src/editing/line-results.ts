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
  /** Where the claim before ended, and whether it left its last line open. */
  let reached = { end: -1, isOpen: false }
  sorted.forEach((claim, index) => {
    const end = claim.offset + claim.length
    const isOpen = claim.offset === reached.end ? reached.isOpen : isInLine(table, claim.offset)
    const separated = claim.ownLine !== null && isOpen
    const leavesOpen =
      claim.replacement.length > 0 ? !endsWith(claim.replacement, terminator) : isOpen && !separated
    reached = { end, isOpen: leavesOpen }
    const added = countByte(claim.replacement, terminator)
    const removed = countByte(table.bytes.subarray(claim.offset, end), terminator)
    const newFrom = lineNumber(table, claim.offset) + (separated ? 1 : 0) + shift
    const isClean = !leavesOpen && (end === table.bytes.length || table.isLineStart(end))
    const newTo = newFrom + added - (isClean ? 1 : 0)
    const joins = !isClean && end < table.bytes.length && !isSeparated(sorted[index + 1], end)
    byClaim.set(claim, {
      ...oldLinesOf(table, claim, joins),
      ...(newTo < newFrom ? {} : { newLines: { from: newFrom, to: newTo } }),
    })
    shift += added - removed + (separated ? 1 : 0)
    regions.push({ newFrom, newEnd: Math.max(newFrom, newTo + 1), shift })
  })
  return { byClaim, regions }
}

/** Whether the text before the offset leaves a line open. */
const isInLine = (table: LineTable, offset: number): boolean =>
  offset === table.bytes.length ? table.isUnterminated : !table.isLineStart(offset)

const isSeparated = (next: Claim | undefined, end: number): boolean =>
  next !== undefined && next.offset === end && next.ownLine !== null

/** The line that begins or continues at the offset; the end of a terminated file is a line of its own. */
function lineNumber(table: LineTable, offset: number): number {
  if (offset >= table.bytes.length && !table.isUnterminated) return table.count + 1
  return table.lineAt(offset) + 1
}

/** @param joins - the line that follows has been joined to the claim's last one: it has changed as well. */
function oldLinesOf(table: LineTable, claim: Claim, joins: boolean): ChangedLines {
  if (claim.length === 0 && !joins) return {}
  const end = claim.offset + claim.length
  const last = joins ? end : end - 1
  return { oldLines: { from: table.lineAt(claim.offset) + 1, to: table.lineAt(last) + 1 } }
}

const endsWith = (bytes: Uint8Array, byte: number): boolean => bytes[bytes.length - 1] === byte

function countByte(bytes: Uint8Array, byte: number): number {
  let count = 0
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count++
  return count
}

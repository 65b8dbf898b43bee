import type { PastChange } from './draft.ts'

/** A place that a step changed: lines from `newFrom` up to `newEnd` are its own; later ones moved by `shift`. */
export interface ChangedRegion {
  readonly newFrom: number
  /** Exclusive. */
  readonly newEnd: number
  /** Lines that the step had added, less those removed, down to here. */
  readonly shift: number
}

/**
 * The line's number at the batch's beginning; null where the batch itself wrote the line.
 *
 * @param line 1-based, in the text as the steps so far left it.
 */
export function lineAtBeginning(past: readonly PastChange[], line: number): number | null {
  let at = line
  for (let i = past.length - 1; i >= 0; i--) {
    const change = past[i]
    if (change === undefined || change.kind === 'whole') return null
    const region = lastRegion(change.regions, at)
    if (region === undefined) continue
    if (at < region.newEnd) return null
    at -= region.shift
  }
  return at
}

function lastRegion(regions: readonly ChangedRegion[], line: number): ChangedRegion | undefined {
  let low = 0
  let high = regions.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((regions[middle]?.newFrom ?? 0) <= line) low = middle + 1
    else high = middle
  }
  return regions[low - 1]
}

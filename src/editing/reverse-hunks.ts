import type { LineHunk } from './diff-lines.ts'
import { lineStarts } from './line-starts.ts'

/** A hunk to be taken back, or to have other lines than those of either side. */
export type TakenHunk = LineHunk & { readonly instead?: Uint8Array }

/**
 * Takes some hunks of a change back: `after`, with the lines of each hunk as they stand in `before`, or as `instead` says.
 *
 * @param hunks - Hunks of the line diff from `before` to `after`, or parts of them, each once, in any order. All of them give `before`.
 */
export function reverseHunks(before: Uint8Array, after: Uint8Array, hunks: readonly TakenHunk[]): Buffer {
  const [old, fresh] = [lineStarts(before), lineStarts(after)]
  const parts: Uint8Array[] = []
  let at = 0
  for (const hunk of [...hunks].sort((a, b) => a.newStart - b.newStart || a.oldStart - b.oldStart)) {
    const fromLine = firstLine(hunk.newStart, hunk.newCount)
    parts.push(after.subarray(at, fresh[fromLine] ?? after.length))
    const oldLine = firstLine(hunk.oldStart, hunk.oldCount)
    const lines = before.subarray(
      old[oldLine] ?? before.length,
      old[oldLine + hunk.oldCount] ?? before.length,
    )
    parts.push(hunk.instead ?? lines)
    at = fresh[fromLine + hunk.newCount] ?? after.length
    // An editor may have left the last line feed out: the next line is another one all the same.
    if (
      at < after.length &&
      hunk.instead !== undefined &&
      hunk.instead.length > 0 &&
      hunk.instead.at(-1) !== LF
    )
      parts.push(LINE_FEED)
  }
  parts.push(after.subarray(at))
  return Buffer.concat(parts)
}

const LF = 10
const LINE_FEED = Uint8Array.of(LF)

/** Index of the first line; a hunk without lines on a side names the line before the place. */
const firstLine = (start: number, count: number): number => (count > 0 ? start - 1 : start)

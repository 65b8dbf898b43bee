import type { FileText } from './file-text.ts'
import type { LineRange } from './line-range.ts'

/**
 * How far lines have moved since a file was read: the named lines and their direct neighbours must stand, unchanged, at
 * exactly one place of the file as it now is.
 *
 * Returns the distance in lines, or null where there is no such place or more than one.
 */
export function distanceMoved(read: FileText, current: FileText, named: LineRange): number | null {
  const { lines } = read
  if (named.from < 1 || named.to > lines.count || named.from > named.to) return null
  const first = Math.max(named.from - 1, 1)
  const last = Math.min(named.to + 1, lines.count)
  const block = read.bytes.subarray(lines.start(first - 1), lines.end(last - 1))
  const places = current.finder.find(block, {
    limit: 2,
    accept: (offset) => current.lines.isLineStart(offset) && current.lines.isLineEnd(offset + block.length),
  })
  const [place] = places
  if (place === undefined || places.length > 1) return null
  return current.lines.lineAt(place) + 1 - first
}

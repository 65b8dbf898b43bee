import { limits } from '../model/limits.ts'
import { lineHunks } from './diff-lines.ts'
import { showText } from './show-text.ts'

const SIGNS = { context: ' ', add: '+', remove: '-' } as const
const LINES_MAX = 24
const LINE_CHARACTERS_MAX = 120

/**
 * What changed in a file since it was read, as the first lines of a diff with one line of context; invisible characters
 * are written out.
 */
export function changedSince(read: Uint8Array, current: Uint8Array): readonly string[] {
  const all = lineHunks(read, current, 1).flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldCount} +${hunk.newStart},${hunk.newCount} @@`,
    ...hunk.lines.slice(0, LINES_MAX).map((line) => SIGNS[line.kind] + shortened(showText(line.text))),
  ])
  return all.length <= LINES_MAX ? all : [...all.slice(0, LINES_MAX), '…']
}

const shortened = (text: string): string =>
  text.length <= LINE_CHARACTERS_MAX
    ? text
    : `${text.slice(0, Math.min(LINE_CHARACTERS_MAX, limits.quoteMaxCharacters))}…`

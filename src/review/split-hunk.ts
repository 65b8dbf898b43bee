import type { LineHunk } from '../editing/diff-lines.ts'
import type { HunkLine } from '../model/edit.ts'

/**
 * The parts of a hunk that can be decided on one by one: its runs of changed lines; where it has a single one, the stretches between
 * blank lines that it adds. Together they hold every line once, in order. One part = it cannot be split.
 */
export function splitHunk(hunk: LineHunk): readonly LineHunk[] {
  const runs = cutWhere(hunk.lines, (before, line) => line.kind === 'context' && before?.kind !== 'context')
  const cut =
    runs.length > 1 ? runs : cutWhere(hunk.lines, (before) => before?.kind === 'add' && isBlank(before))
  const parts = withoutLooseEnd(cut)
  let [oldNext, newNext] = [firstOf(hunk.oldStart, hunk.oldCount), firstOf(hunk.newStart, hunk.newCount)]
  return parts.map((lines) => {
    const oldCount = lines.filter(({ kind }) => kind !== 'add').length
    const newCount = lines.filter(({ kind }) => kind !== 'remove').length
    const oldStart = oldCount > 0 ? oldNext : oldNext - 1
    const newStart = newCount > 0 ? newNext : newNext - 1
    oldNext += oldCount
    newNext += newCount
    return { oldStart, oldCount, newStart, newCount, lines }
  })
}

/** Cuts before each line of which `begins` says so. Lines without a change in them stay with their neighbours. */
function cutWhere(
  lines: readonly HunkLine[],
  begins: (before: HunkLine | undefined, line: HunkLine) => boolean,
): readonly (readonly HunkLine[])[] {
  const parts: HunkLine[][] = [[]]
  for (const [index, line] of lines.entries()) {
    if (begins(lines[index - 1], line) && hasChange(parts.at(-1) ?? [])) parts.push([])
    parts.at(-1)?.push(line)
  }
  const last = parts.at(-1) ?? []
  if (parts.length > 1 && !hasChange(last)) parts.splice(-2, 2, [...(parts.at(-2) ?? []), ...last])
  return parts
}

/** A line without a line feed ends a file: no part may come after it, or the two would run together where one is taken back alone. */
function withoutLooseEnd(parts: readonly (readonly HunkLine[])[]): readonly (readonly HunkLine[])[] {
  const loose = parts.findIndex((lines) => lines.some(({ unterminated }) => unterminated === true))
  return loose === -1 ? parts : [...parts.slice(0, loose), parts.slice(loose).flat()]
}

const hasChange = (lines: readonly HunkLine[]): boolean => lines.some(({ kind }) => kind !== 'context')
const isBlank = ({ text }: HunkLine): boolean =>
  text.every((byte) => byte === 32 || byte === 9 || byte === 13)
const firstOf = (start: number, count: number): number => (count > 0 ? start : start + 1)

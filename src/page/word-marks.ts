import { diffWordsWithSpace } from 'diff'
import type { PageLine } from './page-values.ts'

const LONGEST = 1_000

/** A stretch of a line, and whether it is what differs. */
export type Marked = readonly (readonly [text: string, isChanged: boolean])[]

/** What differs between the two lines of a pair; null where marks would say nothing. */
export function wordMarks(
  before: PageLine,
  after: PageLine,
): { readonly left: Marked; readonly right: Marked } | null {
  const [old, fresh] = [before.text, after.text]
  if (typeof old !== 'string' || typeof fresh !== 'string') return null
  if (old.length > LONGEST || fresh.length > LONGEST) return null
  const parts = diffWordsWithSpace(old, fresh)
  const same = parts.reduce(
    (sum, part) => sum + (part.added || part.removed ? 0 : part.value.trim().length),
    0,
  )
  if (same * 3 < Math.max(old.trim().length, fresh.trim().length)) return null
  return {
    left: parts.flatMap((part) => (part.added ? [] : [[part.value, part.removed === true] as const])),
    right: parts.flatMap((part) => (part.removed ? [] : [[part.value, part.added === true] as const])),
  }
}

/** For each changed line of a hunk its partner: runs that take away and bring are paired line by line. */
export function partners(lines: readonly PageLine[]): ReadonlyMap<PageLine, PageLine> {
  const found = new Map<PageLine, PageLine>()
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, 'remove')
    const added = runOf(lines, at + removed.length, 'add')
    if (removed.length > 0 && removed.length === added.length)
      removed.forEach((line, index) => {
        const other = added[index]
        if (other === undefined) return
        found.set(line, other)
        found.set(other, line)
      })
    at += Math.max(1, removed.length + added.length)
  }
  return found
}

function runOf(lines: readonly PageLine[], from: number, kind: PageLine['kind']): readonly PageLine[] {
  let to = from
  while (lines[to]?.kind === kind) to++
  return lines.slice(from, to)
}

import { diffWordsWithSpace } from 'diff'
import type { Body, BodyLine } from './body.ts'
import type { Paint } from './draw-line.ts'

/** Longer lines, and longer runs of changed lines, have no marks. */
const MOST_UNITS = 1_000
const MOST_LINES = 200
const MOST_EDITS = 300
/** Two lines that share less than this part of their text are no two versions of one. */
const LEAST_SHARED = 0.4
const MARKED = '4;1'

const known = new WeakMap<BodyLine, readonly Paint[]>()
const decoder = new TextDecoder()

/** The words of a changed line that its other version has not. Lines are paired in their order, run by run. */
export function wordMarks({ lines }: Body, index: number): readonly Paint[] {
  const line = lines[index]
  if (line === undefined || (line.kind !== 'add' && line.kind !== 'remove')) return []
  const made = known.get(line)
  if (made !== undefined) return made
  const run = runAround(lines, index)
  for (const one of run) known.set(one, [])
  const removed = run.filter(({ kind }) => kind === 'remove')
  const added = run.filter(({ kind }) => kind === 'add')
  if (run.length <= MOST_LINES)
    for (const [i, old] of removed.entries()) {
      const fresh = added[i]
      if (fresh !== undefined) pair(old, fresh)
    }
  return known.get(line) ?? []
}

function runAround(lines: readonly BodyLine[], index: number): readonly BodyLine[] {
  const isChanged = (i: number) => lines[i]?.kind === 'add' || lines[i]?.kind === 'remove'
  let [from, to] = [index, index + 1]
  while (isChanged(from - 1) && index - from < MOST_LINES) from--
  while (isChanged(to) && to - index < MOST_LINES) to++
  return lines.slice(from, to)
}

function pair(old: BodyLine, fresh: BodyLine): void {
  const [before, after] = [textOf(old), textOf(fresh)]
  if (before.length > MOST_UNITS || after.length > MOST_UNITS) return
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MOST_EDITS, timeout: 20 })
  if (parts === undefined) return
  const shared = parts.reduce(
    (sum, part) => sum + (part.added || part.removed ? 0 : part.value.trim().length),
    0,
  )
  if (shared < LEAST_SHARED * Math.max(before.trim().length, after.trim().length)) return
  const marks = { old: [] as Paint[], fresh: [] as Paint[] }
  let [oldAt, freshAt] = [0, 0]
  for (const { value, added, removed } of parts) {
    if (removed) marks.old.push({ from: oldAt, to: oldAt + value.length, style: MARKED })
    if (added) marks.fresh.push({ from: freshAt, to: freshAt + value.length, style: MARKED })
    if (!added) oldAt += value.length
    if (!removed) freshAt += value.length
  }
  known.set(old, marks.old)
  known.set(fresh, marks.fresh)
}

const textOf = ({ text }: BodyLine): string => (typeof text === 'string' ? text : decoder.decode(text))

import type { FileSummary } from '../model/change.ts'
import { paintFor } from './colour.ts'
import { visible } from './visible.ts'

export type StatFile = Pick<FileSummary, 'path' | 'renamedFrom' | 'added' | 'removed'>

export interface StatOptions {
  /** Columns to stay within; git's own habit without a terminal is 80. */
  readonly columns: number
  readonly isColoured: boolean
}

/** Draws `git diff --stat`: a line for each file, and one of sums. Safe for a terminal. */
export function renderStat(files: readonly StatFile[], options: StatOptions): string {
  const paint = paintFor(options.isColoured)
  const widths = widthsFor(files, options.columns)
  const lines = files.map((file) => {
    const name = shorten(nameOf(file), widths.name).padEnd(widths.name)
    if (isBinary(file)) return ` ${name} | ${'Bin'.padStart(widths.count)}`
    const [plus, minus] = graphOf(file, widths)
    const graph = `${paint.added('+'.repeat(plus))}${paint.removed('-'.repeat(minus))}`
    return ` ${name} | ${String(countOf(file)).padStart(widths.count)}${graph === '' ? '' : ` ${graph}`}`
  })
  return [...lines, ` ${sumUp(files)}`].map((line) => `${line}\n`).join('')
}

interface Widths {
  readonly name: number
  readonly count: number
  readonly graph: number
  /** Lines of the file that changed most. */
  readonly largest: number
}

/** Shares the columns as git does (`show_stats` in its diff.c): three eighths for the graph where names are long. */
function widthsFor(files: readonly StatFile[], columns: number): Widths {
  const largest = Math.max(0, ...files.map(countOf))
  const longestName = Math.max(0, ...files.map((file) => nameOf(file).length))
  const count = Math.max(String(largest).length, files.some(isBinary) ? 3 : 0)
  const rest = Math.max(columns, 22 + count) - count - 6 // what " name | count graph" has besides name and graph
  if (longestName + largest <= rest) return { name: longestName, count, graph: largest, largest }
  const graph = Math.min(largest, Math.max(6, Math.floor((columns * 3) / 8) - count - 6))
  const name = Math.min(longestName, rest - graph)
  return { name, count, graph: name < longestName ? graph : rest - name, largest }
}

/** The line of sums, in git's words: `2 files changed, 41 insertions(+), 12 deletions(-)`. */
export function sumUp(files: readonly StatFile[]): string {
  const added = files.reduce((sum, file) => sum + (file.added ?? 0), 0)
  const removed = files.reduce((sum, file) => sum + (file.removed ?? 0), 0)
  const parts = [`${files.length} ${files.length === 1 ? 'file' : 'files'} changed`]
  if (added > 0 || removed === 0) parts.push(`${added} ${added === 1 ? 'insertion' : 'insertions'}(+)`)
  if (removed > 0 || added === 0) parts.push(`${removed} ${removed === 1 ? 'deletion' : 'deletions'}(-)`)
  return parts.join(', ')
}

const isBinary = (file: StatFile): boolean => file.added === null || file.removed === null
const countOf = (file: StatFile): number => (file.added ?? 0) + (file.removed ?? 0)

const nameOf = ({ path, renamedFrom }: StatFile): string =>
  // A line feed may stand in a path, and the list has one line for each.
  (renamedFrom === undefined ? visible(path) : `${visible(renamedFrom)} => ${visible(path)}`).replaceAll(
    '\n',
    '\\u{A}',
  )

/** Keeps the end of a name that is too long, from a folder on: the file's own name says more than the first folder. */
function shorten(name: string, columns: number): string {
  if (name.length <= columns) return name
  const end = name.slice(name.length - columns + 3)
  const slash = end.indexOf('/')
  return `...${slash === -1 ? end : end.slice(slash)}`
}

/** Columns of plus and minus, scaled by git's rule: a side that is not empty keeps one column. */
function graphOf(file: StatFile, { graph, largest }: Widths): readonly [plus: number, minus: number] {
  const added = file.added ?? 0
  const removed = file.removed ?? 0
  if (largest <= graph) return [added, removed]
  const scale = (count: number) => (count === 0 ? 0 : 1 + Math.floor((count * (graph - 1)) / largest))
  const total = Math.max(scale(added + removed), added > 0 && removed > 0 ? 2 : 0)
  const smaller = scale(Math.min(added, removed))
  return added < removed ? [smaller, total - smaller] : [total - smaller, smaller]
}

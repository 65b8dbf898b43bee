import { limits } from '../../model/limits.ts'
import { quote } from '../../policy/quote.ts'
import { type BytePath, shownPath } from '../../sys/walk-tree.ts'
import { type Beside, directoriesOf } from './sort-tree.ts'

/**
 * Folds what is kept beside a change into directories that hold nothing else: one rename moves such a directory, and one line names it. The name
 * of a directory ends in `/`.
 *
 * @param staying - All else that stands in the tree.
 */
export function foldBeside(beside: readonly Beside[], staying: Iterable<BytePath>): readonly Beside[] {
  if (beside.length === 0) return []
  const held = directoriesOf(staying)
  const folded = new Map<string, Beside>()
  for (const { path, why } of beside) {
    const top = topAlone(path, held)
    if (!folded.has(top)) folded.set(top, { path: top, why })
  }
  return [...folded.values()]
}

function topAlone(path: BytePath, held: ReadonlySet<BytePath>): BytePath {
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
    const directory = path.slice(0, end)
    if (!held.has(directory)) return `${directory}/`
  }
  return path
}

/** What is kept beside a change, each as a sentence. */
export function besideRemarks(beside: readonly Beside[]): readonly string[] {
  const shown = beside.slice(0, limits.failuresShown)
  const more = beside.length - shown.length
  return [
    ...shown.map(({ path, why }) => `${quote(shownPath(path))} was left out: ${why}`),
    ...(more > 0 ? [`${more} more files and directories were left out`] : []),
  ]
}

import { hasNul } from './bytes.ts'
import { type LineHunk, lineHunks } from './diff-lines.ts'

/** A file in the form that the tree has it: as committed, as its owner left it, as a change makes it. null = absent. */
export interface TakenVersions {
  readonly base: Uint8Array | null
  readonly mine: Uint8Array | null
  readonly next: Uint8Array | null
}

/**
 * Says what a change takes along of its owner's uncommitted work in a file, and what it does to that: neither can be read from a diff
 * between the commit and the change.
 */
export function takenText(versions: TakenVersions): string {
  const { base, mine, next } = versions
  if (mine === null) return 'takes the uncommitted deletion of this file along, and makes it anew'
  const sides = [base ?? none, mine, next ?? none]
  if (sides.some(hasNul)) {
    const isKept = next !== null && Buffer.compare(mine, next) === 0
    return `takes uncommitted work in a binary file along${isKept ? '' : ', and replaces it'}`
  }
  const own = lineHunks(base ?? none, mine, 0)
  const edited = lineHunks(mine, next ?? none, 0)
  const lines = own.reduce((sum, hunk) => sum + hunk.newCount, 0)
  const gone = own.reduce((sum, hunk) => sum + (hunk.newCount === 0 ? hunk.oldCount : 0), 0)
  const changed = own.reduce((sum, hunk) => sum + edited.reduce((n, edit) => n + shared(hunk, edit), 0), 0)
  if (lines === 0 && gone === 0) return 'takes an uncommitted change of its mode or line endings along'
  const taken = [
    ...(lines === 0 ? [] : [plural(lines, 'uncommitted line')]),
    ...(gone === 0 ? [] : [`the uncommitted removal of ${plural(gone, 'line')}`]),
  ]
  const effect = lines === 0 ? '' : `; it changes or removes ${changed === 0 ? 'none' : changed} of them`
  return `takes ${taken.join(' and ')} along${effect}`
}

const none = new Uint8Array(0)

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

/** How many of the lines that one diff added another takes away. */
function shared(own: LineHunk, edit: LineHunk): number {
  const from = Math.max(own.newStart, edit.oldStart)
  const to = Math.min(own.newStart + own.newCount, edit.oldStart + edit.oldCount)
  return Math.max(0, to - from)
}

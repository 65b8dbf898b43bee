import { type Edit, wordFor } from '../model/edit.ts'
import type { Failure } from '../model/resolution.ts'

type Kind = 'text' | 'content' | 'delete' | 'move' | 'copy' | 'mode'

function kindOf(edit: Edit): Kind {
  switch (edit.op) {
    case 'write':
    case 'delta':
      return 'content'
    case 'delete':
    case 'move':
    case 'copy':
      return edit.op
    case 'chmod':
      return 'mode'
    default:
      return 'text'
  }
}

/** Pairs of kinds that may meet on one path in one step. Copies read the file only, so they may meet anything. */
const compatible: ReadonlySet<string> = new Set([
  'text+text',
  'move+text',
  'mode+text',
  'mode+move',
  'content+mode',
])

function mayMeet(a: Edit, b: Edit): boolean {
  const kinds = [kindOf(a), kindOf(b)].sort()
  if (kinds.includes('copy')) return true
  if (a.op === 'chmod' && b.op === 'chmod') return a.executable === b.executable
  if (isDelta(a) || isDelta(b)) return kinds.includes('mode') || kinds.includes('move')
  return compatible.has(kinds.join('+'))
}

const isDelta = (edit: Edit): boolean => edit.op === 'delta'

/**
 * Edits of one path and one step that cannot be taken together: two contents, a deletion and anything else, two moves.
 *
 * The second of each such pair fails as `overlap`, naming the first.
 */
export function clashesOf(edits: readonly Edit[]): readonly Failure[] {
  const whole = edits.filter((edit) => kindOf(edit) !== 'text')
  const firstText = edits.find((edit) => kindOf(edit) === 'text')
  const failures: Failure[] = []
  const seen: Edit[] = firstText === undefined ? [] : [firstText]
  for (const edit of whole) {
    const other = seen.find((earlier) => !mayMeet(earlier, edit))
    if (other !== undefined) failures.push(clash(other, edit))
    else if (!seen.some((earlier) => earlier.op === edit.op)) seen.push(edit)
  }
  return failures
}

function clash(a: Edit, b: Edit): Failure {
  const [first, second] = a.item <= b.item ? [a, b] : [b, a]
  return {
    code: 'overlap',
    message: `edits ${first.item + 1} (${wordFor(first)}) and ${second.item + 1} (${wordFor(second)}) of ${b.path} cannot both be applied in one step`,
    data: { items: [first.item, second.item] },
    item: second.item,
    path: b.path,
  }
}

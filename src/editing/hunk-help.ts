import type { Hunk, HunksEdit, Tier } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import type { FileText } from './file-text.ts'
import { type Block, blockOf, findBlock } from './hunk-block.ts'
import { refusal } from './outcome.ts'

/** One hunk while its place is looked for. */
export interface HunkPlace {
  readonly file: FileText
  readonly edit: HunksEdit
  readonly hunk: Hunk
  /** Its number in the edit, from 0. */
  readonly index: number
  /** Index of the first line below the hunk before. */
  readonly fromLine: number
  readonly maxTier: Tier
}

/** How messages call the hunk. */
export const nameOf = ({ edit, hunk, index }: HunkPlace): string =>
  `patch of ${edit.path}: hunk ${index + 1} (line ${hunk.sourceLine} of the patch)`

/** Why the hunk's old lines have no place. */
export function explainMissing(place: HunkPlace, block: Block): Refusal {
  const { file, edit, hunk } = place
  const fresh = blockOf(edit.flavour, hunk, 'new')
  const done = findBlock(file, fresh, 'exact', { fromLine: place.fromLine, toLine: file.lines.count, limit: 2 })
  const [line] = done
  if (line !== undefined && done.length === 1) {
    return refusal('already-applied', `${nameOf(place)}: its result stands at line ${line + 1} already`, { line: line + 1 })
  }
  return refusal('no-match', `${nameOf(place)}: its ${block.lines.length} old lines do not stand in the file`)
}

import type { Hunk, HunksEdit, Tier } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import { hintOf, nearestClause } from './explain.ts'
import type { FileText } from './file-text.ts'
import { type Block, blockOf, findBlock } from './hunk-block.ts'
import { nearestPlace } from './nearest.ts'
import { refusal } from './outcome.ts'
import { showText } from './show-text.ts'

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
  const { file, edit, hunk, fromLine } = place
  const fresh = blockOf(edit.flavour, hunk, 'new')
  const done = provesItself(hunk)
    ? findBlock(file, fresh, 'exact', { fromLine, toLine: file.lines.count, limit: 2 })
    : []
  const [line] = done
  if (line !== undefined && done.length === 1) {
    return refusal('already-applied', `${nameOf(place)}: its result stands at line ${line + 1} already`, {
      line: line + 1,
    })
  }
  const what = `${nameOf(place)}: its ${block.lines.length} old lines do not stand in the file`
  if (!file.work.mayExplain()) return refusal('no-match', what, { blob: file.blob })
  const above =
    fromLine === 0 ? [] : findBlock(file, block, 'exact', { fromLine: 0, toLine: fromLine, limit: 1 })
  if (above[0] !== undefined) {
    const hint = 'Hunks go from top to bottom; put this one before the others.'
    return refusal(
      'no-match',
      `${what} below line ${fromLine}; they stand at line ${above[0] + 1}`,
      { line: above[0] + 1 },
      hint,
    )
  }
  const nearest = nearestPlace(file, textOf(block))
  const data = { blob: file.blob, ...(nearest === null ? {} : { nearest }) }
  return refusal('no-match', `${what}${nearestClause(nearest)}`, data, twiceNamed(hunk) ?? hintOf(nearest))
}

const textOf = (block: Block): string => block.lines.map((line) => line.toString('utf8')).join('\n')

/** Whether the result's lines say more than that the old ones are gone. */
function provesItself(hunk: Hunk): boolean {
  const adds = hunk.lines.some(
    (line) => line.kind === 'add' && Buffer.from(line.text).toString('latin1').trim() !== '',
  )
  const isFramed = hunk.lines[0]?.kind === 'context' && hunk.lines[hunk.lines.length - 1]?.kind === 'context'
  return adds || isFramed
}

/** Advice for a line that the hunk both keeps and removes: it must then stand in the file twice. */
function twiceNamed(hunk: Hunk): string | undefined {
  const old = hunk.lines.filter((line) => line.kind !== 'add')
  const twice = old.find((line, index) => {
    const next = old[index + 1]
    return next !== undefined && next.kind !== line.kind && Buffer.from(next.text).equals(line.text)
  })
  if (twice === undefined) return undefined
  return `The hunk both keeps and removes "${showText(twice.text)}": the file would have to hold that line twice. Give it once, as removed.`
}

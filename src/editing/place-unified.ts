import { type Hunk, type HunksEdit, type Tier, tiers } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import type { FileText } from './file-text.ts'
import { type Block, type BlockSearch, blockOf, findBlock, isOld } from './hunk-block.ts'
import { explainMissing, type HunkPlace, nameOf } from './hunk-help.ts'
import type { PlacedHunk } from './hunk-splices.ts'
import { refusal } from './outcome.ts'
import type { Placing } from './placing.ts'
import { rankOf } from './tiers.ts'

/**
 * Finds the places of a unified diff's hunks.
 *
 * A hunk stands at its line, moved by as much as the hunk before was off, if its old lines are there; otherwise there
 * must be exactly one place below the hunk before. What the numbers cannot prove the edges must: lines added after
 * context with nothing below it belong at the end of the file, and lines added at line 1 above context at its beginning
 * (the rules of `git apply`). The old blob's id proves every number, where the diff names it and the file is that blob;
 * where the diff names another blob, numbers alone prove nothing.
 */
export function placeUnified(file: FileText, edit: HunksEdit, maxTier: Tier): Placing {
  const placed: PlacedHunk[] = []
  const isProven = edit.preimage !== undefined && file.isBlob(edit.preimage)
  let offset = 0
  let fromLine = 0
  for (const [index, hunk] of edit.hunks.entries()) {
    const place = { file, edit, hunk, index, fromLine, maxTier }
    const found = hunk.lines.some(isOld)
      ? placeOld(place, offset, isProven)
      : placeByNumber(place, offset, isProven)
    if ('code' in found) return { kind: 'failed', refusal: found }
    placed.push(found)
    const oldCount = hunk.lines.filter(isOld).length
    if (hunk.oldStart !== null && oldCount > 0) offset = found.line - (hunk.oldStart - 1)
    fromLine = found.line + oldCount
  }
  return { kind: 'placed', hunks: placed }
}

/** Without old lines only the line number says where. */
function placeByNumber(place: HunkPlace, offset: number, isProven: boolean): PlacedHunk | Refusal {
  const { file, edit, hunk, fromLine } = place
  if (hunk.oldStart === null) {
    return refusal('parse-error', `${nameOf(place)} has neither old lines nor a line number`)
  }
  if (edit.preimage !== undefined && !isProven) return otherBlob(place, edit.preimage)
  const line = hunk.oldStart === 0 ? 0 : hunk.oldStart + offset
  if (!Number.isInteger(line) || line < fromLine || line > file.lines.count) {
    return refusal(
      'out-of-range',
      `${nameOf(place)} inserts after line ${line}; the file has ${file.lines.count} lines and the hunk before ends at ${fromLine}`,
      { totalLines: file.lines.count },
    )
  }
  return { hunk, line, tier: 'exact', reindent: null }
}

function otherBlob(place: HunkPlace, preimage: string): Refusal {
  const actual = place.file.blobBeside(preimage)
  return refusal(
    'stale-read',
    `${nameOf(place)} adds lines with no context, and was made from blob ${preimage}; the file is ${actual}`,
    { expected: preimage, actual },
    'Make the diff again from the file as it is, with lines of context (`git diff -U3`).',
  )
}

function placeOld(place: HunkPlace, offset: number, isProven: boolean): PlacedHunk | Refusal {
  const { file, hunk, fromLine, maxTier } = place
  const block = blockOf('unified', hunk, 'old')
  const edge = edgeOf(hunk)
  const stated = hunk.oldStart === null ? null : hunk.oldStart - 1 + offset
  const range = rangeOf(file, block, { edge, fromLine })
  const isStatedFit =
    stated !== null &&
    stated >= fromLine &&
    (isProven || (stated >= range.fromLine && stated <= range.toLine))
  for (const tier of tiers) {
    if (rankOf(tier) > rankOf(maxTier)) break
    if (isStatedFit) {
      const there = findBlock(file, block, tier, { fromLine: stated, toLine: stated, limit: 1 })
      if (there.length > 0) return { hunk, line: stated, tier, reindent: null }
    }
    const lines = findBlock(file, block, tier, { ...range, limit: limits.candidatesShown + 1 })
    const [line] = lines
    if (line !== undefined && lines.length === 1) return { hunk, line, tier, reindent: null }
    if (lines.length > 1) return ambiguous(place, tier, lines)
  }
  return edgeRefusal(place, block, edge) ?? explainMissing(place, block)
}

function ambiguous(place: HunkPlace, tier: Tier, lines: readonly number[]): Refusal {
  const shown = lines.slice(0, limits.candidatesShown).map((line) => line + 1)
  const stated =
    place.hunk.oldStart === null ? '' : `, none of them where the hunk says (line ${place.hunk.oldStart})`
  return refusal(
    'ambiguous-match',
    `${nameOf(place)}: its old lines stand in several places, lines ${shown.join(', ')}${stated}`,
    { lines: shown, more: lines.length > shown.length, tier },
  )
}

type Edge = 'any' | 'beginning' | 'end'

/** The edge of the file that a hunk's missing context names. */
function edgeOf(hunk: Hunk): Edge {
  const kinds = hunk.lines.map((line) => line.kind)
  const lastOld = kinds.findLastIndex((kind) => kind !== 'add')
  if (lastOld < kinds.length - 1 && kinds[lastOld] === 'context') return 'end'
  const firstOld = kinds.findIndex((kind) => kind !== 'add')
  const isTop = hunk.oldStart !== null && hunk.oldStart <= 1
  return isTop && firstOld > 0 && kinds[firstOld] === 'context' ? 'beginning' : 'any'
}

/** Where the block may begin: below the hunk before, and where its edge says. */
function rangeOf(
  file: FileText,
  block: Block,
  { edge, fromLine }: { readonly edge: Edge; readonly fromLine: number },
): Pick<BlockSearch, 'fromLine' | 'toLine'> {
  if (edge === 'any') return { fromLine, toLine: file.lines.count }
  const only = edge === 'beginning' ? 0 : file.lines.count - block.lines.length
  return { fromLine: Math.max(fromLine, only), toLine: only }
}

function edgeRefusal(place: HunkPlace, block: Block, edge: Edge): Refusal | null {
  if (edge === 'any') return null
  const { file, fromLine, hunk } = place
  const [line] = findBlock(file, block, 'exact', { fromLine, toLine: file.lines.count, limit: 1 })
  if (line === undefined) return null
  const fresh = blockOf('unified', hunk, 'new')
  const shift = edge === 'beginning' ? hunk.lines.findIndex(isOld) : 0
  const top = Math.max(line - shift, 0)
  if (findBlock(file, fresh, 'exact', { fromLine: top, toLine: top, limit: 1 }).length > 0) {
    return refusal('already-applied', `${nameOf(place)}: its result stands at line ${top + 1} already`, {
      line: top + 1,
    })
  }
  const side = edge === 'end' ? 'below' : 'above'
  const rule = edge === 'end' ? 'the end of the file' : 'the beginning of the file'
  return refusal(
    'no-match',
    `${nameOf(place)} adds lines with no context ${side} them, which means ${rule}; its context stands at line ${line + 1} of ${file.lines.count}`,
    { line: line + 1, totalLines: file.lines.count },
    `Give a line of context ${side} the added lines.`,
  )
}

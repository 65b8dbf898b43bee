import { type Hunk, type HunksEdit, type Tier, tiers } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { encode } from './bytes.ts'
import type { FileText } from './file-text.ts'
import { fold } from './fold.ts'
import { type Block, type BlockSearch, blockOf, findBlock, isOld } from './hunk-block.ts'
import { explainMissing, type HunkPlace, nameOf } from './hunk-help.ts'
import type { PlacedHunk } from './hunk-splices.ts'
import { indentMatches } from './indent.ts'
import { trimmed } from './line-index.ts'
import { refusal } from './outcome.ts'
import type { Placing } from './placing.ts'
import { rankOf } from './tiers.ts'

/**
 * Finds the places of an envelope patch's hunks: each below its anchors and below the hunk before, and there exactly
 * one place. A hunk that only adds goes below its anchor, or without one to the end of the file.
 */
export function placeEnvelope(file: FileText, edit: HunksEdit, maxTier: Tier): Placing {
  const placed: PlacedHunk[] = []
  let fromLine = 0
  for (const [index, hunk] of edit.hunks.entries()) {
    const found = placeHunk({ file, edit, hunk, index, fromLine, maxTier })
    if ('code' in found) return { kind: 'failed', refusal: found }
    placed.push(found)
    fromLine = found.line + found.hunk.lines.filter(isOld).length
  }
  return { kind: 'placed', hunks: placed }
}

function placeHunk(place: HunkPlace): PlacedHunk | Refusal {
  const anchored = findAnchors(place)
  if ('code' in anchored) return anchored
  const { hunk } = place
  if (!hunk.lines.some(isOld)) return placeAdded(place, anchored)
  const below = place.hunk.anchors.length === 0 ? place : { ...place, fromLine: anchored.line + 1 }
  const found =
    findOld(below, hunk) ?? (below === place ? null : findOld({ ...place, fromLine: anchored.line }, hunk))
  if (found !== null) return found
  const shorter = withoutFinalBlank(hunk)
  const atEnd = shorter === null ? null : findOld(below, { ...shorter, endOfFile: true })
  if (atEnd !== null) return atEnd
  return explainMissing(below, blockOf('envelope', hunk, 'old'))
}

/** The innermost anchor's line, and whether there are others like it below. */
interface Anchored {
  /** Index of the line; -1 without anchors. */
  readonly line: number
  readonly rivals: readonly number[]
}

function findAnchors(place: HunkPlace): Anchored | Refusal {
  let anchored: Anchored = { line: -1, rivals: [] }
  let fromLine = place.fromLine
  const { anchors } = place.hunk
  for (const [index, anchor] of anchors.entries()) {
    const limit = index < anchors.length - 1 ? 1 : limits.candidatesShown + 1
    const [line, ...rivals] = anchorLines(place.file, anchor, { fromLine, limit })
    if (line === undefined) {
      return refusal(
        'no-match',
        `${nameOf(place)}: no line of the file below line ${fromLine} is the anchor ${JSON.stringify(anchor.slice(0, limits.quoteMaxCharacters))}`,
        { anchor: anchor.slice(0, limits.quoteMaxCharacters), below: fromLine },
        'An anchor is a whole line of the file, and hunks go from top to bottom.',
      )
    }
    anchored = { line, rivals }
    fromLine = line + 1
  }
  return anchored
}

/** Lines that are the anchor exactly, or if there are none, but for blanks around it. */
function anchorLines(
  file: FileText,
  anchor: string,
  { fromLine, limit }: Pick<BlockSearch, 'fromLine' | 'limit'>,
): readonly number[] {
  const block: Block = { lines: [encode(anchor)], lastLine: 'either' }
  const exact = findBlock(file, block, 'exact', { fromLine, toLine: file.lines.count, limit })
  if (exact.length > 0) return exact
  const options = { level: 'unicode', usesCr: false, from: 0, stripsEnd: true } as const
  const content = trimmed(fold(encode(anchor), options, file.work).bytes)
  if (content.length === 0) return []
  return file.lineIndex.linesWith(content, limit, { from: fromLine })
}

function placeAdded(place: HunkPlace, { line, rivals }: Anchored): PlacedHunk | Refusal {
  const { file, hunk } = place
  if (hunk.endOfFile || hunk.anchors.length === 0) {
    return { hunk, line: file.lines.count, tier: 'exact', reindent: null }
  }
  if (rivals.length === 0) return { hunk, line: line + 1, tier: 'exact', reindent: null }
  const lines = [line, ...rivals].map((each) => each + 1).slice(0, limits.candidatesShown)
  return refusal(
    'ambiguous-match',
    `${nameOf(place)}: its anchor stands in several places, lines ${lines.join(', ')}`,
    { lines, more: rivals.length >= limits.candidatesShown, tier: 'exact' },
  )
}

/** The one place of the hunk's old lines, a refusal where there are several, null where there is none. */
function findOld(place: HunkPlace, hunk: Hunk): PlacedHunk | Refusal | null {
  const { file, fromLine, maxTier } = place
  const block = blockOf('envelope', hunk, 'old')
  const limit = limits.candidatesShown + 1
  const toLine = hunk.endOfFile ? file.lines.count - block.lines.length : file.lines.count
  const range = { fromLine: hunk.endOfFile ? Math.max(fromLine, toLine) : fromLine, toLine }
  for (const tier of tiers) {
    if (rankOf(tier) > rankOf(maxTier)) break
    const found =
      tier === 'indent'
        ? indented(place, hunk, block)
        : findBlock(file, block, tier, { ...range, limit }).map((line) => ({ line, reindent: null }))
    const [first] = found
    if (first === undefined) continue
    if (found.length === 1) return { hunk, tier, ...first }
    const lines = found.map(({ line }) => line + 1).slice(0, limits.candidatesShown)
    return refusal(
      'ambiguous-match',
      `${nameOf(place)}: its old lines stand in several places, lines ${lines.join(', ')}`,
      { lines, more: found.length > lines.length, tier },
    )
  }
  return null
}

function indented(
  place: HunkPlace,
  hunk: Hunk,
  block: Block,
): readonly Pick<PlacedHunk, 'line' | 'reindent'>[] {
  const { file, fromLine } = place
  const textOf = (lines: readonly Uint8Array[]): string =>
    lines.map((line) => Buffer.from(line).toString('utf8')).join('\n')
  const added = hunk.lines.filter((line) => line.kind === 'add').map((line) => line.text)
  return indentMatches(file, {
    old: textOf(block.lines),
    new: textOf(added),
    wholeLines: true,
    startLine: null,
    maxTier: 'indent',
    limit: Number.POSITIVE_INFINITY,
  })
    .map(({ start, reindent }) => ({ line: file.lines.lineAt(start), reindent }))
    .filter(
      ({ line }) => line >= fromLine && (!hunk.endOfFile || line + block.lines.length === file.lines.count),
    )
}

/** The hunk without a blank old line at its end: the end of a file seen as one line more. */
function withoutFinalBlank(hunk: Hunk): Hunk | null {
  const index = hunk.lines.findLastIndex(isOld)
  const last = hunk.lines[index]
  if (last === undefined || last.text.length > 0) return null
  if (last.kind === 'context' && index < hunk.lines.length - 1) return null
  const lines = hunk.lines.toSpliced(index, 1)
  return lines.some(isOld) ? { ...hunk, lines } : null
}

import { reverseHunks, type TakenHunk } from '../editing/reverse-hunks.ts'
import type { DiffFile, DiffSide } from './diff-file.ts'
import { splitHunk } from './split-hunk.ts'
import { type NumberedHunk, numberHunks } from './unified-diff.ts'

/** What a reviewer decides on as one: a hunk, or a file that has no parts. */
export interface ReviewPiece {
  readonly file: DiffFile
  /** With the numbers of `show` and `diff`. None: of a file without lines, or where only its mode or name changes. */
  readonly hunks: readonly NumberedHunk[]
  /** Which part of a hunk that the reviewer split, from 1. */
  readonly part?: number
}

/** What was said of a hunk, by its number, or of a whole file, by its path. */
export interface PieceName {
  readonly hunk?: number
  /** Of that hunk, as `partsOf` counts. */
  readonly part?: number
  readonly path?: string
}

/** The pieces of a diff, in its order. A link, a submodule, and a file that becomes one are decided on whole. */
export function piecesOf(files: readonly DiffFile[], contextLines: number): readonly ReviewPiece[] {
  const hunks = numberHunks(files, contextLines)
  return files.flatMap((file): readonly ReviewPiece[] => {
    const own = hunks.filter((h) => h.path === file.path || (isSpecial(file) && h.path === file.renamedFrom))
    return own.length === 0 || isSpecial(file)
      ? [{ file, hunks: own }]
      : own.map((hunk) => ({ file, hunks: [hunk] }))
  })
}

/** What a piece can be split into, one hunk each; none where it cannot. */
export function partsOf({ file, hunks }: ReviewPiece): readonly ReviewPiece[] {
  const [whole] = hunks
  const parts = whole === undefined || hunks.length > 1 || isSpecial(file) ? [] : splitHunk(whole)
  if (whole === undefined || parts.length < 2) return []
  return parts.map((hunk, index) => ({ file, hunks: [{ ...whole, ...hunk }], part: index + 1 }))
}

const isSpecial = ({ before, after }: DiffFile): boolean =>
  [before, after].some((side) => side !== null && !side.mode.startsWith('100'))

/** Whether other lines can be put in a piece's place: one hunk of a file that stays a file. */
export const isEditable = ({ file, hunks }: ReviewPiece): boolean =>
  hunks.length === 1 && file.after !== null && !isSpecial(file)

/** The pieces of that name, as their places in the list. A path names a file's only piece, or all of them; a hunk all its parts. */
export const findPieces = (
  pieces: readonly ReviewPiece[],
  { hunk, part, path }: PieceName,
): readonly number[] =>
  pieces.flatMap((piece, index) => {
    const isNamed = hunk === undefined ? piece.file.path === path : piece.hunks.some((h) => h.number === hunk)
    return isNamed && (part === undefined || piece.part === part) ? [index] : []
  })

/** What becomes of one file: as proposed, as before, or its old bytes with the accepted hunks. */
export type Accepted =
  | { readonly kind: 'whole' | 'nothing'; readonly file: DiffFile }
  | { readonly kind: 'part'; readonly file: DiffFile; readonly after: DiffSide; readonly bytes: Uint8Array }

/** What a reviewer did not take as it is, by places in the list of pieces. */
export interface Refused {
  readonly rejected: ReadonlySet<number>
  /** The lines that stand in place of a hunk's new ones, its context among them. */
  readonly edited: ReadonlyMap<number, Uint8Array>
}

/**
 * Takes the rejected pieces out, and puts what was edited in. A change of mode or name goes with any accepted hunk of its file; where all
 * are rejected, the file stays as it was.
 */
export function acceptPieces(
  pieces: readonly ReviewPiece[],
  { rejected, edited }: Refused,
): readonly Accepted[] {
  const files = new Map<DiffFile, { taken: TakenHunk[]; refused: number; count: number }>()
  for (const [index, piece] of pieces.entries()) {
    const facts = files.get(piece.file) ?? { taken: [], refused: 0, count: 0 }
    files.set(piece.file, facts)
    facts.count++
    const instead = edited.get(index)
    if (rejected.has(index)) facts.refused++
    if (rejected.has(index)) facts.taken.push(...piece.hunks)
    else if (instead !== undefined) facts.taken.push(...piece.hunks.map((hunk) => ({ ...hunk, instead })))
  }
  return [...files].map(([file, facts]): Accepted => {
    if (facts.refused === 0 && facts.taken.length === 0) return { kind: 'whole', file }
    const { before, after } = file
    if (facts.refused === facts.count || after === null) return { kind: 'nothing', file }
    const bytes = reverseHunks(before?.bytes ?? nothing, after.bytes, facts.taken)
    return { kind: 'part', file, after, bytes }
  })
}

const nothing = new Uint8Array(0)

import { reverseHunks } from '../editing/reverse-hunks.ts'
import type { DiffFile, DiffSide } from './diff-file.ts'
import { type NumberedHunk, numberHunks } from './unified-diff.ts'

/** What a reviewer decides on as one: a hunk, or a file that has no parts. */
export interface ReviewPiece {
  readonly file: DiffFile
  /** With the numbers of `show` and `diff`. None: of a file without lines, or where only its mode or name changes. */
  readonly hunks: readonly NumberedHunk[]
}

/** What was said of a hunk, by its number, or of a whole file, by its path. */
export interface PieceName {
  readonly hunk?: number
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

const isSpecial = ({ before, after }: DiffFile): boolean =>
  [before, after].some((side) => side !== null && !side.mode.startsWith('100'))

/** The piece of that name, as its place in the list; -1 = there is none. A path names a file's only piece, or all of them. */
export const findPieces = (pieces: readonly ReviewPiece[], { hunk, path }: PieceName): readonly number[] =>
  pieces.flatMap((piece, index) =>
    (hunk === undefined ? piece.file.path === path : piece.hunks.some((h) => h.number === hunk))
      ? [index]
      : [],
  )

/** What becomes of one file: as proposed, as before, or its old bytes with the accepted hunks. */
export type Accepted =
  | { readonly kind: 'whole' | 'nothing'; readonly file: DiffFile }
  | { readonly kind: 'part'; readonly file: DiffFile; readonly after: DiffSide; readonly bytes: Uint8Array }

/**
 * Takes the rejected pieces out. A change of mode or name goes with any accepted hunk of its file; where all are rejected, the file stays
 * as it was.
 *
 * @param rejected - Places in `pieces`.
 */
export function acceptPieces(
  pieces: readonly ReviewPiece[],
  rejected: ReadonlySet<number>,
): readonly Accepted[] {
  const files = new Map<DiffFile, { rejected: NumberedHunk[]; refused: number; count: number }>()
  for (const [index, piece] of pieces.entries()) {
    const facts = files.get(piece.file) ?? { rejected: [], refused: 0, count: 0 }
    facts.count++
    if (rejected.has(index)) {
      facts.refused++
      facts.rejected.push(...piece.hunks)
    }
    files.set(piece.file, facts)
  }
  return [...files].map(([file, facts]): Accepted => {
    if (facts.refused === 0) return { kind: 'whole', file }
    const { before, after } = file
    if (facts.refused === facts.count || before === null || after === null) return { kind: 'nothing', file }
    return { kind: 'part', file, after, bytes: reverseHunks(before.bytes, after.bytes, facts.rejected) }
  })
}

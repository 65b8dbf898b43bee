import type { DiffFile, DiffSide } from './diff-file.ts'
import type { DraftPieces } from './draft.ts'
import { partsOf, type ReviewPiece } from './pieces.ts'

/** A piece with the names under which a draft keeps what was said of it. */
export interface KeyedPiece {
  readonly piece: ReviewPiece
  /** Made of what the piece shows and changes: another text has another key, whatever its number or revision. */
  readonly key: string
  /** The key of the whole hunk; another one than `key` where this is a part of it. */
  readonly wholeKey: string
  /** Made of both sides of its file. */
  readonly fileKey: string
}

/** A cryptographic hash in hex: a decision must never pass to another text. */
type Hash = (bytes: Uint8Array | string) => string

/**
 * Names the pieces of a diff. Those of one file that are alike in all their lines are told apart by their order and number, so that none
 * takes another's decision when one of them goes.
 */
export function keyPieces(pieces: readonly ReviewPiece[], hash: Hash): readonly KeyedPiece[] {
  const files = new Map<DiffFile, string>()
  const named = pieces.map((piece) => {
    const fileKey = files.get(piece.file) ?? hash(fileText(piece.file))
    files.set(piece.file, fileKey)
    return { piece, fileKey, own: hash(pieceText(piece, hash)) }
  })
  const counts = new Map<string, number>()
  for (const { own } of named) counts.set(own, (counts.get(own) ?? 0) + 1)
  const seen = new Map<string, number>()
  return named.map(({ piece, fileKey, own }) => {
    const count = counts.get(own) ?? 1
    const place = (seen.get(own) ?? 0) + 1
    seen.set(own, place)
    const key = count === 1 ? own : `${own}-${place}of${count}`
    return { piece, fileKey, wholeKey: key, key }
  })
}

/** The pieces with those that a reviewer split in their parts. */
export const splitPieces = (keyed: readonly KeyedPiece[], split: readonly string[]): readonly KeyedPiece[] =>
  keyed.flatMap((one) => {
    const parts = split.includes(one.key) ? partsOf(one.piece) : []
    return parts.length < 2
      ? [one]
      : parts.map((piece) => ({ ...one, piece, key: `${one.key}.${piece.part}` }))
  })

/** What an `open` of a draft is told. */
export const draftPieces = (keyed: readonly KeyedPiece[]): DraftPieces => ({
  keys: keyed.map(({ wholeKey }) => wholeKey),
  fileKeys: [...new Set(keyed.map(({ fileKey }) => fileKey))],
})

const fileText = ({ path, renamedFrom, before, after }: DiffFile): string =>
  JSON.stringify([path, renamedFrom ?? null, sideText(before), sideText(after)])

const sideText = (side: DiffSide | null): string | null =>
  side === null ? null : `${side.mode} ${side.blob}`

/** The lines of a hunk byte for byte; of a piece that is decided on whole, both sides. Mode and name belong to each piece of a file. */
function pieceText({ file, hunks }: ReviewPiece, hash: Hash): string {
  const { path, renamedFrom, before, after } = file
  const [first] = hunks
  if (first === undefined || !isPlain(before) || !isPlain(after)) return fileText(file)
  const lines = first.lines.map((line) => [line.kind, hash(line.text), line.unterminated === true])
  return JSON.stringify([path, renamedFrom ?? null, before?.mode ?? null, after?.mode ?? null, lines])
}

const isPlain = (side: DiffSide | null): boolean => side === null || side.mode.startsWith('100')

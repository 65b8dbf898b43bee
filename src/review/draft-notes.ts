import type { Decision, DraftComment, ReviewDraft } from './draft.ts'
import { type KeyedPiece, splitPieces } from './piece-keys.ts'
import type { PieceName, ReviewPiece } from './pieces.ts'

/** What was said of a hunk, a file, lines of one, or (with none of these) the change. */
export interface ReviewNote extends PieceName {
  /** The reason of a rejection may be empty. */
  readonly text: string
  /** What it names is not accepted. */
  readonly rejects?: true
  /** What it names is accepted with this text in place of the hunk's new lines, context among them. */
  readonly instead?: string
  /** With a path and no hunk: lines of the file as the change makes it; of one that it deletes, as it was. */
  readonly line?: number
  readonly toLine?: number
}

/** How far a review is, and what it comes to. */
export interface DraftOutcome {
  readonly notes: readonly ReviewNote[]
  readonly accepted: readonly KeyedPiece[]
  readonly rejected: readonly KeyedPiece[]
  readonly edited: readonly KeyedPiece[]
  readonly undecided: readonly KeyedPiece[]
  /** Accepted without having been on a screen. */
  readonly unseen: readonly KeyedPiece[]
}

/**
 * What a draft comes to on the pieces of the revision that it is about.
 *
 * @param pieces - Whole ones, as they were opened.
 */
export function outcomeOf(draft: ReviewDraft, pieces: readonly KeyedPiece[]): DraftOutcome {
  const decisions = new Map(draft.decided.map(({ key, decision }) => [key, decision]))
  const shown = new Set(draft.shown)
  const all = splitPieces(pieces, draft.split)
  const of = (kind: Decision['kind'] | undefined) =>
    all.filter(({ key }) => decisions.get(key)?.kind === kind)
  const accepted = of('accepted')
  const decided = all.flatMap(({ piece, key }): readonly ReviewNote[] => {
    const decision = decisions.get(key)
    if (decision === undefined || decision.kind === 'accepted') return []
    const said = { ...nameOf(piece), text: decision.reason }
    return [decision.kind === 'rejected' ? { ...said, rejects: true } : { ...said, instead: decision.text }]
  })
  return {
    notes: [...draft.comments.map((comment) => commentNote(comment, all)), ...decided],
    accepted,
    rejected: of('rejected'),
    edited: of('edited'),
    undecided: of(undefined),
    unseen: accepted.filter(({ key, wholeKey }) => !shown.has(key) && !shown.has(wholeKey)),
  }
}

function nameOf({ file, hunks, part }: ReviewPiece): PieceName {
  const [first] = hunks
  if (first === undefined) return { path: file.path }
  return part === undefined ? { hunk: first.number } : { hunk: first.number, part }
}

/** A comment whose lines went since it was written says them itself. */
function commentNote(comment: DraftComment, pieces: readonly KeyedPiece[]): ReviewNote {
  const { key, path, line, toLine, about } = comment
  const piece = pieces.find((one) => key !== undefined && (one.key === key || one.wholeKey === key))?.piece
  if (piece !== undefined) return { ...nameOf(piece), text: comment.text }
  if (key === undefined && path === undefined) return { text: comment.text }
  const file = pieces.find((one) => one.piece.file.path === path)?.piece.file
  const isThere = key === undefined && file !== undefined
  if (isThere && line !== undefined && standsThere(file.after?.bytes, about, line))
    return { path: file.path, line, ...(toLine === undefined ? {} : { toLine }), text: comment.text }
  const isPlain = isThere && line === undefined
  const quoted = isPlain ? [] : ['', 'It was about these lines:', ...about.map((one) => `| ${one}`)]
  const place = file !== undefined ? { path: file.path } : {}
  const name = file === undefined && path !== undefined ? [`(${path})`] : []
  return { ...place, text: [...name, comment.text, ...quoted].join('\n') }
}

function standsThere(bytes: Uint8Array | undefined, about: readonly string[], line: number): boolean {
  const lines = new TextDecoder().decode(bytes).split('\n')
  return about.every((text, index) => lines[line - 1 + index] === text)
}

import { oneLine } from '../review/comment-text.ts'
import type { ReviewNote } from '../review/draft-notes.ts'
import type { PieceName, ReviewPiece } from '../review/pieces.ts'
import { drawFile } from '../review/unified-diff.ts'
import type { LineAsker } from './ask-lines.ts'

/** What a reviewer decided on every piece, and whether each had been on the screen. */
export interface Decided {
  readonly notes: readonly ReviewNote[]
  readonly accepted: number
  readonly rejected: number
  /** Accepted without having been shown. */
  readonly unseen: readonly ReviewPiece[]
}

type Decision = { readonly kind: 'accepted' } | { readonly kind: 'rejected'; readonly reason: string }

/** The state of a review: a decision for each piece so far, and what was said. */
interface Draft {
  readonly decisions: (Decision | null)[]
  readonly comments: { readonly index: number; readonly text: string }[]
  readonly seen: Set<number>
  /** Pieces decided on, a step each, so that the last step can be taken back. */
  readonly steps: (readonly number[])[]
}

const HELP = `y  accept this hunk
n  reject it; the reason is asked for, and may be empty
a  accept it and the rest of the file that is undecided
d  reject it and the rest of the file that is undecided
c  comment on it
u  take the last decision back
q  leave: nothing is recorded
?  these words
`

/**
 * Goes through the pieces one by one, as `git add -p` does: same letters, a question on a line of its own, no cursor moved.
 *
 * @returns null where the reviewer left, or the input ended: then nothing is decided.
 */
export async function decidePieces(
  asker: Pick<LineAsker, 'ask'>,
  write: (text: string) => void,
  pieces: readonly ReviewPiece[],
  isColoured: boolean,
): Promise<Decided | null> {
  const draft: Draft = { decisions: pieces.map(() => null), comments: [], seen: new Set(), steps: [] }
  let shownFile: ReviewPiece['file'] | null = null
  let shown = -1
  for (;;) {
    const index = draft.decisions.indexOf(null)
    const piece = pieces[index]
    if (piece === undefined) return decidedOf(pieces, draft)
    if (shown !== index) write(drawPiece(pieces, piece, { isColoured, withHeader: piece.file !== shownFile }))
    shown = index
    shownFile = piece.file
    draft.seen.add(index)
    const question = `(${index + 1} of ${pieces.length}) ${oneLine(piece.file.path)}: accept? [y,n,a,d,c,u,q,?] `
    const answer = await asker.ask(question)
    if (answer === null || answer.trim() === 'q') return null
    const done = await obey(asker, write, { draft, pieces, index }, answer.trim())
    if (!done) return null
  }
}

interface Place {
  readonly draft: Draft
  readonly pieces: readonly ReviewPiece[]
  readonly index: number
}

/** @returns Whether the review goes on: the input may end at a question for words. */
async function obey(
  asker: Pick<LineAsker, 'ask'>,
  write: (text: string) => void,
  place: Place,
  key: string,
): Promise<boolean> {
  const { draft, index } = place
  switch (key) {
    case 'y':
    case 'a':
      decide(draft, key === 'a' ? restOfFile(place) : [index], { kind: 'accepted' })
      return true
    case 'n':
    case 'd': {
      const reason = await asker.ask('why? (may be empty) ')
      if (reason === null) return false
      decide(draft, key === 'd' ? restOfFile(place) : [index], { kind: 'rejected', reason: reason.trim() })
      return true
    }
    case 'c': {
      const text = await asker.ask('comment: ')
      if (text !== null && text.trim() !== '') draft.comments.push({ index, text: text.trim() })
      return text !== null
    }
    case 'u': {
      const last = draft.steps.pop()
      if (last === undefined) write('Nothing is decided yet.\n')
      for (const one of last ?? []) draft.decisions[one] = null
      return true
    }
    default:
      write(HELP)
      return true
  }
}

function decide(draft: Draft, indexes: readonly number[], decision: Decision): void {
  for (const index of indexes) draft.decisions[index] = decision
  draft.steps.push(indexes)
}

const restOfFile = ({ draft, pieces, index }: Place): readonly number[] =>
  pieces.flatMap(({ file }, i) => (file === pieces[index]?.file && draft.decisions[i] === null ? [i] : []))

function drawPiece(
  pieces: readonly ReviewPiece[],
  piece: ReviewPiece,
  { isColoured, withHeader }: { readonly isColoured: boolean; readonly withHeader: boolean },
): string {
  const own = pieces.filter((one) => one.file === piece.file)
  const first = own[0]?.hunks[0]?.number ?? 1
  const drawn = drawFile(piece.file, { contextLines: 3, isColoured, numbersHunks: true }, first)
  if (own.length === 1) return `\n${drawn.header}${drawn.hunks.join('')}`
  return `\n${withHeader ? drawn.header : ''}${drawn.hunks[own.indexOf(piece)] ?? ''}`
}

function decidedOf(pieces: readonly ReviewPiece[], draft: Draft): Decided {
  const comments = draft.comments.flatMap(({ index, text }): readonly ReviewNote[] => {
    const piece = pieces[index]
    return piece === undefined ? [] : [{ ...nameOf(piece), text }]
  })
  const rejections = pieces.flatMap((piece, index): readonly ReviewNote[] => {
    const decision = draft.decisions[index]
    return decision?.kind === 'rejected' ? [{ ...nameOf(piece), text: decision.reason, rejects: true }] : []
  })
  return {
    notes: [...comments, ...rejections],
    accepted: pieces.length - rejections.length,
    rejected: rejections.length,
    unseen: pieces.filter((_, i) => draft.decisions[i]?.kind === 'accepted' && !draft.seen.has(i)),
  }
}

function nameOf({ file, hunks }: ReviewPiece): PieceName {
  const [first] = hunks
  return first === undefined ? { path: file.path } : { hunk: first.number }
}

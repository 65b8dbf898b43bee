/** What a reviewer decided on one piece of a change. */
export type Decision =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'rejected'; readonly reason: string }
  /** Accepted with other lines in place of those that the change makes. */
  | { readonly kind: 'edited'; readonly text: string; readonly reason: string }

/** Where a decision was made: the reviewer may have several views open. */
export type View = 'terminal' | 'web'

export interface Decided {
  readonly key: string
  readonly decision: Decision
  readonly via: View
}

/** A comment that is not sent yet. */
export interface DraftComment {
  readonly id: string
  readonly text: string
  /** The piece that it is about. With neither this nor a path: the whole change. */
  readonly key?: string
  readonly path?: string
  /** Lines of the file as the change makes it, from 1. */
  readonly line?: number
  readonly toLine?: number
  /** The lines as the reviewer saw them: they may be gone in the next revision. */
  readonly about: readonly string[]
}

/** A text that somebody began to type. It outlives its view, and the revision that it speaks of. */
export interface Typing {
  /** `comment:<key>`, `reason:<key>`, `edit:<key>`, or what a view calls its own box. */
  readonly where: string
  readonly text: string
  readonly path?: string
  readonly about: readonly string[]
}

/** Everything that one reviewer did on one change and has not sent. Plain JSON; keys are those of `pieceKeys`. */
export interface ReviewDraft {
  readonly version: 1
  /** Counts the writes: a view learns by it that another one wrote. */
  readonly stamp: number
  /** The revision that the decisions are about; 0 = none was opened yet. */
  readonly revision: number
  readonly digest: string
  /** The revision that this reviewer had before them before it; null = this is their first. */
  readonly before: number | null
  readonly decided: readonly Decided[]
  /** Pieces that were on a screen. */
  readonly shown: readonly string[]
  /** Files marked as viewed, by their keys: a file that changes loses its mark. */
  readonly viewed: readonly string[]
  /** Hunks decided on in parts, by the hunk's key. */
  readonly split: readonly string[]
  readonly comments: readonly DraftComment[]
  readonly typing: readonly Typing[]
  /** For `undo`: what stood before each step, the last one at the end. */
  readonly steps: readonly Step[]
}

interface Step {
  readonly before: readonly { readonly key: string; readonly was: Decided | null }[]
  /** The hunk that the step split. */
  readonly split?: string
}

/** What a revision is made of, as far as a draft cares: its whole pieces, and its files. */
export interface DraftPieces {
  readonly keys: readonly string[]
  readonly fileKeys: readonly string[]
}

/** A part of a hunk is called after it: `<key>.2`. */
const wholeOf = (key: string): string => key.split('.', 1)[0] ?? key

export type DraftAction =
  /** A revision comes before the reviewer. What did not change keeps its decisions and marks. */
  | {
      readonly kind: 'open'
      readonly revision: number
      readonly digest: string
      readonly pieces: DraftPieces
    }
  /** null takes the decision back. `revision` is the one that the view shows: of another one nothing is decided. */
  | {
      readonly kind: 'decide'
      readonly revision: number
      readonly keys: readonly string[]
      readonly decision: Decision | null
      readonly via: View
    }
  | { readonly kind: 'undo'; readonly revision: number }
  | {
      readonly kind: 'split'
      readonly revision: number
      readonly hunkKey: string
      readonly isSplit: boolean
    }
  | { readonly kind: 'shown'; readonly keys: readonly string[] }
  | { readonly kind: 'viewed'; readonly fileKey: string; readonly isViewed: boolean }
  /** Puts a comment, or changes the one of that id; an empty text takes it away. */
  | { readonly kind: 'comment'; readonly comment: DraftComment }
  /** An empty text ends it. */
  | { readonly kind: 'type'; readonly typing: Typing }
  /** The review was sent: reasons and comments are in the log now, and what was accepted stands. */
  | { readonly kind: 'sent' }
  /** The comments alone were sent. */
  | { readonly kind: 'said' }

export const emptyDraft: ReviewDraft = {
  version: 1,
  stamp: 0,
  revision: 0,
  digest: '',
  before: null,
  decided: [],
  shown: [],
  viewed: [],
  split: [],
  comments: [],
  typing: [],
  steps: [],
}

/** Steps that can be taken back. */
const STEPS_KEPT = 1_000

/** One action on a draft. An action that changes nothing gives the same draft, not another that is equal. */
export function actOnDraft(draft: ReviewDraft, action: DraftAction): ReviewDraft {
  const next = act(draft, action)
  return next === draft ? draft : { ...next, stamp: draft.stamp + 1 }
}

function act(draft: ReviewDraft, action: DraftAction): ReviewDraft {
  switch (action.kind) {
    case 'open':
      return openRevision(draft, action)
    case 'decide':
      return action.revision === draft.revision ? decide(draft, action) : draft
    case 'undo':
      return action.revision === draft.revision ? undo(draft) : draft
    case 'split':
      return action.revision === draft.revision ? split(draft, action) : draft
    case 'shown': {
      const shown = union(draft.shown, action.keys)
      return shown === draft.shown ? draft : { ...draft, shown }
    }
    case 'viewed':
      return mark(draft, action.fileKey, action.isViewed)
    case 'comment':
      return putComment(draft, action.comment)
    case 'type':
      return putTyping(draft, action.typing)
    case 'sent':
      return sent(draft)
    case 'said':
      return draft.comments.length === 0 ? draft : { ...draft, comments: [] }
  }
}

/** A view that still shows an older revision does not bring it back. */
function openRevision(
  draft: ReviewDraft,
  { revision, digest, pieces }: DraftAction & { readonly kind: 'open' },
): ReviewDraft {
  if (revision <= draft.revision) return draft
  const keys = new Set(pieces.keys)
  const fileKeys = new Set(pieces.fileKeys)
  const gone = draft.decided.filter(({ key }) => !keys.has(wholeOf(key)))
  return {
    ...draft,
    revision,
    digest,
    before: draft.revision === 0 ? null : draft.revision,
    decided: draft.decided.filter(({ key }) => keys.has(wholeOf(key))),
    shown: draft.shown.filter((key) => keys.has(wholeOf(key))),
    viewed: draft.viewed.filter((key) => fileKeys.has(key)),
    split: draft.split.filter((key) => keys.has(key)),
    typing: [...draft.typing, ...gone.flatMap(wordsOf)],
    steps: [],
  }
}

/** What somebody wrote for a decision that falls is kept as a text begun. */
function wordsOf({ key, decision }: Decided): readonly Typing[] {
  if (decision.kind === 'accepted') return []
  const reason = decision.reason === '' ? [] : [{ where: `reason:${key}`, text: decision.reason, about: [] }]
  return decision.kind === 'edited'
    ? [...reason, { where: `edit:${key}`, text: decision.text, about: [] }]
    : reason
}

function decide(draft: ReviewDraft, action: DraftAction & { readonly kind: 'decide' }): ReviewDraft {
  const { decision, via } = action
  const named = [...new Set(action.keys)]
  const keys = new Set(named)
  const found = new Map(draft.decided.map((one) => [one.key, one]))
  const before = named.map((key) => ({ key, was: found.get(key) ?? null }))
  if (before.every(({ was }) => isSame(was?.decision ?? null, decision))) return draft
  const added = decision === null ? [] : named.map((key) => ({ key, decision, via }))
  return {
    ...draft,
    decided: [...draft.decided.filter(({ key }) => !keys.has(key)), ...added],
    steps: [...draft.steps.slice(1 - STEPS_KEPT), { before }],
  }
}

const isSame = (a: Decision | null, b: Decision | null): boolean => JSON.stringify(a) === JSON.stringify(b)

function undo(draft: ReviewDraft): ReviewDraft {
  const last = draft.steps.at(-1)
  if (last === undefined) return draft
  const keys = new Set(last.before.map(({ key }) => key))
  return {
    ...draft,
    decided: [
      ...draft.decided.filter(({ key }) => !keys.has(key)),
      ...last.before.flatMap(({ was }) => was ?? []),
    ],
    split: last.split === undefined ? draft.split : draft.split.filter((key) => key !== last.split),
    steps: draft.steps.slice(0, -1),
  }
}

/** A split hunk is decided on part by part: what was decided on the whole falls, and the other way round. */
function split(
  draft: ReviewDraft,
  { hunkKey, isSplit }: DraftAction & { readonly kind: 'split' },
): ReviewDraft {
  if (draft.split.includes(hunkKey) === isSplit) return draft
  const touched = draft.decided.filter(({ key }) => wholeOf(key) === hunkKey)
  const before = touched.map((was) => ({ key: was.key, was }))
  return {
    ...draft,
    decided: draft.decided.filter((one) => !touched.includes(one)),
    split: isSplit ? [...draft.split, hunkKey] : draft.split.filter((key) => key !== hunkKey),
    steps: [...draft.steps.slice(1 - STEPS_KEPT), { before, ...(isSplit ? { split: hunkKey } : {}) }],
  }
}

function mark(draft: ReviewDraft, fileKey: string, isViewed: boolean): ReviewDraft {
  if (draft.viewed.includes(fileKey) === isViewed) return draft
  const others = draft.viewed.filter((key) => key !== fileKey)
  return { ...draft, viewed: isViewed ? [...others, fileKey] : others }
}

function putComment(draft: ReviewDraft, comment: DraftComment): ReviewDraft {
  const text = comment.text.trim()
  const index = draft.comments.findIndex(({ id }) => id === comment.id)
  if (index === -1 && text === '') return draft
  const put = text === '' ? [] : [{ ...comment, text }]
  const comments = index === -1 ? [...draft.comments, ...put] : draft.comments.toSpliced(index, 1, ...put)
  return { ...draft, comments }
}

function putTyping(draft: ReviewDraft, typing: Typing): ReviewDraft {
  const was = draft.typing.find(({ where }) => where === typing.where)
  if ((was?.text ?? '') === typing.text) return draft
  const others = draft.typing.filter(({ where }) => where !== typing.where)
  return { ...draft, typing: typing.text === '' ? others : [...others, typing] }
}

const sent = (draft: ReviewDraft): ReviewDraft => ({
  ...draft,
  decided: draft.decided.filter(({ decision }) => decision.kind === 'accepted'),
  comments: [],
  steps: [],
})

function union(known: readonly string[], more: readonly string[]): readonly string[] {
  const all = new Set([...known, ...more])
  return all.size === known.length ? known : [...all]
}

/** Pieces on which two states of a draft say different things: what another view has done meanwhile. */
export function decidedOtherwise(before: ReviewDraft, after: ReviewDraft): readonly string[] {
  const was = new Map(before.decided.map(({ key, decision }) => [key, decision]))
  const is = new Map(after.decided.map(({ key, decision }) => [key, decision]))
  const keys = new Set([...was.keys(), ...is.keys()])
  return [...keys].filter((key) => !isSame(was.get(key) ?? null, is.get(key) ?? null))
}

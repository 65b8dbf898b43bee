import { GalleyError, refuse } from '../../model/error.ts'
import type { View } from '../../review/draft.ts'
import { type DraftOutcome, outcomeOf } from '../../review/draft-notes.ts'
import { approve } from '../approve.ts'
import type { ChangeView } from '../change-view.ts'
import { decideHunks } from '../decide-hunks.ts'
import { type Landed, land } from '../land/land.ts'
import type { World } from '../world.ts'
import { actOnReview, openReview } from './open-review.ts'

export interface FinishRequest {
  readonly id: string
  /** What the reviewer saw: refused where the change is another one by now. */
  readonly digest: string
  readonly via: View
  /** `send-back` rejects the change with all that was said of it; `comment` sends the comments and decides nothing. */
  readonly does: 'land' | 'approve' | 'send-back' | 'comment'
}

export type Finished =
  | { readonly kind: 'landed'; readonly landed: Landed; readonly change: ChangeView }
  | { readonly kind: 'sent-back' | 'commented'; readonly change: ChangeView }
  /** `lacks`: why it does not land yet, where that was asked for: another person, or a signature. */
  | { readonly kind: 'approved'; readonly change: ChangeView; readonly lacks?: string }
  /** A revision was made, and is not approved: a check wrote on it, or fails on it. */
  | { readonly kind: 'held'; readonly why: 'rewritten' | 'failing'; readonly change: ChangeView }

/**
 * Sends what the draft holds: the one step of a review that decides. Nothing undecided is approved or dropped by it.
 *
 * @throws GalleyError `undecided`, `digest-mismatch`, `agent-may-not-approve`, and what `decideHunks`, `approve` and `land` throw.
 */
export async function finishReview(world: World, request: FinishRequest): Promise<Finished> {
  const { id, digest, does } = request
  const inHand = await openReview(world, id)
  const { change, draft, pieces } = inHand
  if (change.digest !== digest)
    refuse('digest-mismatch', `${id} has the digest ${change.digest}, not ${digest.slice(0, 64)}`, {
      id,
      digest: change.digest,
      given: digest.slice(0, 64),
    })
  const outcome = outcomeOf(draft, pieces)
  if (does === 'land' || does === 'approve') refuseUndecided(id, outcome)
  const notes = does === 'comment' ? outcome.notes.filter(isComment) : outcome.notes
  const isWord = notes.length > 0 || does === 'send-back'
  const sendBack = does === 'send-back'
  const next = isWord ? (await decideHunks(world, { id, digest, notes, sendBack })).change : change
  if (isWord) await actOnReview(world, id, [does === 'comment' ? { kind: 'said' } : { kind: 'sent' }])
  if (does === 'comment') return { kind: 'commented', change: next }
  if (does === 'send-back' || next.state === 'rejected') return { kind: 'sent-back', change: next }
  return approveNext(world, request, { change, next })
}

const isComment = ({ rejects, instead }: DraftOutcome['notes'][number]): boolean =>
  rejects !== true && instead === undefined

function refuseUndecided(id: string, { undecided, accepted, rejected, edited }: DraftOutcome): void {
  if (undecided.length === 0) return
  const all = undecided.length + accepted.length + rejected.length + edited.length
  const hunks = undecided.flatMap(({ piece }) => piece.hunks.map(({ number }) => number))
  const message = `${undecided.length} of ${all} hunks of ${id} are undecided`
  refuse('undecided', message, { id, hunks }, 'Accept or reject each, or send the change back.')
}

/** Nobody approves what a check has made of it since, or what fails its checks as it is now. */
async function approveNext(
  world: World,
  { via, does }: FinishRequest,
  { change, next }: { readonly change: ChangeView; readonly next: ChangeView },
): Promise<Finished> {
  const isNew = next.revision !== change.revision
  if (next.revision > change.revision + 1) return { kind: 'held', why: 'rewritten', change: next }
  const isFailing = next.checks.some((check) => check.required && check.outcome !== 'passed')
  if (isNew && isFailing) return { kind: 'held', why: 'failing', change: next }
  const { id, digest } = next
  const approved = await approve(world, { id, digest, via })
  if (does === 'approve') return { kind: 'approved', change: approved.change }
  try {
    const landed = await land(world, { id })
    return { kind: 'landed', landed, change: landed.change }
  } catch (error) {
    // One of several yeses was given, and stands.
    if (!(error instanceof GalleyError) || error.code !== 'not-approved') throw error
    return { kind: 'approved', change: approved.change, lacks: error.message }
  }
}

import { sha256Hex } from '../../git/blob-id.ts'
import { type ChangeId, changeId } from '../../model/ids.ts'
import { nameAndEmail } from '../../model/person.ts'
import { renamesOf } from '../../model/renames.ts'
import type { DiffFile } from '../../review/diff-file.ts'
import { actOnDraft, type DraftAction, emptyDraft, type ReviewDraft } from '../../review/draft.ts'
import { draftPieces, type KeyedPiece, keyPieces } from '../../review/piece-keys.ts'
import { piecesOf } from '../../review/pieces.ts'
import { readDraft, writeDraft } from '../../review/read-draft.ts'
import { findChange, readChange } from '../../store/change-log.ts'
import { readDraftText, updateDraft } from '../../store/review-drafts.ts'
import type { ChangeView } from '../change-view.ts'
import { viewChange } from '../change-view.ts'
import { pairFiles } from '../pair-files.ts'
import type { World } from '../world.ts'

/** Context of the hunks that `show` and `diff` number. */
const CONTEXT_LINES = 3

/** A change as it lies before a reviewer, with what they did on it so far. */
export interface ReviewInHand {
  readonly change: ChangeView
  readonly files: readonly DiffFile[]
  /** Whole pieces; `splitPieces` gives those that `draft.split` names in their parts. */
  readonly pieces: readonly KeyedPiece[]
  readonly draft: ReviewDraft
  /** Name and address of who reviews: each has a draft of their own. */
  readonly reviewer: string
}

/**
 * Opens the current revision for whoever the repository's configuration says is at work. Decisions on what did not change since the
 * last one stand; so do texts that were begun.
 *
 * @throws GalleyError `unknown-change`, `ambiguous-name`, `no-identity`, `stale`, `busy`.
 */
export async function openReview(world: World, id: string): Promise<ReviewInHand> {
  const { opening, ...inHand } = await lookAtReview(world, id)
  return { ...inHand, draft: await actOnReview(world, inHand.change.id, [opening]) }
}

/** As `openReview`, for a view that writes the action of opening itself, once something stands on the screen. */
export async function lookAtReview(
  world: World,
  id: string,
): Promise<ReviewInHand & { readonly opening: DraftAction }> {
  // Both start a git: at once.
  const [reviewer, logged] = await Promise.all([
    reviewerOf(world),
    // Not by `loadChange`, which brings along all that judges and stages: the first hunk would wait for it.
    world.store().then(async (store) => readChange(store, await world.reader(), await findChange(store, id))),
  ])
  const revision = logged.change.revisions.at(-1)
  if (revision === undefined) throw new Error(`BUG: ${logged.change.id} has no revision`)
  const files = await pairFiles(await world.reader(), revision.manifest, renamesOf([revision]))
  const pieces = keyReviewFiles(files)
  const { number, digest } = revision
  const opening = { kind: 'open', revision: number, digest, pieces: draftPieces(pieces) } as const
  const draft = actOnDraft(await readReviewDraft(world, logged.change.id), opening)
  return { change: viewChange(logged.change), files, pieces, draft, reviewer, opening }
}

/** The pieces of a diff with their keys: also of another one than a change's, such as the difference of two revisions. */
export const keyReviewFiles = (files: readonly DiffFile[]): readonly KeyedPiece[] =>
  keyPieces(piecesOf(files, CONTEXT_LINES), sha256Hex)

/**
 * Does what a view was told to, on the draft as it stands at that moment: another view or process may have written it since.
 *
 * @returns The draft as it is then. `decidedOtherwise` says on what another view decided.
 * @throws GalleyError `busy`, `too-large`, `no-identity`.
 */
export async function actOnReview(
  world: World,
  id: ChangeId | string,
  actions: readonly DraftAction[],
): Promise<ReviewDraft> {
  const name = { change: changeId(id), reviewer: await reviewerOf(world) }
  let draft = emptyDraft
  await updateDraft(await world.store(), world.clock, name, (text) => {
    const before = draftIn(text)
    draft = actions.reduce(actOnDraft, before)
    return draft === before ? null : writeDraft(draft)
  })
  return draft
}

/** The draft as it is, without waiting for whoever writes it: a look at one file. */
export async function readReviewDraft(world: World, id: ChangeId | string): Promise<ReviewDraft> {
  const name = { change: changeId(id), reviewer: await reviewerOf(world) }
  return draftIn(readDraftText(await world.store(), name))
}

/** What reads as no draft counts as none. */
const draftIn = (text: string | null): ReviewDraft => (text === null ? null : readDraft(text)) ?? emptyDraft

const reviewerOf = async (world: World): Promise<string> => nameAndEmail(await world.identity())

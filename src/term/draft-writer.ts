import { actOnReview, readReviewDraft } from '../flow/review/open-review.ts'
import type { World } from '../flow/world.ts'
import { actOnDraft, type DraftAction, decidedOtherwise, type ReviewDraft } from '../review/draft.ts'

/** What a view learns of its draft from the store. */
export interface DraftNews {
  readonly draft: ReviewDraft
  /** Pieces on which another view decided. */
  readonly others: readonly string[]
}

export interface DraftWriter {
  /** Writes actions that the view has done already; those that come meanwhile go together. */
  readonly write: (actions: readonly DraftAction[]) => void
  /** Resolves when all is written. */
  readonly flush: () => Promise<void>
  /** Looks whether another view wrote. */
  readonly look: () => Promise<void>
}

/**
 * Keeps a view's draft and the one in the store together. The view never waits for it.
 *
 * @param onFault - A write failed: what was done stays in the view, and goes along with the next write.
 */
export function openDraftWriter(
  world: World,
  id: string,
  {
    start,
    onNews,
    onFault,
  }: {
    readonly start: ReviewDraft
    readonly onNews: (news: DraftNews) => void
    readonly onFault: (error: unknown) => void
  },
): DraftWriter {
  let known = start
  let pending: DraftAction[] = []
  let running: Promise<void> | null = null
  const tell = (stored: ReviewDraft, expected: ReviewDraft) => {
    known = stored
    onNews({ draft: pending.reduce(actOnDraft, stored), others: decidedOtherwise(expected, stored) })
  }
  const run = async (): Promise<void> => {
    while (pending.length > 0) {
      const batch = pending
      pending = []
      try {
        const stored = await actOnReview(world, id, batch)
        tell(stored, batch.reduce(actOnDraft, known))
      } catch (error) {
        pending = [...batch, ...pending]
        onFault(error)
        return
      }
    }
  }
  const flush = (): Promise<void> => {
    running ??= run().finally(() => {
      running = null
    })
    return running
  }
  return {
    write: (actions) => {
      pending.push(...actions)
      void flush()
    },
    flush,
    look: async () => {
      if (running !== null || pending.length > 0) return
      const stored = await readReviewDraft(world, id)
      if (running === null && stored.stamp !== known.stamp) tell(stored, known)
    },
  }
}

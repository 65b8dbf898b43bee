import { countCommits, isAncestor } from '../../git/commit-log.ts'
import { refuse } from '../../model/error.ts'
import { type CommitId, commitId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { readApproval } from '../../store/approvals.ts'
import { type ExchangedRef, readExchangedRef, readLogPart } from '../../store/exchange.ts'
import { QUEUE_PREFIX, readQueue } from '../../store/queue-chain.ts'
import type { Verifier } from '../verify/verifier.ts'
import type { RefStep } from './hook-refs.ts'

const FOLDER = 'refs/galley'

/** Whether a ref lies among galley's or would stand in the place of their folder, also where letter case does not count. */
export const isOwnRef = (ref: string): boolean => `${ref.toLowerCase()}/`.startsWith(`${FOLDER}/`)

/**
 * Judges a push of one of galley's refs: revisions and approvals are made once and never move, a log moves forward only, and each
 * holds what its name says. Every size is asked before anything is read, so that junk costs the server no more than its refusal.
 *
 * A name that galley gives to nothing is refused: a ref `refs/galley/log` would bar the folder of all logs. One that is there all the
 * same may be deleted by anybody, since nothing relies on it.
 *
 * @throws GalleyError `forged`, `path-invalid`, `too-large`.
 */
export async function guardOwnRef(verifier: Verifier, step: RefStep): Promise<void> {
  const { ref, before, after } = step
  if (ref.startsWith(QUEUE_PREFIX)) return guardQueue(verifier, step)
  const named = readExchangedRef(ref)
  if (named === null) {
    if (after === null) return
    const message = `${ref} may not be made: galley gives no ref this name`
    refuse(
      'path-invalid',
      message,
      { ref },
      'Push changes by `galley push`; name refs of your own otherwise.',
    )
  }
  if (after === null || (before !== null && !(await isForward(verifier, named, before, after)))) {
    const rule =
      named.kind === 'log'
        ? 'a log moves forward only'
        : 'a revision or approval is made once and never moves'
    const message = `${ref} may not ${after === null ? 'be deleted' : 'move'}: ${rule}`
    refuse('forged', message, { ref, before, after })
  }
  const reason = await faultOf(verifier, named, { ref, before, after })
  if (reason !== null) refuse('forged', `${ref} may not be made or moved: ${reason}`, { ref, before, after })
}

/** A queue moves forward only, a few events at a time, and says what waits. Which events are true is for whoever lands to see. */
async function guardQueue(verifier: Verifier, { ref, before, after }: RefStep): Promise<void> {
  const isForwardOnly =
    after !== null && (before === null || (await isAncestor(verifier.door, before, after)))
  if (!isForwardOnly)
    refuse('forged', `${ref} may not ${after === null ? 'be deleted' : 'move'}: a queue moves forward only`, {
      ref,
      before,
      after,
    })
  const range = { include: [after], exclude: before === null ? [] : [before] }
  const isMany =
    (await countCommits(verifier.door, range, limits.pushedEventsMax + 1)) > limits.pushedEventsMax
  if (isMany || (await readQueue(verifier.reader, after)) === null)
    refuse('forged', `${ref} may not be made or moved: it holds no queue`, { ref, before, after })
}

const isForward = async (
  verifier: Verifier,
  { kind }: ExchangedRef,
  before: CommitId,
  after: CommitId,
): Promise<boolean> => kind === 'log' && (await isAncestor(verifier.door, before, after))

/** Why what a ref is to hold is none of what its name says; null = it may be. Whether it counts is for whoever reads it to say. */
async function faultOf(
  { reader }: Verifier,
  named: ExchangedRef,
  { ref, before, after }: RefStep & { readonly after: CommitId },
): Promise<string | null> {
  switch (named.kind) {
    case 'revision': {
      const info = await reader.info(after)
      return info?.type === 'commit' ? null : `it holds ${info === null ? 'nothing' : `a ${info.type}`}`
    }
    case 'approval': {
      const found = await readApproval(reader, ref, after, { id: named.id, revision: named.number })
      return found.kind === 'broken' ? found.reason : null
    }
    case 'log': {
      const known = before === null ? null : commitId(before)
      const part = await readLogPart(reader, after, (commit) => commit === known, limits.pushedEventsMax)
      if (part.kind === 'refused') return part.reason
      const [first] = part.entries
      return part.above === null && first?.event.kind !== 'proposed'
        ? 'it does not begin with a proposal'
        : null
    }
  }
}

/** A push of so many refs of galley's at once is taken in parts. */
export function refuseTooMany(steps: readonly RefStep[]): void {
  const own = steps.filter(({ ref }) => isOwnRef(ref)).length
  if (own <= limits.pushedRefsMax) return
  refuse(
    'too-large',
    `the push brings ${own} refs of galley's, more than ${limits.pushedRefsMax}`,
    { refs: own },
    'Push them in parts; `galley push` does.',
  )
}

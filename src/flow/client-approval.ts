import { refuse } from '../model/error.ts'
import { checksHint } from '../policy/check-hint.ts'
import type { DiffFile } from '../review/diff-file.ts'
import { approve, prepareApproval } from './approve.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { reject } from './reject.ts'
import { readPairs } from './show.ts'
import type { World } from './world.ts'

/** What a person is shown when an agent's client asks them about a change. */
export interface ClientQuestion {
  readonly change: ChangeView
  readonly pairs: readonly DiffFile[]
}

/**
 * Gives what to ask a person through an agent's client. Records nothing.
 *
 * @throws GalleyError for a change that no client's yes would let through: `not-approved` where the policy wants more, `checks-failed`, and
 * the codes of `approve`.
 */
export async function questionForClient(world: World, id: string): Promise<ClientQuestion> {
  const { logged } = await prepareApproval(world, { id, via: 'mcp-client' })
  const change = viewChange(logged.change)
  const failed = change.checks.filter(({ required, outcome }) => required && outcome !== 'passed')
  if (failed.length > 0) {
    const names = failed.map(({ name }) => name)
    const data = { id: change.id, checks: names }
    refuse('checks-failed', `${change.id}: ${names.join(', ')} did not pass`, data, checksHint(failed))
  }
  return { change, pairs: await readPairs(world, change.id) }
}

/** What came back from the client. Only `approve` approves; `reject` is a person's no with their words. */
export type ClientAnswer =
  | { readonly kind: 'approve' }
  | { readonly kind: 'reject'; readonly comment: string }

/**
 * Records what a person said through an agent's client about exactly the bytes that they were shown.
 *
 * @throws GalleyError `digest-mismatch`, where the change is another one by now; the codes of `approve` and `reject`.
 */
export async function decideByClient(
  world: World,
  asked: { readonly id: string; readonly digest: string },
  answer: ClientAnswer,
): Promise<{ readonly change: ChangeView }> {
  if (answer.kind === 'approve') return approve(world, { ...asked, via: 'mcp-client' })
  const reason = answer.comment.trim() === '' ? 'rejected in the client of the agent' : answer.comment.trim()
  return reject(world, { id: asked.id, reason })
}

import { isPending } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import { checksHint } from '../policy/check-hint.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { checkRevision } from './check.ts'
import { loadChange, policyOf, refuseLostBase } from './logged-change.ts'
import { finishInterrupted } from './recover.ts'
import type { World } from './world.ts'

/**
 * Runs the checks of a pending change again, by the policy of its base.
 *
 * @throws GalleyError `checks-failed`, if a required one did not pass; the results are recorded all the same.
 */
export async function recheck(world: World, id: string): Promise<{ readonly change: ChangeView }> {
  await finishInterrupted(world)
  const store = await world.store()
  const logged = await loadChange(world, store, id)
  const { change } = logged
  if (!isPending(change.state))
    refuse('wrong-state', `${change.id} is ${change.state}`, { id: change.id, state: change.state })
  await refuseLostBase(world, store, logged)
  const policy = await policyOf(world, logged)
  const view = viewChange((await checkRevision(world, store, logged, policy)).change)
  const failed = view.checks.filter((c) => c.required && c.outcome !== 'passed')
  if (failed.length > 0) {
    const names = failed.map((c) => `${c.name} ${c.outcome}${c.summary === '' ? '' : ` (${c.summary})`}`)
    const data = { id: change.id, change: view }
    refuse('checks-failed', `${change.id}: ${names.join(', ')}`, data, checksHint(failed))
  }
  return { change: view }
}

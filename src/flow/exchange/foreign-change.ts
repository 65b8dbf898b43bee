import { isPending } from '../../model/change.ts'
import type { LoggedChange } from '../../store/change-log.ts'
import { approvalPrefix } from '../../store/change-refs.ts'
import type { Store } from '../../store/open-store.ts'
import { currentRevision, recordChecks, runChecks } from '../check.ts'
import { countFiles } from '../count-files.ts'
import { isForeign } from '../is-foreign.ts'
import { type PolicyInForce, withBasePolicy } from '../read-policy.ts'
import type { World } from '../world.ts'

/**
 * A change as a landing may believe it, where its log came from another clone: results of checks are those of checks run here and now, lines are counted
 * from the objects, and the working files' form is for git to work out, not for the log to say.
 *
 * A change of this clone alone is returned as it is. Leaves a `checked` event otherwise, where the policy has checks.
 *
 * @param beforeChecks - Called where commands are about to run; may throw.
 */
export async function believable(
  world: World,
  store: Store,
  logged: LoggedChange,
  tip: PolicyInForce,
  beforeChecks: () => void = () => undefined,
): Promise<LoggedChange> {
  if (!isForeign(logged) || !isPending(logged.change.state)) return logged
  const revision = currentRevision(logged)
  // Without any approval it does not land, and its checks need not run to find that out.
  const prefix = approvalPrefix(logged.change.id, revision.number)
  if (!logged.refs.rows.some((row) => row.ref.startsWith(prefix))) return logged
  const files = await countFiles(await world.reader(), revision.manifest, revision.files)
  const revisions = [...logged.change.revisions.slice(0, -1), { ...revision, files }]
  const own: LoggedChange = { ...logged, change: { ...logged.change, revisions, checks: [] } }
  const { policy } = await withBasePolicy(world, tip, revision.base)
  if (policy.checks.length === 0) return own
  // A new revision would need its own approval; whoever wants that asks for it.
  const judge = async () => `\`galley check ${own.change.id}\` makes a revision of that`
  beforeChecks()
  const runs = await runChecks(world, store, own, policy, { commit: revision.commit, judge })
  return recordChecks(world, store, own, { commit: revision.commit, runs })
}

import { blobIdOf } from '../../git/blob-id.ts'
import { isPending, type Revision } from '../../model/change.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import type { CommitId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Manifest } from '../../model/manifest.ts'
import { judgeTransitions } from '../../policy/judge.ts'
import { decideLanding } from '../../policy/land-decision.ts'
import { readApprovals } from '../../store/approvals.ts'
import type { LoggedChange } from '../../store/change-log.ts'
import type { Store } from '../../store/open-store.ts'
import { readWorkTreeFile } from '../../sys/work-tree-file.ts'
import { currentRevision } from '../check.ts'
import { ignoredAdditions } from '../ignored-additions.ts'
import { makesLinks, refuseLinksOut, treesRestored } from '../judge-links.ts'
import { confirmStored } from '../logged-change.ts'
import { movedPaths } from '../moved-paths.ts'
import type { PolicyInForce } from '../read-policy.ts'
import { messageHash } from '../record-approval.ts'
import { judgeApprovals, withReasons } from '../verify-approval.ts'
import type { World } from '../world.ts'

/** What the tip's policy denies does not land, whatever base it was proposed on; nor does a link that leads out of the repository. */
export async function refuseByPolicy(
  world: World,
  policyAtTip: PolicyInForce,
  logged: LoggedChange,
  tip: CommitId | null,
): Promise<void> {
  const { manifest } = currentRevision(logged)
  refuseByManifest(policyAtTip, manifest)
  if (!makesLinks(manifest)) return
  const reader = await world.reader()
  const tree = tip === null ? null : await reader.commitTree(tip)
  await refuseLinksOut({ reader, tree, manifest, restores: await treesRestored(reader, logged.change) })
}

export function refuseByManifest({ policy }: PolicyInForce, manifest: Manifest): void {
  if (policy.mode === 'read-only')
    refuse('read-only', 'the policy at the tip of the branch allows reading only', { mode: policy.mode })
  const [denied] = judgeTransitions(policy, manifest, () => 0)
  if (denied !== undefined) throw new GalleyError(denied)
}

/** Gathers the facts from the objects themselves and asks the pure decision. */
export async function decide(
  world: World,
  store: Store,
  logged: LoggedChange,
  inForce: PolicyInForce,
  tip: CommitId | null,
  reads: readonly string[],
) {
  const { change } = logged
  const revision = currentRevision(logged)
  // A change in another state is refused for that, whatever its objects hold.
  const recomputedDigest = isPending(change.state) ? await confirmStored(store, logged) : revision.digest
  const reader = await world.reader()
  const [records, hash] = await Promise.all([
    readApprovals(reader, logged.refs, change.id, revision.number),
    messageHash(reader, revision.commit),
  ])
  const tree = tip === null ? null : await reader.commitTree(tip)
  const judged = await judgeApprovals(world, records, inForce.policy, tree)
  const byRule = judged.approvals.some((fact) => fact.kind === 'approval' && fact.approval.via === 'rule')
  const decision = decideLanding({
    id: change.id,
    state: change.state,
    revision,
    recomputedDigest,
    messageHash: hash,
    approvals: judged.approvals,
    signedTags: judged.signedTags,
    checks: change.checks,
    policy: inForce.policy,
    tip,
    movedPaths: await movedPaths(world, revision, tip),
    movedReads: reads,
    ignored: byRule ? await ignoredAdditions(world, revision.manifest) : [],
    now: world.now(),
  })
  return withReasons(decision, judged.setAside)
}

/** Files that the agent relied on and that are no longer as it saw them, by the bytes in the work tree. */
export async function movedReads(world: World, revision: Revision): Promise<readonly string[]> {
  const root = world.repository.workTree
  if (root === null) return []
  const moved: string[] = []
  for (const { path, blob } of revision.reads) {
    const file = await readWorkTreeFile(root, path, limits.fileMaxBytes)
    const now = file.kind === 'file' ? await blobIdOf(file.bytes, world.repository.objectFormat) : null
    if (now !== blob) moved.push(path)
  }
  return moved
}

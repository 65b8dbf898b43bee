import { walkCommits } from '../../git/commit-log.ts'
import { type ChangeId, type CommitId, changeId, isChangeId } from '../../model/ids.ts'
import { usedBy } from '../../policy/branch-rule.ts'
import { digestOf } from '../stage.ts'
import type { World } from '../world.ts'
import { AS_IT_STANDS, StepCoverer } from './cover-step.ts'
import { sideStep } from './load-line.ts'
import { withVerifier } from './verify.ts'

/**
 * The changes that commits come from: those that cover what each of them does, whatever its message says, and those that the messages name. It
 * decides which approvals go along with a branch, not whether they are enough.
 */
export const changesOf = (
  world: World,
  before: CommitId | null,
  after: CommitId,
): Promise<ReadonlySet<ChangeId>> =>
  withVerifier(world, undefined, async (verifier) => {
    const range = { include: [after], exclude: before === null ? [] : [before] }
    const commits = await walkCommits(verifier.door, range)
    const pool = await verifier.pool()
    await pool.prepare(commits.map(({ transitions }) => digestOf(transitions)))
    const coverer = new StepCoverer(verifier, pool, verifier.place)
    const found = new Set<ChangeId>()
    for (const logged of commits) {
      const { step, cover } = await coverer.cover(sideStep(verifier, logged), new Map(), AS_IT_STANDS)
      for (const key of usedBy(step, cover, new Map())) found.add(key)
      for (const id of step.claims.changes) if (isChangeId(id)) found.add(changeId(id))
    }
    return found
  })

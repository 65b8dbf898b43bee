import { commonAncestor, walkLine } from '../../git/commit-log.ts'
import type { ChangeId, CommitId } from '../../model/ids.ts'
import { usedBy } from '../../policy/branch-rule.ts'
import { digestOf } from '../stage.ts'
import { AS_IT_STANDS, type StepCoverer } from './cover-step.ts'
import type { Covering } from './covering.ts'
import { type BranchLine, sideStep } from './load-line.ts'
import type { Verifier } from './verifier.ts'

/** Paths go to git as arguments; more than this, and the whole line is walked. */
const PATHS_MAX_BYTES = 64 * 1024
/** Bases whose common ancestor is looked for; with more, the line is walked from its beginning. */
const BASES_MAX = 500

/**
 * What the branch had used before the line began, of the approvals that the line may use.
 *
 * Only steps made since an approval's base can have used it, so that nothing is read where every change was staged on the line itself. Else
 * the steps since the bases' common ancestor are gone through, as far as they touch a path of those changes or of changes that share one.
 */
export async function findEarlierUses(
  verifier: Verifier,
  coverer: StepCoverer,
  { start, ids }: Pick<BranchLine, 'start' | 'ids'>,
): Promise<ReadonlyMap<ChangeId, string>> {
  const used = new Map<ChangeId, string>()
  if (start === null) return used
  const older = [...coverer.seen.keys()].filter(({ base }) => base === null || !ids.has(base))
  if (older.length === 0) return used
  const { door } = verifier
  const since = await sinceOf(verifier, start, older)
  const include = [start]
  const exclude = since === null ? [] : [since]
  const steps = await walkLine(door, { include, exclude }, await pathsOf(verifier, coverer, older))
  await (await verifier.pool()).prepare(steps.map((logged) => digestOf(logged.transitions)))
  for (const logged of steps) {
    const step = sideStep(verifier, logged)
    const found = await coverer.cover(step, used, AS_IT_STANDS)
    for (const key of usedBy(found.step, found.cover, used)) used.set(key, logged.commit)
    // It was judged when it came: what it names, it has used.
    for (const { key } of older) if (step.claims.changes.includes(key)) used.set(key, logged.commit)
  }
  return used
}

async function sinceOf(
  { door }: Verifier,
  start: CommitId,
  older: readonly Covering[],
): Promise<CommitId | null> {
  const bases = new Set(older.map(({ base }) => base))
  if (bases.has(null) || bases.size > BASES_MAX) return null
  return commonAncestor(door, [start, ...[...bases].flatMap((base) => base ?? [])])
}

/** Empty = all. */
async function pathsOf(
  verifier: Verifier,
  coverer: StepCoverer,
  older: readonly Covering[],
): Promise<readonly string[]> {
  const pool = await verifier.pool()
  const near = await pool.near(older.flatMap((covering) => covering.manifest))
  const made = older.flatMap((covering) => [...(coverer.seen.get(covering) ?? [])])
  const paths = new Set(
    [...near, ...older].flatMap(({ manifest }) => manifest.map((t) => t.path)).concat(made),
  )
  const size = [...paths].reduce((sum, path) => sum + path.length + 1, 0)
  return size > PATHS_MAX_BYTES || [...paths].some((path) => path.includes('\0')) ? [] : [...paths]
}

import { commonAncestor, isAncestor, walkLine } from '../../git/commit-log.ts'
import type { ChangeId, CommitId } from '../../model/ids.ts'
import { type Used, usedBy } from '../../policy/branch-rule.ts'
import { digestOf } from '../stage.ts'
import type { ApprovalPool } from './approval-pool.ts'
import { AS_IT_STANDS, type LineStep, StepCoverer } from './cover-step.ts'
import type { Covering } from './covering.ts'
import { type BranchLine, sideStep } from './load-line.ts'
import type { Verifier } from './verifier.ts'

/** Paths go to git as arguments; more than this, and the whole line is walked. */
const PATHS_MAX_BYTES = 64 * 1024
/** Bases whose common ancestor is looked for; with more, the line is walked from its beginning. */
const BASES_MAX = 500

type Line = Pick<BranchLine, 'start' | 'ids'>

/** By where a line begins. */
export type EarlierUses = ReadonlyMap<CommitId | null, Used>

/**
 * Judges lines with what their branches had used before them: first as if that were nothing, which shows what is to be looked for. Again, as long
 * as approvals are chosen that were not looked for before.
 */
export async function withEarlierUses<T>(
  verifier: Verifier,
  coverer: StepCoverer,
  lines: readonly Line[],
  judge: (earlier: EarlierUses) => Promise<T>,
): Promise<T> {
  let judged = await judge(new Map())
  for (let known = 0; ; ) {
    const older = lines.map((line) => ({ line, coverings: olderThan(coverer, line) }))
    const count = older.reduce((sum, { coverings }) => sum + coverings.length, 0)
    if (count === known) return judged
    known = count
    const earlier = new Map<CommitId | null, Used>()
    for (const { line, coverings } of older) {
      if (line.start === null || coverings.length === 0) continue
      const made = new Map(coverings.map((one) => [one, coverer.seen.get(one) ?? new Set<string>()]))
      earlier.set(line.start, await usesBefore(verifier, line.start, made))
    }
    judged = await judge(earlier)
  }
}

/** Approvals that may have been used before a line: only steps made since their base can have. */
const olderThan = ({ seen }: StepCoverer, { start, ids }: Line): readonly Covering[] =>
  start === null ? [] : [...seen.keys()].filter(({ base }) => base === null || !ids.has(base))

/**
 * Goes through the steps since the common ancestor of approvals' bases, as far as they touch a path of those changes or of changes that share one.
 *
 * @param older - With the paths that they came to lie at where they were used.
 */
async function usesBefore(
  verifier: Verifier,
  start: CommitId,
  older: ReadonlyMap<Covering, ReadonlySet<string>>,
): Promise<Used> {
  const pool = await verifier.pool()
  const coverings = [...older.keys()]
  const since = await sinceOf(verifier, start, coverings)
  const range = { include: [start], exclude: since === null ? [] : [since] }
  const steps = await walkLine(verifier.door, range, await pathsOf(pool, older))
  await pool.prepare(steps.map((logged) => digestOf(logged.transitions)))
  const coverer = new StepCoverer(verifier, pool, verifier.place)
  const used = new Map<ChangeId, string>()
  for (const logged of steps) {
    const step = sideStep(verifier, logged)
    const before = new Map(used)
    const found = await coverer.cover(step, used, AS_IT_STANDS)
    for (const key of usedBy(found.step, found.cover, used)) used.set(key, logged.commit)
    const near = step.claims.changes.length > 0 ? null : new Set(await pool.near(step.transitions))
    for (const covering of coverings) {
      const isNamed = step.claims.changes.includes(covering.key)
      if (used.has(covering.key)) continue
      // It was judged when it came: what it names, it has used. One that names nothing may have used any that could have covered it.
      const couldBe = near?.has(covering) === true
      const isUsed = isNamed || (couldBe && (await couldUse({ verifier, coverer, step }, covering, before)))
      if (isUsed) used.set(covering.key, logged.commit)
    }
  }
  return used
}

/** Whether a step that names no change can be covered with this one, which was there when the step was made. */
async function couldUse(
  {
    verifier,
    coverer,
    step,
  }: { readonly verifier: Verifier; readonly coverer: StepCoverer; readonly step: LineStep },
  { key, base }: Covering,
  used: Used,
): Promise<boolean> {
  const claims = { ...step.claims, changes: [key] }
  const { cover } = await coverer.cover({ ...step, claims }, used, AS_IT_STANDS)
  if (cover.kind !== 'covered') return false
  return base === null || !(await isAncestor(verifier.door, step.commit, base))
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
  pool: ApprovalPool,
  older: ReadonlyMap<Covering, ReadonlySet<string>>,
): Promise<readonly string[]> {
  const near = await pool.near([...older.keys()].flatMap((covering) => covering.manifest))
  const own = [...near, ...older.keys()].flatMap(({ manifest }) => manifest.map((t) => t.path))
  const paths = [...new Set([...own, ...[...older.values()].flatMap((made) => [...made])])]
  const size = paths.reduce((sum, path) => sum + Buffer.byteLength(path) + 1, 0)
  return size > PATHS_MAX_BYTES || paths.some((path) => path.includes('\0')) ? [] : paths
}

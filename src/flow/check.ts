import {
  asSpoilt,
  findRewriting,
  type JudgeRewriting,
  judgeRewriting,
  putTreeBack,
} from '../checks/rewriting.ts'
import { type CheckContext, type CheckRun, runCheck } from '../checks/run-command.ts'
import { hookCheckName, runTeamHooks } from '../checks/team-hooks.ts'
import { sha256Hex } from '../git/blob-id.ts'
import { diffTrees } from '../git/diff-tree.ts'
import { emptyTree } from '../git/fast-import.ts'
import type { ChangeEvent, Revision } from '../model/change.ts'
import { invariant } from '../model/error.ts'
import type { CommitId } from '../model/ids.ts'
import { nameAndEmail } from '../model/person.ts'
import type { CheckCommand, Policy } from '../model/policy.ts'
import { autoApproves } from '../policy/judge.ts'
import { applicableChecks } from '../policy/required-checks.ts'
import { appendEvents, type LoggedChange } from '../store/change-log.ts'
import type { Store } from '../store/open-store.ts'
import { planOwnRepository } from '../store/own-repository.ts'
import { ensureScratch, scratchPath } from '../store/scratch.ts'
import { endShow, showRepository, type TreeSeal } from '../store/tree-seal.ts'
import { type ProvisionedTree, type SetupFailure, withFullTree } from './full-tree.ts'
import { ignoredAdditions } from './ignored-additions.ts'
import { protectedHere } from './protected-here.ts'
import type { PolicyInForce } from './read-policy.ts'
import { recordApproval } from './record-approval.ts'
import { rewriterAmong, rewritingJudge, stageRewritten } from './rewritten.ts'
import { beforeCommit, findTeamHooks } from './team-hooks.ts'
import type { World } from './world.ts'

/** The newest revision; every change that the store publishes has one. */
export function currentRevision(logged: Pick<LoggedChange, 'change'>): Revision {
  const revision = logged.change.revisions.at(-1)
  invariant(revision, `${logged.change.id} has a revision`)
  return revision
}

/**
 * Puts the current revision into its scratch tree, runs the policy's checks there, and lets a rule approve it. Where a check rewrites
 * files, what it made of them is the next revision, which is checked from the start; approvals of the one before do not count for it.
 *
 * Leaves a `checked` event with every check's output for each revision, and an approval where `autoApprove` covers the last one.
 *
 * @param earlier - Checks whose rewritings made the revision, in the same go.
 */
export async function checkRevision(
  world: World,
  store: Store,
  found: LoggedChange,
  inForce: PolicyInForce,
  earlier: readonly string[] = [],
): Promise<LoggedChange> {
  const rewriters: string[] = [...earlier]
  for (let logged = found; ; ) {
    const revision = currentRevision(logged)
    const facts = { change: logged.change, revision, inForce, base: revision.base }
    const judge = rewritingJudge(world, store, { ...facts, rewriters })
    const runs = await runChecks(world, store, logged, inForce.policy, { commit: revision.commit, judge })
    const checked = await recordChecks(world, store, logged, { commit: revision.commit, runs })
    const rewriter = rewriterAmong(runs)
    if (rewriter === null) return approveByRule(world, store, checked, inForce)
    rewriters.push(rewriter.name)
    logged = await stageRewritten(world, store, checked, { ...rewriter, ...facts })
  }
}

/** Names of all that a change is to pass by this policy: the checks that its paths call for, and the team's own hooks as they are now. */
export async function checkNames(
  world: World,
  policy: Policy,
  { manifest }: Pick<Revision, 'manifest'>,
): Promise<readonly string[]> {
  const hooks = policy.checkHooks ? await findTeamHooks(world.repository) : []
  return [...applicableChecks(policy, manifest).map((check) => check.name), ...hooks.map(hookCheckName)]
}

/** Where checks run, and who decides on what they make of the files. */
export interface CheckPlace {
  /** The revision's own commit, or the same transitions on another parent. */
  readonly commit: CommitId
  readonly judge: JudgeRewriting
}

/**
 * Runs the checks that the change calls for, and the team's own hooks after them.
 *
 * @returns What each came to, in order. Ends at the first whose rewriting is taken: the next revision is checked from the start.
 */
export async function runChecks(
  world: World,
  store: Store,
  logged: LoggedChange,
  policy: Policy,
  { commit, judge }: CheckPlace,
): Promise<readonly CheckRun[]> {
  const { id, onto } = logged.change
  const revision = currentRevision(logged)
  const paths = revision.manifest.map((t) => t.path)
  const wanted = applicableChecks(policy, revision.manifest)
  const [small, hooks] = await Promise.all([
    ensureScratch(world.repository, store, await world.reader(), { id, commit, paths }),
    policy.checkHooks ? findTeamHooks(world.repository) : [],
  ])
  if (hooks.length === 0 && wanted.length === 0) return []
  const own = await planOwnRepository(world.repository, store, { onto, who: await world.identity() })
  // What the policy calls full is full; hooks alone see what they see at home, and what the change touches.
  const isFull = wanted.some((check) => check.tree === 'full')
  const ownOfFull = isFull ? { ...own, checkout: { ...own.checkout, sparse: null } } : own
  const context = { commit, base: revision.base, change: id, paths, env: world.repository.env }
  const runAll = async (full: ProvisionedTree | null): Promise<readonly CheckRun[]> => {
    const brought = full?.brought ?? []
    const inSmall = { seal: { tree: small, commit, own }, brought, failure: null }
    const inFull =
      full === null
        ? inSmall
        : { seal: { tree: full.slot, commit, own: ownOfFull }, brought, failure: full.setupFailure }
    const runs: CheckRun[] = []
    for (const [i, check] of wanted.entries()) {
      world.progress(`check ${check.name} (${i + 1} of ${wanted.length})`)
      runs.push(await runOne(check, check.tree === 'full' ? inFull : inSmall, context, judge))
      if (rewriterAmong(runs) !== null) return runs
    }
    return [...runs, ...(await runHooks(hooks, inFull))]
  }
  const runHooks = async (asked: typeof hooks, { seal, brought, failure }: CheckedTree) => {
    if (asked.length === 0) return []
    if (failure !== null)
      return asked.map((hook) => notRun({ name: hookCheckName(hook), required: true }, commit, failure))
    const before = await beforeCommit(world, store, commit, logged)
    return runTeamHooks(asked, { ...context, ...before, judge, brought, seal, tree: seal.tree })
  }
  // The team's hooks expect the whole repository, as a commit of the user's own gives them.
  if (hooks.length === 0 && !isFull) return runAll(null)
  const purpose = { kind: 'check' } as const
  const request = { commit, policy, purpose, usesSetup: true, own: ownOfFull, shows: paths }
  return withFullTree(world, store, request, runAll)
}

/** A tree in which checks run one after the other, each on the commit as it is. */
interface CheckedTree {
  readonly seal: TreeSeal
  readonly brought: readonly string[]
  /** Why nothing can run there, or not any more. */
  failure: SetupFailure | null
}

/** Without what setup brings, a check would judge something else than the change. */
function notRun(
  check: Pick<CheckCommand, 'name' | 'required'>,
  commit: CommitId,
  { summary, output }: SetupFailure,
): CheckRun {
  const { name, required } = check
  return {
    result: { name, commit, outcome: 'missing', required, exitCode: null, durationMs: 0, summary },
    output,
  }
}

/** A check that rewrites files has looked at bytes that are not the ones to be approved. One that fails blocks, whatever else it did. */
async function runOne(
  check: CheckCommand,
  place: CheckedTree,
  context: Omit<CheckContext, 'tree'>,
  judge: JudgeRewriting,
): Promise<CheckRun> {
  const { seal, brought, failure } = place
  if (failure !== null) return notRun(check, context.commit, failure)
  const shown = { head: seal.commit }
  await showRepository(seal, shown)
  const run = await runCheck(check, { ...context, tree: seal.tree })
  const left = await findRewriting(seal, brought, shown)
  await endShow(seal)
  if (left.kind === 'as-it-was') return run
  if (left.kind === 'spoilt') {
    const spoilt = asSpoilt(run, check.name, left.why)
    if (left.isGone) place.failure = { summary: spoilt.result.summary, output: spoilt.output }
    return spoilt
  }
  if (run.result.outcome === 'passed') return judgeRewriting(run, left.rewriting, { seal, judge })
  await putTreeBack(seal)
  return run
}

/** Where a check's output lies beside its event: named after the check, whose name is free text. */
export const outputPath = (check: string): string => `output/${sha256Hex(check).slice(0, 16)}.txt`

/** Records all checks of one commit, in place of those that ran there before; nothing, where there were none and are none. */
export async function recordChecks(
  world: World,
  store: Store,
  logged: LoggedChange,
  { commit, runs }: { readonly commit: CommitId; readonly runs: readonly CheckRun[] },
): Promise<LoggedChange> {
  if (runs.length === 0 && logged.change.checks.every((c) => c.commit !== commit)) return logged
  const identity = await world.identity()
  const event: ChangeEvent = {
    kind: 'checked',
    at: world.now(),
    by: nameAndEmail(identity),
    revision: currentRevision(logged).number,
    checks: runs.map((r) => r.result),
    ...(runs.length === 0 ? { commit } : {}),
  }
  const attachments = new Map(runs.map((r) => [outputPath(r.result.name), r.output as Uint8Array]))
  return appendEvents(store, logged, [{ event, attachments }], identity)
}

/** `autoApprove` of the policy; recorded with the rule's text and the commit that it was read from. */
async function approveByRule(
  world: World,
  store: Store,
  logged: LoggedChange,
  inForce: PolicyInForce,
): Promise<LoggedChange> {
  if (inForce.policy.autoApprove === null || logged.change.state !== 'staged') return logged
  const revision = currentRevision(logged)
  const { manifest, files, remarks, commit } = revision
  const facts = { manifest, files, remarks, checks: logged.change.checks, commit }
  const verdict = autoApproves(inForce.policy, facts)
  if (verdict.kind === 'no' || (await protectedHere(world, manifest)).length > 0) return logged
  const tree = scratchPath(world.repository, logged.change.id, 'small')
  const ignored = await ignoredAdditions(world, manifest, [tree])
  if (autoApproves(inForce.policy, { ...facts, ignored }).kind === 'no') return logged
  return recordApproval(world, store, logged, {
    via: 'rule',
    policy: inForce,
    rule: { text: verdict.rule, commit: revision.base },
  })
}

/** What the commit changes against its parent, from the objects alone. */
export const transitionsOf = (store: Store, base: CommitId | null, commit: CommitId) =>
  diffTrees(store.door, base ?? emptyTree(store.door.objectFormat), commit)

import { sha256Hex } from '../../git/blob-id.ts'
import { findRenames } from '../../git/diff-tree.ts'
import { emptyTree } from '../../git/fast-import.ts'
import type { Agent } from '../../model/batch.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import type { ChangeId, CommitId, TreeId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Manifest } from '../../model/manifest.ts'
import { judgeTransitions } from '../../policy/judge.ts'
import type { LoggedChange } from '../../store/change-log.ts'
import { withLandingLock } from '../../store/lock.ts'
import type { Store } from '../../store/open-store.ts'
import { currentRevision } from '../check.ts'
import { countFiles } from '../count-files.ts'
import { loadChange } from '../logged-change.ts'
import type { PolicyInForce } from '../read-policy.ts'
import type { Base } from '../select-base.ts'
import { siftWork } from '../sift-work.ts'
import { type RevisionRequest, stageNewChange, stageRevision } from '../stage.ts'
import { storedChanges } from '../stored-changes.ts'
import type { World } from '../world.ts'
import { filesTaken, takenRemarks, type WithTaken } from './taken-files.ts'

/** One change to be: what stands in `tree`, against what the one before it came to. */
export interface RunStep extends WithTaken {
  readonly title: string
  readonly body: string
  /** Of the commits that it is made of. */
  readonly messages?: readonly string[]
}

export interface StageRunRequest {
  readonly run: string
  readonly base: Base
  readonly inForce: PolicyInForce
  readonly agent: Agent
  /** Oldest first; each stacks on the one before. */
  readonly steps: readonly RunStep[]
  readonly brought: readonly string[]
}

export interface StagedRun {
  /** Oldest first. Steps that change nothing have none. Not yet checked. */
  readonly changes: readonly LoggedChange[]
  readonly leftOut: ReadonlyMap<string, string>
}

/**
 * Stages what a run did, one change for each step that changes something.
 *
 * @throws GalleyError `denied-path`, `too-large`; nothing is staged then.
 */
export async function stageRun(world: World, store: Store, request: StageRunRequest): Promise<StagedRun> {
  const { sifted, leftOut } = await siftSteps(world, store, request)
  const changes: LoggedChange[] = []
  for (const { step, manifest } of sifted)
    changes.push(await stageStep(world, store, request, step, manifest, changes.at(-1) ?? null))
  return { changes, leftOut }
}

/**
 * Stages what a run has done by now as the next revision of the change that it has become before: one step, on the same branch.
 *
 * @returns `logged: null` where nothing is left of it.
 * @throws GalleyError `denied-path`, `too-large`, `wrong-state`; nothing is staged then.
 */
export async function restageRun(
  world: World,
  store: Store,
  request: StageRunRequest,
  id: ChangeId,
): Promise<{ readonly logged: LoggedChange | null; readonly leftOut: ReadonlyMap<string, string> }> {
  const { sifted, leftOut } = await siftSteps(world, store, request)
  const [only] = sifted
  if (only === undefined) return { logged: null, leftOut }
  const { base } = request
  const revision = await revisionOf(world, store, request, { ...only, parent: base.commit })
  const logged = await withLandingLock(store.galleyDir, world.clock, 'revise', async () => {
    const found = await loadChange(world, store, id)
    const { state } = found.change
    if (['landed', 'undone'].includes(state))
      refuse('wrong-state', `${id} is ${state}; only a change that has not landed can be revised`, {
        id,
        state,
      })
    return stageRevision(world, store, found, revision, 'revised')
  })
  return { logged, leftOut }
}

interface SiftedStep {
  readonly step: RunStep
  readonly manifest: Manifest
}

/** What of each step may be part of a change. Steps that change nothing are left out. */
async function siftSteps(
  world: World,
  store: Store,
  { base, inForce, steps, brought }: StageRunRequest,
): Promise<{ readonly sifted: readonly SiftedStep[]; readonly leftOut: ReadonlyMap<string, string> }> {
  const { fileMaxBytes, batchMaxFiles } = inForce.policy.limits
  const leftOut = new Map<string, string>()
  const sifted: SiftedStep[] = []
  let from = base.tree
  for (const step of steps) {
    const found = await siftWork(world, store, { from, to: step.tree }, { brought, fileMaxBytes })
    for (const [path, why] of found.leftOut) leftOut.set(path, why)
    const count = found.manifest.length
    if (count > batchMaxFiles)
      refuse('too-large', `the run changed ${count} files; ${batchMaxFiles} are allowed`, { files: count })
    const [denied] = judgeTransitions(inForce.policy, found.manifest, () => 0)
    if (denied !== undefined) throw new GalleyError(denied)
    const manifest = withoutLeftOut(found.manifest, leftOut)
    if (manifest.length > 0) sifted.push({ step, manifest })
    from = step.tree
  }
  return { sifted, leftOut }
}

/** What one commit adds and a later one changes is left out of both. */
const withoutLeftOut = (manifest: Manifest, leftOut: ReadonlyMap<string, string>): Manifest =>
  manifest.filter((t) => !leftOut.has(t.path))

async function stageStep(
  world: World,
  store: Store,
  request: StageRunRequest,
  step: RunStep,
  manifest: Manifest,
  below: LoggedChange | null,
): Promise<LoggedChange> {
  const { base, agent, run } = request
  const parent = below === null ? base.commit : currentRevision(below).commit
  const stackedOn: ChangeId | null = below?.change.id ?? null
  const title = step.title.slice(0, limits.titleMaxCharacters)
  return stageNewChange(
    world,
    store,
    {
      title,
      body: step.body,
      agent,
      onto: base.onto,
      stackedOn,
      key: null,
      batchHash: sha256Hex(JSON.stringify(['run', run, step.tree, title])),
      undoes: [],
      redoes: [],
      ...(step.messages === undefined ? {} : { messages: step.messages }),
    },
    await revisionOf(world, store, request, { step, manifest, parent }),
    () => [],
  )
}

async function revisionOf(
  world: World,
  store: Store,
  { agent, inForce }: StageRunRequest,
  { step, manifest, parent }: SiftedStep & { readonly parent: CommitId | null },
): Promise<RevisionRequest> {
  const identity = await world.identity()
  const byAgent = inForce.policy.commit.author === 'agent'
  const renames = await renamesIn(store, parent, step.tree, manifest)
  return {
    base: parent,
    content: { kind: 'changes', changes: storedChanges(manifest), manifest },
    files: await countFiles(await world.reader(), manifest, filesTaken(step), renames),
    remarks: await takenRemarks(world, step),
    reads: [],
    author: byAgent ? { ...identity, name: agent.name } : identity,
    committer: identity,
  }
}

/** Renames between the trees, of which the change holds both sides. */
async function renamesIn(
  store: Store,
  parent: CommitId | null,
  tree: TreeId,
  manifest: Manifest,
): Promise<ReadonlyMap<string, string>> {
  const from = parent ?? emptyTree(store.door.objectFormat)
  const held = new Set(manifest.map((t) => t.path))
  const found = await findRenames(store.door, from, tree)
  return new Map([...found].filter(([to, origin]) => held.has(to) && held.has(origin)))
}

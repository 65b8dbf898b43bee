import type { ConfigValues } from '../git/config-values.ts'
import { openObjectReader } from '../git/objects.ts'
import { type NewObjects, type ObjectsAside, seeingAside, writeBlobsAside } from '../git/promote.ts'
import { startRefTransaction } from '../git/ref-transaction.ts'
import { filterless } from '../git/without-filters.ts'
import { type LandingJournal, landDirectory, writeJournal } from '../store/landing-journal.ts'
import type { Conversation } from '../sys/conversation.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import type { Standing } from '../sys/file-key.ts'
import { identityOf, ownIdentity } from '../sys/process-identity.ts'
import type { StagedStat } from '../sys/stage-file.ts'
import { backUp } from './backup.ts'
import { newLandingId } from './hold-index.ts'
import { hookEnvironment } from './hook-environment.ts'
import { type IndexImage, makeIndexImage } from './index-image.ts'
import { chooseAside, stageLandingObjects } from './landing-objects.ts'
import { lockIndex } from './locks.ts'
import { type LandingPlan, planLanding } from './preflight.ts'
import type { RawVersions } from './raw-versions.ts'
import { objectsDirectory, type RepositoryFacts } from './repository-facts.ts'
import type { HeldIndex, LandRequest } from './request.ts'
import { type StagedFiles, stageFiles } from './stage.ts'
import { noteTraces, removeUnjournaled } from './unjournaled.ts'

/**
 * A landing that is ready: everything is written aside and in the journal, and nothing of the user's has
 * moved.
 */
export interface ReadyLanding {
  readonly landDir: string
  readonly journal: LandingJournal
  readonly plan: LandingPlan
  /** By step of the journal: what was seen at the path. */
  readonly standings: readonly Standing[]
  /** By path, where the file will hold exactly what its index entry says: what the staged file looks like. */
  readonly staged: ReadonlyMap<string, StagedStat>
  readonly image: IndexImage | null
  readonly refProcess: Conversation
  /** The commit's objects, and those of merged index entries. */
  readonly aside: ObjectsAside
  readonly backups: readonly string[]
  readonly isIndexLocked: boolean
  /** Folders of ours beside the user's files, on other devices than galley's own folder. */
  readonly extraStages: readonly string[]
  readonly config: ConfigValues
}

/** Looked up beside each other, since each costs a process or two. */
export interface Lookups {
  readonly objects: Promise<NewObjects>
  readonly raw: Promise<ReadonlyMap<string, RawVersions>>
}

/**
 * Makes everything ready. The slow part of a landing, all of it before git's locks are taken: objects, new
 * files, the new index.
 *
 * @param lockFirst - Takes the index lock before looking, so that nobody can change the index in between.
 * Holds it longer.
 * @throws GalleyError for whatever stands in the way; what was written aside is gone again, locks are
 * released.
 */
export async function makeReady(
  request: LandRequest,
  facts: RepositoryFacts & { readonly workTree: string },
  lookups: Lookups,
  lockFirst: LockFirst | null,
): Promise<ReadyLanding> {
  const id = lockFirst?.id ?? newLandingId(request)
  const landDir = landDirectory(request.galleyDir, id)
  const started: Conversation[] = []
  try {
    return await makeReadyIn(request, facts, lookups, { id, landDir, lockFirst, started })
  } catch (error) {
    for (const process of started) process.kill()
    await removeUnjournaled(request.repository, landDir, id)
    throw error
  }
}

/** With `id`, the lock of that landing is held already. */
export type LockFirst = Pick<HeldIndex, 'indexFile'> & { readonly id?: HeldIndex['id'] }

interface Making {
  readonly id: string
  readonly landDir: string
  readonly lockFirst: LockFirst | null
  /** Processes that have to be ended if the rest fails. */
  readonly started: Conversation[]
}

async function makeReadyIn(
  request: LandRequest,
  facts: RepositoryFacts & { readonly workTree: string },
  lookups: Lookups,
  { id, landDir, lockFirst, started }: Making,
): Promise<ReadyLanding> {
  const { repository, store } = request
  const reach = request.reach ?? (() => undefined)
  const reader = request.reader ?? openObjectReader(store)
  try {
    await makePrivateDirectory(landDir)
    const aside = chooseAside(objectsDirectory(repository.commonDir), landDir)
    const note = (stages: readonly string[]) =>
      noteTraces(landDir, { indexFile: lockFirst?.indexFile ?? null, stages: [...stages, aside.directory] })
    await note([])
    await makePrivateDirectory(aside.directory)
    if (lockFirst !== null && lockFirst.id === undefined)
      await lockIndex(lockFirst.indexFile, landDir, id, request.clock)
    const plan = await planLanding(request, facts, await lookups.raw, landDir, reader)
    reach('planned')
    const env = { ...hookEnvironment(repository.env), ...seeingAside(aside) }
    const refProcess = startRefTransaction(repository.door, request.reason, env)
    started.push(refProcess)
    const [backups, staged, image] = await allOrThrow([
      backUp(request, plan, reader),
      stageFiles(
        { landDir, workTree: facts.workTree, hash: repository.objectFormat, reader, note },
        plan.files,
      ),
      makeIndexImage(filterless(repository.door, facts.config), plan, landDir),
      lookups.objects.then((found) => stageAllObjects(request, facts, found, plan, aside)),
    ])
    reach('staged')
    const journal = journalOf(request, plan, staged, { id, refProcessId: refProcess.pid })
    await writeJournal(landDir, journal)
    reach('journaled')
    return {
      landDir,
      journal,
      plan,
      standings: staged.planned.map((file) => file.standing),
      staged: cleanFiles(plan, staged),
      image,
      refProcess,
      aside,
      backups,
      isIndexLocked: lockFirst !== null,
      extraStages: staged.extraStages,
      config: facts.config,
    }
  } finally {
    if (request.reader === undefined) await reader.close()
  }
}

/**
 * As `Promise.all`, but when one fails the others are waited for: they write into a folder that is about to
 * be removed.
 */
async function allOrThrow<T extends readonly unknown[]>(
  tasks: { readonly [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  const ends = await Promise.allSettled(tasks)
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return Promise.all(tasks) as unknown as Promise<T>
}

async function stageAllObjects(
  request: LandRequest,
  facts: RepositoryFacts,
  found: NewObjects,
  plan: LandingPlan,
  aside: ObjectsAside,
): Promise<void> {
  await stageLandingObjects(request, facts, found, aside)
  const indexBlobs = [...plan.merged]
    .filter(([key]) => key.startsWith('index:'))
    .map(([, { bytes }]) => bytes)
  await writeBlobsAside(request.repository.door, aside, indexBlobs)
  request.reach?.('objects-staged')
}

/**
 * A file that keeps uncommitted work must look changed to git, so what it looks like is not written into its
 * entry.
 */
function cleanFiles(plan: LandingPlan, staged: StagedFiles): ReadonlyMap<string, StagedStat> {
  const found = new Map<string, StagedStat>()
  const entries = new Map(plan.entries.map((entry) => [entry.path, entry]))
  for (const [n, step] of staged.steps.entries()) {
    const stat = staged.stats[n]
    const facts = plan.facts.get(step.path)
    const isClean = step.next?.id === facts?.rawNext?.id && entries.get(step.path)?.to?.id === facts?.next?.id
    if (stat && isClean) found.set(step.path, stat)
  }
  return found
}

function journalOf(
  request: LandRequest,
  plan: LandingPlan,
  staged: StagedFiles,
  ids: { readonly id: string; readonly refProcessId: number },
): LandingJournal {
  return {
    version: 1,
    id: ids.id,
    label: request.label,
    owner: ownIdentity(),
    refProcess: identityOf(ids.refProcessId),
    startedAt: request.clock.now(),
    objectFormat: request.repository.objectFormat,
    gitDir: request.repository.gitDir,
    workTree: plan.workTree,
    ref: request.ref,
    before: request.before,
    after: request.after,
    files: staged.steps,
    cleared: staged.cleared,
    made: staged.made,
    indexFile: plan.indexFile,
    indexBasis: plan.reading.identity,
    index: plan.entries.map(({ path, from, to, skipWorktree }) => ({ path, from, to, skipWorktree })),
  }
}

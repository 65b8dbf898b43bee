import { join } from 'node:path'
import { type ObjectReader, openObjectReader } from '../git/objects.ts'
import { filterless } from '../git/without-filters.ts'
import { asSystemRefusal } from '../model/errno.ts'
import { invariant, refuse } from '../model/error.ts'
import { makePrivateDirectory, removeOwnDirectory } from '../sys/directories.ts'
import { resolveFile } from '../sys/index-snapshot.ts'
import type { PathFacts } from './decide-path.ts'
import { createdPaths, displacedEntries, parentsOfCreated } from './displaced-entries.ts'
import { gatherFacts } from './gather-facts.ts'
import { mergeAll } from './merge-beneath.ts'
import { movedFiles } from './moved-files.ts'
import {
  decidePaths,
  type MergedContent,
  type PlannedEntry,
  type PlannedFile,
  planEntry,
  planFile,
  refuseProblems,
} from './plan.ts'
import { type RawVersions, rawVersions } from './raw-versions.ts'
import { landingConfig, type RepositoryFacts, repositoryFacts } from './repository-facts.ts'
import type { LandRequest } from './request.ts'
import { outsideCone } from './sparse-cone.ts'
import { submoduleRemarks } from './submodules.ts'
import { type IndexReading, readWholeIndex } from './whole-index.ts'

/** Everything that a landing will do, worked out and not begun. */
export interface LandingPlan {
  readonly workTree: string
  readonly indexFile: string
  readonly reading: IndexReading
  readonly facts: ReadonlyMap<string, PathFacts>
  readonly files: readonly PlannedFile[]
  readonly entries: readonly PlannedEntry[]
  readonly merged: MergedContent
  /** Some file holds the new bytes already: only git's own refresh can say so in its entry. */
  readonly needsRefresh: boolean
  readonly remarks: readonly string[]
}

/**
 * Makes all of a landing's checks and nothing else, for a refusal before any check command is run. What it
 * finds may have changed by the time of the landing, which looks again.
 *
 * @throws GalleyError with the code that `landCommit` would refuse with.
 */
export async function preflight(request: LandRequest): Promise<void> {
  const config = landingConfig(request)
  const facts = await repositoryFacts(request, config)
  const { workTree } = facts
  if (workTree === null) return
  const scratch = join(
    request.galleyDir,
    'tmp',
    `preflight-${request.clock.now()}-${Buffer.from(request.clock.random(8)).toString('hex')}`,
  )
  const reader = request.reader ?? openObjectReader(request.store)
  try {
    await planLanding(request, { ...facts, workTree }, await rawVersions(request, config), scratch, reader)
  } catch (error) {
    throw asSystemRefusal(error, 'the landing could not be prepared')
  } finally {
    if (request.reader === undefined) await reader.close()
    await removeOwnDirectory(scratch)
  }
}

/**
 * Works out what becomes of every path. Reads the repository; writes only into `scratch`, which it makes.
 *
 * @throws GalleyError `unmerged`, `overlaps-uncommitted`, `would-overwrite`, `symlink`, `filtered`.
 */
export async function planLanding(
  request: LandRequest,
  facts: RepositoryFacts & { readonly workTree: string },
  raw: ReadonlyMap<string, RawVersions>,
  scratch: string,
  reader: ObjectReader,
): Promise<LandingPlan> {
  await makePrivateDirectory(scratch)
  const indexFile = resolveFile(join(request.repository.gitDir, 'index'))
  const reading = await readWholeIndex(
    filterless(request.repository.door, facts.config),
    indexFile,
    join(scratch, 'unfolded'),
    [...request.manifest.map((t) => t.path), ...parentsOfCreated(request.manifest)],
    createdPaths(request.manifest),
  )
  const { unmerged } = reading.view
  if (unmerged !== null)
    refuse('unmerged', `the index holds unmerged entries, first for ${unmerged}`, { path: unmerged })
  const outside = await outsideCone(request, facts, reading.view, scratch)
  const found = gatherFacts(request, facts, reading.view, raw, outside)
  const decisions = decidePaths(found, raw)
  refuseProblems([...decisions.problems, ...displacedEntries(request.manifest, reading.view)])
  const merges = await mergeAll(request, facts.workTree, decisions.merges, raw, reader, scratch)
  refuseProblems(merges.problems)
  const moved = movedFiles(found, request.renames ?? new Map())
  const files = decisions.files.flatMap(
    ({ facts: f, to }) => planFile(f, to, raw.get(f.path), merges.merged, moved.get(f.path) ?? null) ?? [],
  )
  const entries = decisions.entries.flatMap(({ facts: f, to }) => planEntry(f, to, merges.merged) ?? [])
  invariant(
    files.every((file) => file.next === null || file.next.id !== ''),
    'every merge has its result',
  )
  const byPath = new Map(found.map((f) => [f.path, f]))
  return {
    workTree: facts.workTree,
    indexFile,
    reading,
    facts: byPath,
    files,
    entries,
    merged: merges.merged,
    needsRefresh: holdsNewBytesAlready(byPath, files, entries),
    remarks: [...remarksOf(found, merges.merged), ...(await submoduleRemarks(request, found))],
  }
}

function holdsNewBytesAlready(
  facts: ReadonlyMap<string, PathFacts>,
  files: readonly PlannedFile[],
  entries: readonly PlannedEntry[],
): boolean {
  const written = new Set(files.map((file) => file.path))
  return entries.some(({ path }) => {
    const { standing, rawNext } = facts.get(path) ?? {}
    return !written.has(path) && standing?.kind === 'file' && standing.id === rawNext?.id
  })
}

function remarksOf(facts: readonly PathFacts[], merged: MergedContent): readonly string[] {
  const beneath = new Set([...merged.keys()].map((key) => key.slice(key.indexOf(':') + 1)))
  const remarks = [...beneath].map((path) => `${path} had uncommitted work: the change was merged beneath it`)
  const there = facts.filter(
    (f) =>
      f.base === null && f.index === null && f.standing.kind === 'file' && f.standing.id === f.rawNext?.id,
  )
  return [
    ...remarks,
    ...there.filter((f) => !f.makesRoom).map((f) => `${f.path} was there already with the new bytes`),
  ]
}

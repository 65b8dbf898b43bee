import type { IndexView } from '../git/index-file.ts'
import type { Transition } from '../model/manifest.ts'
import { lookAt, type Standing } from '../sys/file-key.ts'
import { holdsOnly } from '../sys/holds-only.ts'
import type { IndexFact, PathFacts } from './decide-path.ts'
import { baseVersion, nextVersion, type RawVersions } from './raw-versions.ts'
import type { RepositoryFacts } from './repository-facts.ts'
import type { LandRequest } from './request.ts'

/** Looks at every path of the manifest: index entry and working file, by bytes. Sorted as the manifest is. */
export function gatherFacts(
  request: LandRequest,
  facts: RepositoryFacts & { readonly workTree: string },
  view: IndexView,
  raw: ReadonlyMap<string, RawVersions>,
  outsideCone: ReadonlySet<string>,
): readonly PathFacts[] {
  const { manifest, repository } = request
  const standings = new Map<string, Standing>()
  for (const { path } of manifest) standings.set(path, lookAt(facts.workTree, path, repository.objectFormat))
  const leaving = leavingPaths(manifest, standings)
  return manifest.map((t) => {
    const standing = standings.get(t.path) ?? { kind: 'absent' }
    const versions = raw.get(t.path)
    return {
      path: t.path,
      base: baseVersion(t),
      next: nextVersion(t),
      rawBase: versions?.base ?? null,
      rawNext: versions?.next ?? null,
      index: indexFact(view, t.path),
      standing,
      makesRoom: makesRoom(facts.workTree, t, standing, leaving),
      trustsExecutableBit: facts.trustsExecutableBit,
      isOutsideCone: outsideCone.has(t.path),
      bound: request.bound?.get(t.path),
      along: request.along?.get(t.path),
      stays: request.working.get(t.path)?.stays === true,
      takenOver: request.takenOver?.get(t.path) ?? [],
    }
  })
}

function indexFact(view: IndexView, path: string): IndexFact | null {
  const entry = view.entries.get(path)
  if (entry === undefined) return null
  const { mode, id, intentToAdd, skipWorktree, assumeUnchanged } = entry
  return { mode, id, intentToAdd, skipWorktree, assumeUnchanged }
}

interface Leaving {
  readonly paths: ReadonlySet<string>
  readonly identities: ReadonlySet<string>
}

/**
 * Files that the change deletes, by path and by inode: on a file system that ignores case one file answers to
 * two names.
 */
function leavingPaths(manifest: readonly Transition[], standings: ReadonlyMap<string, Standing>): Leaving {
  const deleted = manifest.filter((t) => nextVersion(t) === null).map((t) => t.path)
  const identities = new Set<string>()
  for (const path of deleted) {
    const standing = standings.get(path)
    if (standing?.kind === 'file' || standing?.kind === 'symlink') identities.add(standing.identity)
  }
  return { paths: new Set(deleted), identities }
}

/**
 * Whether what stands at a path that the change creates will be gone by then, by the change's own deletions.
 */
function makesRoom(workTree: string, t: Transition, standing: Standing, leaving: Leaving): boolean {
  const next = nextVersion(t)
  if (next === null || next.mode === '160000') return false
  // The directory of a submodule that is not checked out is empty.
  if (baseVersion(t) !== null && baseVersion(t)?.mode !== '160000') return false
  if (standing.kind === 'file-above' || standing.kind === 'link-above') return leaving.paths.has(standing.at)
  if (standing.kind === 'directory') return holdsOnly(workTree, t.path, leaving.paths)
  return (
    (standing.kind === 'file' || standing.kind === 'symlink') && leaving.identities.has(standing.identity)
  )
}

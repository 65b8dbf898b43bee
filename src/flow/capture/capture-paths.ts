import { diffIndex, type IndexDifference } from '../../git/diff-index.ts'
import { emptyTree } from '../../git/fast-import.ts'
import { lookUpPath } from '../../git/objects.ts'
import { listUntracked } from '../../git/untracked.ts'
import { GalleyError, type Refusal, refuse } from '../../model/error.ts'
import { isZeroId, type TreeId } from '../../model/ids.ts'
import type { FileMode } from '../../model/manifest.ts'
import { checkPath, checkPlace } from '../../policy/paths.ts'
import { quote } from '../../policy/quote.ts'
import { readWorkTreeFile } from '../../sys/work-tree-file.ts'
import { expectForeign } from '../call/call-own-data.ts'
import type { World } from '../world.ts'

/** One path that a capture looks at, with what git has for it. */
export interface WantedPath {
  readonly path: string
  readonly base: GitEntry | null
  /** What the index holds: only asked for where the index is what is captured. */
  readonly staged: GitEntry | null
  /** What git says stands there, or is staged; 000000 = nothing that it tracks. */
  readonly now: FileMode
  /** Found below a directory that was named, so that it can be left out beside the rest. */
  readonly isFound: boolean
}

export interface CapturePaths {
  readonly wanted: readonly WantedPath[]
  /** What was found and cannot be taken, each as a sentence. */
  readonly leftOut: readonly string[]
}

export interface GitEntry {
  readonly mode: FileMode
  readonly blob: string
}

export interface CapturePathsRequest {
  readonly tree: TreeId | null
  /** Repository paths of files and directories; `''` is the root. None = every tracked path that changed. */
  readonly paths: readonly string[]
  readonly staged: boolean
}

/**
 * Finds the paths to capture: tracked ones that changed, and untracked ones only where they, or a directory above them, are
 * named. An ignored file is taken only by its own name.
 *
 * What cannot be taken is left out where it was only found: repositories that git does not track, names that are not UTF-8.
 *
 * @throws GalleyError `no-change`, `not-found`, `unmerged`, `path-invalid`, `submodule` for a repository of its own.
 */
export async function findCapturePaths(world: World, request: CapturePathsRequest): Promise<CapturePaths> {
  const { door, objectFormat } = world.repository
  const all = await diffIndex(
    door,
    request.tree ?? emptyTree(objectFormat),
    request.staged ? 'index' : 'files',
  )
  const tracked = all.filter(
    (d) => request.paths.length === 0 || request.paths.some((p) => covers(p, d.shown)),
  )
  const wanted = new Map(tracked.map((d) => [d.shown, wantedOf(d, request.staged)]))
  const untracked = request.staged ? nothingFound : await untrackedPaths(world, request, wanted)
  for (const path of untracked.named) wanted.set(path, newPath(path, false))
  for (const path of untracked.found) wanted.set(path, newPath(path, true))
  if (untracked.leftOut.length === 0 || wanted.size === 0)
    await refuseIdle(world, request, [...wanted.keys()], untracked.leftOut)
  return { wanted: [...wanted.values()], leftOut: untracked.leftOut }
}

/** Whether a path is, or lies below, one that was named. */
const covers = (named: string, path: string): boolean =>
  named === '' || path === named || path.startsWith(`${named}/`)

function wantedOf(difference: IndexDifference, staged: boolean): WantedPath {
  const { path, shown, oldMode, oldBlob, newMode, newBlob } = difference
  if (path === null)
    refuse('path-invalid', `capture ${quote(shown)}: its bytes are not UTF-8`, { path: shown })
  const base = isZeroId(oldBlob) ? null : { mode: oldMode, blob: oldBlob }
  refuseWhere(base === null ? checkPath(path) : checkPlace(path))
  if (difference.isUnmerged)
    refuse('unmerged', `capture ${quote(path)}: it is unmerged in the index`, { path })
  return {
    path,
    base,
    staged: staged && newMode !== '000000' ? { mode: newMode, blob: newBlob } : null,
    now: newMode,
    isFound: false,
  }
}

function refuseWhere(invalid: Refusal | null): void {
  if (invalid !== null) throw new GalleyError(invalid)
}

const newPath = (path: string, isFound: boolean): WantedPath => ({
  path,
  base: null,
  staged: null,
  now: '000000',
  isFound,
})

interface UntrackedPaths {
  readonly named: readonly string[]
  readonly found: readonly string[]
  readonly leftOut: readonly string[]
}

const nothingFound: UntrackedPaths = { named: [], found: [], leftOut: [] }

async function untrackedPaths(
  world: World,
  request: CapturePathsRequest,
  known: ReadonlyMap<string, WantedPath>,
): Promise<UntrackedPaths> {
  const named: string[] = []
  const directories: string[] = []
  for (const path of new Set(request.paths)) {
    if (path !== '') refuseWhere(checkPlace(path))
    const kind = path === '' ? 'directory' : await kindOf(world, path)
    if (kind === 'directory') directories.push(path)
    else if (kind === 'file' && !known.has(path) && !(await isInBase(world, request, path))) {
      refuseWhere(checkPath(path))
      named.push(path)
    }
  }
  const { found, leftOut } = directories.length > 0 ? await untrackedBelow(world, directories) : nothingFound
  for (const path of [...named, ...found]) expectForeign(world, path)
  return { named, found, leftOut }
}

async function untrackedBelow(
  world: World,
  directories: readonly string[],
): Promise<Omit<UntrackedPaths, 'named'>> {
  // Pathspecs cost git their number times the size of the index; a few are cheap.
  const below = directories.length > 20 || directories.includes('') ? [] : directories
  const { paths, unreadable } = await listUntracked(world.repository.door, { ignored: 'left-out', below })
  const isWanted = (path: string) => directories.some((directory) => covers(directory, path))
  const leftOut = unreadable.filter(isWanted).map((name) => `${quote(name)} was left out: it is not UTF-8`)
  const found: string[] = []
  for (const path of paths.filter(isWanted)) {
    const invalid = checkPath(path)
    const isNested = path.endsWith('/')
    if (isNested) leftOut.push(`${quote(path)} was left out: it is a repository of its own`)
    else if (invalid !== null) leftOut.push(`${quote(path)} was left out: ${invalid.message}`)
    else found.push(path)
  }
  return { found, leftOut }
}

async function kindOf(world: World, path: string): Promise<'directory' | 'absent' | 'file'> {
  const root = world.repository.workTree
  if (root === null) return 'absent'
  // One byte is enough to know what it is; whether it can be captured is seen when it is read.
  const { kind } = await readWorkTreeFile(root, path, 1)
  if (kind === 'directory') return 'directory'
  return kind === 'absent' || kind === 'blocked' ? 'absent' : 'file'
}

async function isInBase(world: World, { tree }: CapturePathsRequest, path: string): Promise<boolean> {
  return (await lookUpPath(await world.reader(), tree, path)).kind === 'file'
}

/** Every name must lead to something: a name that does nothing is a mistake. */
async function refuseIdle(
  world: World,
  request: CapturePathsRequest,
  found: readonly string[],
  leftOut: readonly string[],
): Promise<void> {
  if (leftOut.length > 0) refuse('no-change', `nothing to capture: ${leftOut.join('; ')}`, { leftOut })
  const idle = request.paths.find((named) => !found.some((path) => covers(named, path)))
  if (idle === undefined) {
    if (found.length > 0) return
    const what = request.staged ? 'the index holds what HEAD holds' : 'no tracked file differs from HEAD'
    refuse(
      'no-change',
      `nothing to capture: ${what}`,
      {},
      'Untracked files are captured when they are named.',
    )
  }
  if (request.staged) refuse('no-change', `nothing of ${quote(idle)} is staged`, { path: idle })
  const isThere =
    idle === '' || (await kindOf(world, idle)) !== 'absent' || (await isInBase(world, request, idle))
  if (isThere) refuse('no-change', `${quote(idle)} is as it is in HEAD`, { path: idle })
  refuse(
    'not-found',
    `${quote(idle)} is neither in the work tree nor in HEAD`,
    { path: idle },
    'Check the path.',
  )
}

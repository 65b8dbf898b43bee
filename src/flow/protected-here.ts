import { relative, sep } from 'node:path'
import { ignoredPaths } from '../git/check-ignore.ts'
import { hooksPath } from '../git/hooks-path.ts'
import type { Manifest } from '../model/manifest.ts'
import { foldPath } from '../policy/fold.ts'
import type { ProtectedPath } from '../policy/judge-manifest.ts'
import { realPath, realPathsIn } from '../sys/real-path.ts'
import type { World } from './world.ts'

/**
 * Lists the paths that need a person in this clone, whatever the policy protects: those where git looks for hooks here
 * (`core.hooksPath`), and new ones that git ignores, which `git add` would not have taken. Two processes at most, and only asked for
 * what a rule is about to approve.
 */
export async function protectedHere(
  { repository }: Pick<World, 'repository'>,
  manifest: Manifest,
): Promise<readonly ProtectedPath[]> {
  const { door, workTree } = repository
  if (workTree === null) return []
  const added = manifest.filter(({ oldMode, newMode }) => oldMode === '000000' && newMode !== '000000')
  const [hooks, ignored] = await Promise.all([
    hooksPath(repository),
    ignoredPaths(
      door,
      added.map(({ path }) => path),
    ),
  ])
  const places = await hookPlaces(workTree, hooks.directory)
  return manifest.flatMap(({ path }) => {
    if (isRunAsHook(places, path)) return [{ path, reason: `git runs hooks from ${hooks.directory} here` }]
    return ignored.has(path) ? [{ path, reason: 'git ignores it' }] : []
  })
}

/** The folder of hooks, and what links in it lead to, as far as they lie in the work tree: folded paths, empty for its top. */
async function hookPlaces(workTree: string, directory: string): Promise<readonly string[]> {
  const places = [await realPath(directory), ...(await realPathsIn(directory))]
  return places.flatMap((place) => {
    const path = relative(workTree, place).split(sep).join('/')
    return path === '..' || path.startsWith('../') ? [] : [foldPath(path)]
  })
}

function isRunAsHook(places: readonly string[], path: string): boolean {
  const folded = foldPath(path)
  return places.some((place) => (place === '' ? HOOK.test(folded) : `${folded}/`.startsWith(`${place}/`)))
}

/** Of a work tree whose top is the folder of hooks, what git would run. */
const HOOK =
  /^(?:pre-|post-|p4-|commit-msg|prepare-commit-msg|applypatch-msg|reference-transaction|update|fsmonitor-|sendemail-|push-to-)[^/]*$/

import type { GitDoor } from './door.ts'
import { git } from './door.ts'
import { withoutFilters } from './without-filters.ts'

/**
 * Paths of the user's work tree that hold, or lack, what HEAD does not: staged, unstaged, and untracked ones that are not ignored. Of a
 * directory of which nothing is tracked, the directory with a `/` at its end, unless `each` file is asked for. Not what is inside submodules.
 *
 * Writes nothing and runs no program of the user's.
 */
export async function uncommittedPaths(door: GitDoor, each: boolean): Promise<readonly string[]> {
  const how = [`--untracked-files=${each ? 'all' : 'normal'}`, '--no-renames', '--ignore-submodules=all']
  const { stdout } = await git(await withoutFilters(door), { args: ['status', '--porcelain', '-z', ...how] })
  return stdout
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => line.slice(3))
}

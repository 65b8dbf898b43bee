import { dirname, relative } from 'node:path'
import { refuse } from '../../model/error.ts'
import { scratchHome } from '../../store/scratch-home.ts'
import type { World } from '../world.ts'

/**
 * Refuses a path that leads into galley's own data. What lies in `.git` no path reaches; the scratch trees can lie in
 * the work tree where that holds the user's cache folder (a repository in the home directory). Compared part by part.
 *
 * @throws GalleyError `denied-path`.
 */
export function expectForeign(world: World, path: string): void {
  const root = world.repository.workTree
  if (root === null) return
  const own = relative(root, dirname(scratchHome(world.repository))).split('/')
  if (own[0] === '' || own[0] === '..') return
  const parts = path.split('/')
  const isInside = own.every((part, index) => parts[index] === part)
  if (!isInside) return
  refuse('denied-path', `${path} lies in galley's own folder ${own.join('/')}`, { path }, 'Use another path.')
}

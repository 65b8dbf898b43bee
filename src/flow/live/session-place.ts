import { isAbsolute, relative, sep } from 'node:path'
import { refuse } from '../../model/error.ts'
import { quote } from '../../policy/quote.ts'
import { realPath } from '../../sys/real-path.ts'
import type { World } from '../world.ts'

/**
 * Where a directory lies in the repository that is open: its path from the root, `''` for the root itself.
 *
 * @throws GalleyError `outside-repository`, also for a repository without a work tree.
 */
export async function placeInRepository(world: World, directory: string): Promise<string> {
  const root = world.repository.workTree
  const real = isAbsolute(directory) ? await realPath(directory) : directory
  const path = root === null ? null : relative(await realPath(root), real)
  if (path === null || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path))
    refuse(
      'outside-repository',
      `${quote(directory)} is no directory of the repository ${quote(root ?? world.repository.gitDir)}`,
      { path: directory, repository: root },
      'One `galley acp` serves one repository: start another one there, or name it with -C.',
    )
  return path.split(sep).join('/')
}

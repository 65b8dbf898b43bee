import { join } from 'node:path'
import { refuse } from '../model/error.ts'
import { standsAt } from '../sys/plain-file.ts'

/** What galley makes in its folder as directories, and walks into to move or remove what is there. */
const PARTS = ['store.git', 'land', 'done', 'sessions', 'reviews', 'tmp', 'hooks', 'at-work']

/**
 * Refuses a folder of galley's that is not its own: a link or a file where galley makes a directory, at the folder itself or at one
 * of its parts. What a link leads to is somebody's, and galley moves and removes what is in its folder.
 *
 * Costs a look at each name.
 *
 * @throws GalleyError `unsupported-repository`; data: `{ path, found }`.
 */
export function refuseForeignFolder(galleyDir: string): void {
  for (const path of [galleyDir, ...PARTS.map((part) => join(galleyDir, part))]) {
    const found = standsAt(path)
    if (found === 'absent' && path === galleyDir) return
    if (found === 'absent' || found === 'directory') continue
    refuse(
      'unsupported-repository',
      `${path} is ${found === 'link' ? 'a symbolic link' : 'no directory'}, and not what galley makes there`,
      { path, found },
      'Look who put it there, and move it away; `galley purge --force` removes galley from the repository.',
    )
  }
}

import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { sha256Hex } from '../git/blob-id.ts'
import type { Repository } from '../git/open-repository.ts'
import { errorCode } from '../model/errno.ts'
import { refuse } from '../model/error.ts'
import { makePrivateDirectory, namesIn } from '../sys/directories.ts'
import { homeDirectory } from '../sys/home.ts'
import { standsAt } from '../sys/plain-file.ts'
import { readQuickly, replaceQuickly } from '../sys/quick-files.ts'

/** In a folder of scratch trees: the common git directory of the repository that it belongs to. */
const OWNER_FILE = 'repository'

/** `$XDG_CACHE_HOME/galley/<repository>`: the place of all scratch trees of one repository. */
export function scratchHome(repository: Repository): string {
  const env = repository.env
  // A relative value is to be ignored, says the specification.
  const set = env['XDG_CACHE_HOME'] ?? ''
  const cache = isAbsolute(set) ? set : join(homeDirectory(env), '.cache')
  const name = basename(dirname(repository.commonDir)).replaceAll(/[^\w.-]/g, '_') || 'repository'
  return join(cache, 'galley', `${name}-${sha256Hex(repository.commonDir).slice(0, 12)}`)
}

/**
 * Makes the folder of a repository's scratch trees, which says whose it is. Where the user's cache lies in the work tree, git is told to
 * ignore what galley keeps there.
 *
 * Costs a look where it is there.
 *
 * @throws GalleyError `io-error`, naming the folder, where it cannot be made.
 */
export async function ensureScratchHome(repository: Repository): Promise<string> {
  const home = scratchHome(repository)
  const root = dirname(home)
  try {
    const owner = join(home, OWNER_FILE)
    if (standsAt(owner) === 'absent') {
      await makePrivateDirectory(home)
      await replaceQuickly(owner, `${repository.commonDir}\n`)
    }
    const rules = join(root, '.gitignore')
    if (isInside(repository.workTree, root) && standsAt(rules) === 'absent')
      await replaceQuickly(rules, '*\n')
    return home
  } catch (error) {
    if (errorCode(error) === '') throw error
    refuse('io-error', `the cache folder ${home} cannot be made: ${errorCode(error)}`, { path: home }, HINT)
  }
}

const HINT =
  'Mend that folder, or name another one in XDG_CACHE_HOME; what was staged stays, and goes on from there.'

function isInside(workTree: string | null, path: string): boolean {
  const way = workTree === null ? '..' : relative(workTree, path)
  return way.split('/')[0] !== '..'
}

/** A folder of scratch trees whose repository is not where it was. */
export interface LostHome {
  readonly path: string
  /** Where its repository was. */
  readonly owner: string
}

/** Folders in the same cache whose repository was moved or removed. One that does not say whose it is counts as somebody's. */
export async function lostHomes(repository: Repository): Promise<readonly LostHome[]> {
  const own = scratchHome(repository)
  const root = dirname(own)
  const found: LostHome[] = []
  for (const name of await namesIn(root)) {
    const path = join(root, name)
    if (path === own || standsAt(path) !== 'directory') continue
    const owner = readQuickly(join(path, OWNER_FILE))?.toString('utf8').trim() ?? ''
    if (owner.startsWith('/') && standsAt(owner) === 'absent') found.push({ path, owner })
  }
  return found
}

import { utf8OrNull } from './diff-index.ts'
import { type GitDoor, git } from './door.ts'

export interface UntrackedRequest {
  /** `left-out`: what the ignore rules cover is not listed. `listed`: all of it is. `only`: nothing else is. */
  readonly ignored: 'left-out' | 'listed' | 'only'
  /** Files with further patterns, beside those that git reads for this door. For `only` they stand instead of git's own. */
  readonly patternFiles?: readonly string[]
  /** A directory of which nothing is tracked stands for what is in it, with a `/` at its end; empty ones are listed too. */
  readonly foldsDirectories?: boolean
  /** Only below these, as literal paths; left out: everywhere. */
  readonly below?: readonly string[]
}

export interface Untracked {
  /** A path that ends in `/` is a directory: folded up, or a repository of its own. */
  readonly paths: readonly string[]
  /** Names whose bytes are not UTF-8, as they can be shown. */
  readonly unreadable: readonly string[]
}

/** Lists what the index of the work tree behind `door` does not hold. Reads directories and ignore files, writes nothing. */
export async function listUntracked(door: GitDoor, request: UntrackedRequest): Promise<Untracked> {
  const patterns = (request.patternFiles ?? []).map((file) => `--exclude-from=${file}`)
  const rules = {
    'left-out': ['--exclude-standard', ...patterns],
    listed: [],
    only: ['--ignored', ...(patterns.length > 0 ? patterns : ['--exclude-standard'])],
  }[request.ignored]
  const folds = request.foldsDirectories === true ? ['--directory'] : []
  const result = await git(door, {
    args: ['ls-files', '-z', '--others', ...rules, ...folds, '--', ...(request.below ?? [])],
  })
  const paths: string[] = []
  const unreadable: string[] = []
  for (let at = 0; at < result.stdout.length; ) {
    const end = result.stdout.indexOf(0, at)
    const path = utf8OrNull(result.stdout.subarray(at, end))
    if (path === null) unreadable.push(result.stdout.toString('utf8', at, end))
    else paths.push(path)
    at = end + 1
  }
  return { paths, unreadable }
}

import { type GitDoor, git } from './door.ts'

/**
 * Of the paths, those that `git add` would leave out by the ignore rules of a folder, of the repository and of the user, tracked or not.
 *
 * @param root - The folder whose `.gitignore` files count.
 * @returns All of them where git cannot tell: one lies behind a link of that folder.
 */
export async function notAddedBy(
  door: GitDoor,
  root: string,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set()
  const result = await git(
    { ...door, workTree: root },
    {
      args: ['check-ignore', '--no-index', '-z', '--stdin'],
      input: paths.map((path) => `./${path}\0`).join(''),
      env: { GIT_LITERAL_PATHSPECS: '0' },
      okCodes: [0, 1, 128],
    },
  )
  return result.exitCode === 128 ? new Set(paths) : pathsOf(result.stdout)
}

/** Of the paths, those that the ignore rules of the work tree and the user cover and that git does not track. One process. */
export async function ignoredPaths(door: GitDoor, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set()
  const result = await git(door, {
    args: ['check-ignore', '-z', '--stdin'],
    // It cannot take paths as literal; with this before it, none begins with the colon of pathspec magic.
    input: paths.map((path) => `./${path}\0`).join(''),
    env: { GIT_LITERAL_PATHSPECS: '0' },
    okCodes: [0, 1],
  })
  return pathsOf(result.stdout)
}

const pathsOf = (stdout: Buffer): ReadonlySet<string> =>
  new Set(
    stdout
      .toString('utf8')
      .split('\0')
      .filter((path) => path !== '')
      .map((path) => path.slice(2)),
  )

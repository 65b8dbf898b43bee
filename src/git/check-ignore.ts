import { type GitDoor, git } from './door.ts'

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
  return new Set(
    result.stdout
      .toString('utf8')
      .split('\0')
      .filter((path) => path !== '')
      .map((path) => path.slice(2)),
  )
}

import { type GitDoor, git } from './door.ts'

/** Every file of the work tree that git tracks or would track. Names that are no UTF-8 are shown as they can be. */
export async function listedFiles(door: GitDoor): Promise<readonly string[]> {
  const { stdout } = await git(door, {
    args: ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'],
  })
  return stdout
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '')
}

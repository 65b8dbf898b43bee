import { type GitDoor, git } from './door.ts'

/** The version of git, as `2.39.5`; what a system adds to it, such as `(Apple Git-154)`, stands behind. */
export async function gitVersion(door: GitDoor): Promise<string> {
  const said = (await git(door, { args: ['version'] })).stdout.toString('utf8')
  return said.trim().replace(/^git version /, '')
}

import { join } from 'node:path'
import { type GitDoor, git } from './door.ts'

/**
 * The commit that the repository at `path` of a work tree stands on; null = it has none yet, or is no repository.
 *
 * Reads its HEAD and its refs, and nothing that its configuration could name.
 */
export async function submoduleHead(door: GitDoor, path: string): Promise<string | null> {
  if (door.workTree === null) return null
  const gitDir = join(door.workTree, path, '.git')
  const inside: GitDoor = { ...door, gitDir, workTree: null }
  const { exitCode, stdout } = await git(inside, {
    args: ['rev-parse', '--verify', '--quiet', 'HEAD'],
    cwd: door.workTree,
    okCodes: [0, 1, 128],
  })
  return exitCode === 0 ? stdout.toString('latin1').trim() : null
}

import { type GitDoor, git } from './door.ts'

/** Paths with unmerged entries in the index, each once. One process; refreshes nothing. */
export async function unmergedPaths(door: GitDoor): Promise<readonly string[]> {
  const { stdout } = await git(door, { args: ['ls-files', '--unmerged', '-z'] })
  const records = stdout.toString('utf8').split('\0')
  return [...new Set(records.filter((r) => r !== '').map((r) => r.slice(r.indexOf('\t') + 1)))]
}

import type { RefName } from '../model/ids.ts'
import { type GitDoor, git } from './door.ts'
import { resolveCommit } from './refs.ts'

/** A branch that was renamed again and again. */
const RENAMES_MAX = 10

/**
 * The name that a branch has now, if it was renamed here; null = it was not, as far as git has written down. One process for each time that it
 * was renamed.
 */
export async function renamedTo(door: GitDoor, branch: RefName): Promise<RefName | null> {
  let name = branch
  for (let i = 0; i < RENAMES_MAX; i++) {
    const next = await lastRename(door, name)
    if (next === null) return null
    if ((await resolveCommit(door, next)) !== null) return next
    name = next
  }
  return null
}

/** As `git branch -m` writes it into the log of the branch. */
async function lastRename(door: GitDoor, branch: RefName): Promise<RefName | null> {
  const said = `Branch: renamed ${branch} to `
  const args = ['log', '-g', '--branches', '--format=%gs', '-F', `--grep-reflog=${said}`, '-n', '20', '--']
  const { stdout } = await git(door, { args, okCodes: [0, 128] })
  const line = stdout
    .toString('utf8')
    .split('\n')
    .find((text) => text.startsWith(`${said}refs/heads/`))
  return line === undefined ? null : (line.slice(said.length) as RefName)
}

import { type CommitId, commitId, isZeroId } from '../model/ids.ts'
import { type GitDoor, git } from './door.ts'

/** One work tree of the repository, as `git worktree list` tells of it. */
export interface WorktreeRow {
  readonly path: string
  /** null = the branch is unborn, or this is the bare repository. */
  readonly head: CommitId | null
  /** Full name of the branch checked out; null when HEAD is detached. */
  readonly branch: string | null
  readonly isBare: boolean
}

/** Lists the work trees, the main one first. One process; it reads each one's HEAD. */
export async function listWorktrees(door: GitDoor): Promise<readonly WorktreeRow[]> {
  const result = await git(door, { args: ['worktree', 'list', '--porcelain', '-z'] })
  return result.stdout
    .toString('utf8')
    .split('\0\0')
    .filter((record) => record !== '')
    .map(parseRow)
}

function parseRow(record: string): WorktreeRow {
  const fields = new Map<string, string>()
  for (const line of record.split('\0')) {
    const space = line.indexOf(' ')
    if (space === -1) fields.set(line, '')
    else fields.set(line.slice(0, space), line.slice(space + 1))
  }
  const head = fields.get('HEAD')
  return {
    path: fields.get('worktree') ?? '',
    head: head === undefined || isZeroId(head) ? null : commitId(head),
    branch: fields.get('branch') ?? null,
    isBare: fields.has('bare'),
  }
}

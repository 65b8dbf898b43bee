import type { CommitId } from '../model/ids.ts'
import { type GitDoor, git } from './door.ts'

/** How one commit stands to another. */
export type Relation = 'same' | 'ancestor' | 'unrelated'

/** Whether `commit` is `other` or in its history. */
export async function findRelation(door: GitDoor, commit: CommitId, other: CommitId): Promise<Relation> {
  if (commit === other) return 'same'
  const result = await git(door, {
    args: ['merge-base', '--is-ancestor', commit, other],
    okCodes: [0, 1, 128],
  })
  return result.exitCode === 0 ? 'ancestor' : 'unrelated'
}

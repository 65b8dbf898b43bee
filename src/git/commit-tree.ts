import { type CommitId, commitId, type TreeId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import { type GitDoor, git } from './door.ts'

/** Commits a tree that is in the store already, such as one that git merged. */
export async function commitTree(
  door: GitDoor,
  tree: TreeId,
  facts: {
    readonly base: CommitId | null
    readonly author: Person
    readonly committer: Person
    readonly message: string
  },
): Promise<CommitId> {
  const result = await git(door, {
    args: ['commit-tree', tree, ...(facts.base ? ['-p', facts.base] : []), '-F', '-'],
    input: facts.message,
    env: personVariables(facts.author, facts.committer),
  })
  return commitId(result.stdout.toString('latin1').trim())
}

/** Both people as git takes them from the environment. `@`: a date of few digits would otherwise be read as a year. */
export function personVariables(author: Person, committer: Person): Record<string, string> {
  return {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_AUTHOR_DATE: `@${author.date}`,
    GIT_COMMITTER_NAME: committer.name,
    GIT_COMMITTER_EMAIL: committer.email,
    GIT_COMMITTER_DATE: `@${committer.date}`,
  }
}

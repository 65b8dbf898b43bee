import { submoduleHead } from '../git/submodule-head.ts'
import type { LandingJournal } from '../store/landing-journal.ts'
import { makeDirectoryInTree, removeEmptyDirectory } from '../sys/swap-file.ts'
import type { PathFacts } from './decide-path.ts'
import type { LandRequest } from './request.ts'

/**
 * Makes an empty directory for each new submodule, as git's checkout does, and removes the empty ones of those that went. A submodule
 * that is checked out stays as it is.
 */
export function settleSubmodules({ workTree, index }: LandingJournal): void {
  for (const { path, from, to, skipWorktree } of index) {
    if (to?.mode === '160000' && !skipWorktree) makeDirectoryInTree(workTree, path)
    if (from?.mode === '160000' && to === null) removeEmptyDirectory(workTree, path)
  }
}

/** What a landing says of the submodules that it moves: their entries alone, whatever is checked out. */
export async function submoduleRemarks(
  { repository }: Pick<LandRequest, 'repository'>,
  facts: readonly PathFacts[],
): Promise<readonly string[]> {
  const remarks: string[] = []
  for (const { path, base, next, standing } of facts) {
    const isDirectory = standing.kind === 'directory'
    const head = isDirectory ? await submoduleHead(repository.door, path) : null
    if (next?.mode === '160000' && head !== next.id) {
      const where = head === null ? 'it is not checked out' : `its own files stay at ${head.slice(0, 12)}`
      remarks.push(
        `${path} is a submodule: its entry moved to ${next.id.slice(0, 12)}, and ${where} (git submodule update --init brings it along)`,
      )
    }
    if (next === null && base?.mode === '160000' && head !== null)
      remarks.push(`${path} is no submodule any more: its own files were left where they are`)
  }
  return remarks
}

import { findRelation } from '../../git/ancestry.ts'
import { listRemoteRefs, type RemoteUpdate } from '../../git/exchange.ts'
import { runPrePush } from '../../git/pre-push.ts'
import { resolveCommit } from '../../git/refs.ts'
import { hookEnvironment } from '../../landing/hook-environment.ts'
import { refuse } from '../../model/error.ts'
import { type ChangeId, type CommitId, commitId, zeroId } from '../../model/ids.ts'
import { changesOf } from '../verify/changes-of.ts'
import type { World } from '../world.ts'
import type { RemoteSide } from './remote-side.ts'

/** A branch that goes to the remote together with the approvals of what it brings. */
export interface BranchPush {
  readonly ref: string
  /** null = the remote has no such branch. */
  readonly before: CommitId | null
  readonly after: CommitId
  /** The changes that the new commits come from. */
  readonly changes: ReadonlySet<ChangeId>
  /** None, where the remote has it already. */
  readonly updates: readonly RemoteUpdate[]
  /** Runs the user's `pre-push` hook, as `git push` does. @throws GalleyError `hook-refused`. */
  readonly askHook: () => Promise<void>
}

/** What brings a branch onto what the remote has. Onto, not together with: on a guarded branch the remote's line goes on. */
const catchUp = ({ name }: RemoteSide, ref: string, at: string): string =>
  `On ${ref.replace(/^refs\/heads\//, () => '')}: \`git fetch ${name}\`, \`git rebase ${at.slice(0, 12)}\`, then push again.`

/**
 * Looks at a branch of the user's and at the remote's, and finds the changes that its new commits come from: those decide only which refs go along,
 * not whether they are approved.
 *
 * @throws GalleyError `stale`, if there is no such branch here; `branch-moved`, if the remote's is no ancestor of it.
 */
export async function openBranchPush(world: World, side: RemoteSide, name: string): Promise<BranchPush> {
  const { door } = world.repository
  const ref = name.startsWith('refs/heads/') ? name : `refs/heads/${name}`
  const isName = !/[\s~^:?*[\\\p{Cc}]/u.test(ref) && !ref.includes('..') && !ref.includes('@{')
  const after = isName ? await resolveCommit(door, ref) : null
  if (after === null) {
    refuse(
      'stale',
      `${JSON.stringify(name.slice(0, 100))} is no branch of this repository`,
      { branch: name },
      'See `git branch`.',
    )
  }
  const row = (await listRemoteRefs(side.transport, [ref], (one) => one === ref)).rows[0]
  const before = row === undefined ? null : commitId(row.object)
  if (before !== null && (await findRelation(door, before, after)) === 'unrelated') {
    refuse(
      'branch-moved',
      `${ref} of ${side.name} is at ${before}, which ${ref} here does not contain`,
      { ref, remote: before, local: after },
      catchUp(side, ref, before),
    )
  }
  return {
    ref,
    before,
    after,
    changes: await changesOf(world, before, after),
    updates: before === after ? [] : [{ ref, next: after, expected: before }],
    askHook: () =>
      before === after
        ? Promise.resolve()
        : runPrePush(world.repository, {
            remote: side.name,
            url: side.transport.url,
            line: `${ref} ${after} ${ref} ${before ?? zeroId(world.repository.objectFormat)}`,
            env: hookEnvironment(world.repository.env),
          }),
  }
}

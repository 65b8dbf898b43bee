import { sha256Hex } from '../git/blob-id.ts'
import type { ObjectReader } from '../git/objects.ts'
import type { Approval, ChangeEvent } from '../model/change.ts'
import { invariant, refuse } from '../model/error.ts'
import type { CommitId } from '../model/ids.ts'
import { nameAndEmail } from '../model/person.ts'
import { writeApproval } from '../store/approvals.ts'
import { appendEvents, type LoggedChange } from '../store/change-log.ts'
import type { Store } from '../store/open-store.ts'
import type { PolicyInForce } from './read-policy.ts'
import { approvalSigner } from './sign-approval.ts'
import type { World } from './world.ts'

/**
 * Fingerprint of what an approval covers beside the bytes: the commit's author (name and address) and its whole message.
 */
export async function messageHash(reader: ObjectReader, commit: CommitId): Promise<string> {
  const found = await reader.contents(commit)
  if (found === null) refuse('stale', `the commit ${commit} is not in the store any more`, { commit })
  const hash = messageHashOf(found.bytes)
  invariant(hash !== null, `the commit ${commit} has an author`)
  return hash
}

/** The same of a commit object's bytes; null where it names no author in git's form. */
export function messageHashOf(bytes: Buffer): string | null {
  const text = bytes.toString('utf8')
  const split = text.indexOf('\n\n')
  const author = /^author (.*?) \d+ [+-]\d{4}$/m.exec(text.slice(0, split))?.[1]
  return author === undefined ? null : sha256Hex(`${author}\0${text.slice(split + 2)}`)
}

/** Records a decision on the current revision: a tag object in the store, its ref, and a log event, in one transaction. */
export async function recordApproval(
  world: World,
  store: Store,
  logged: LoggedChange,
  decision: {
    readonly via: Approval['via']
    readonly policy: PolicyInForce
    readonly rule?: Approval['rule']
  },
): Promise<LoggedChange> {
  const { change } = logged
  const revision = change.revisions.at(-1)
  invariant(revision, 'a published change has a revision')
  const identity = await world.identity()
  // A rule is not the person whose proposal it approves.
  const by = decision.via === 'rule' ? 'rule' : nameAndEmail(identity)
  const hours = decision.policy.policy.approval.expiresAfterHours
  const at = world.now()
  const { tag, ref } = await writeApproval(
    store,
    {
      change: change.id,
      revision: revision.number,
      commit: revision.commit,
      base: revision.base,
      tree: revision.tree,
      digest: revision.digest,
      messageHash: await messageHash(await world.reader(), revision.commit),
      policyHash: decision.policy.hash,
      checks: change.checks,
      by,
      via: decision.via,
      at,
      expires: hours === null ? null : new Date(world.clock.now() + hours * 3_600_000).toISOString(),
      ...(decision.rule === undefined ? {} : { rule: decision.rule }),
    },
    identity,
    approvalSigner(world, store, change, { via: decision.via, policy: decision.policy.policy }),
  )
  const event: ChangeEvent = {
    kind: 'approved',
    at,
    by,
    revision: revision.number,
    digest: revision.digest,
    tag,
    via: decision.via,
    ...(decision.rule === undefined ? {} : { rule: decision.rule }),
  }
  return appendEvents(store, logged, [{ event }], identity, [ref])
}

import { resolveCommit } from '../git/refs.ts'
import { signTag } from '../git/sign-tag.ts'
import type { Approval, Change } from '../model/change.ts'
import { invariant, refuse } from '../model/error.ts'
import type { TagId } from '../model/ids.ts'
import type { Policy } from '../model/policy.ts'
import { readApproval, type TagText } from '../store/approvals.ts'
import { approvalRef } from '../store/change-refs.ts'
import type { Store } from '../store/open-store.ts'
import { findAllowedSigners, verifyApproval } from './verify-approval.ts'
import type { World } from './world.ts'

/**
 * How an approval's tag is signed: with the user's SSH key, where the policy signs approvals or requires signatures. What a rule approves is
 * never signed: a signature stands for a person.
 *
 * A signature that the list of allowed signers would not take is refused at once, and not at the landing.
 *
 * @returns null, where it is not to be signed.
 * @throws GalleyError (from the function returned) `no-identity`, when there is no signature; `not-approved`, `forged`, when it would not count.
 */
export function approvalSigner(
  world: World,
  store: Store,
  change: Change,
  decision: { readonly via: Approval['via']; readonly policy: Policy },
): ((text: TagText) => Promise<TagId>) | null {
  const { via, policy } = decision
  if (via === 'rule' || (policy.sign === 'none' && policy.approval.requires !== 'signature')) return null
  return async (text) => {
    const tag = await signTag(world.repository, store.door, await world.config(), text)
    await confirmSigned(world, change, policy, tag)
    return tag
  }
}

async function confirmSigned(world: World, change: Change, policy: Policy, tag: TagId): Promise<void> {
  if (policy.allowedSigners === null && policy.approval.requires !== 'signature') return
  const reader = await world.reader()
  const tip = await resolveCommit(world.repository.door, change.onto)
  const signers = await findAllowedSigners(world, policy, tip === null ? null : await reader.commitTree(tip))
  if (signers === null) return
  const expected = { id: change.id, revision: change.revisions.length }
  const made = await readApproval(reader, approvalRef(change.id, expected.revision, tag), tag, expected)
  invariant(made.kind === 'approval', `the approval that was just made can be read: ${JSON.stringify(made)}`)
  const verdict = await verifyApproval(world.repository, made, signers, world.clock.now())
  if (verdict.kind === 'good') return
  const reason = verdict.kind === 'bad' ? verdict.reason : 'the signing program left no signature'
  refuse(
    verdict.kind === 'bad' ? verdict.code : 'no-identity',
    `your signature does not count: ${reason}`,
    { id: change.id, signers: signers.source },
    `Who may approve stands in ${signers.source}; which key signs, in user.signingKey of your configuration.`,
  )
}

import { join } from 'node:path'
import { lookUpPath } from '../git/objects.ts'
import type { Repository } from '../git/open-repository.ts'
import { type SignatureVerdict, verifySignature } from '../git/verify-tag.ts'
import { refuse } from '../model/error.ts'
import type { TagId, TreeId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { Policy } from '../model/policy.ts'
import type { ApprovalFact, LandDecision } from '../policy/land-decision.ts'
import { signersPlace } from '../policy/policy-values.ts'
import type { ApprovalRecord, FoundApproval } from '../store/approvals.ts'
import { accountHome } from '../sys/home.ts'
import { readOutsideFile } from '../sys/outside-file.ts'
import type { World } from './world.ts'

/** Who may approve by signature. */
export interface AllowedSigners {
  /** The list, as ssh-keygen(1) has it under ALLOWED SIGNERS. */
  readonly list: Uint8Array
  /** Where it stands, for messages. */
  readonly source: string
}

/**
 * Finds the list of allowed signers: the one that a verifier was given by name, else the policy's `allowedSigners`, as it stands in the
 * tree that the policy was read from (where it is a protected path) or outside of the repository.
 *
 * Nothing else names one: no configuration of git's, and no variable. Whoever calls galley can write those, an agent too.
 *
 * @returns null, where nothing names one.
 * @throws GalleyError `not-approved`, when the file that is named is not there or lies inside the repository.
 */
export async function findAllowedSigners(
  world: Pick<World, 'repository' | 'reader' | 'allowedSigners'>,
  policy: Pick<Policy, 'allowedSigners'>,
  tree: TreeId | null,
): Promise<AllowedSigners | null> {
  const { repository, allowedSigners: given } = world
  if (given !== undefined) return { list: await readList(repository, given), source: given }
  const named = policy.allowedSigners
  if (named === null) return null
  if (signersPlace(named) === 'outside') return { list: await readList(repository, named), source: named }
  const reader = await world.reader()
  const found = await lookUpPath(reader, tree, named)
  const blob = found.kind === 'file' ? await reader.contents(found.entry.id) : null
  if (blob === null || found.kind !== 'file' || found.entry.mode === '120000') {
    return refuseList(named, 'is no file of the commit that the policy was read from')
  }
  return { list: blob.bytes, source: named }
}

async function readList(repository: Repository, path: string): Promise<Uint8Array> {
  const file = path.startsWith('~/') ? join(accountHome() ?? '/', path.slice(1)) : path
  const inside = [repository.workTree, repository.commonDir].filter((one) => one !== null)
  const found = await readOutsideFile(file, inside, limits.signersMaxBytes)
  switch (found.kind) {
    case 'file':
      return found.bytes
    case 'absent':
      return refuseList(path, 'is not there')
    case 'inside':
      return refuseList(path, `lies in ${found.directory}, where an agent can write`)
    case 'too-large':
      return refuseList(path, `has ${found.size} bytes, more than ${limits.signersMaxBytes}`)
  }
}

function refuseList(path: string, what: string): never {
  refuse('not-approved', `signatures cannot be verified: the list ${path} ${what}`, { path }, NAME_A_LIST)
}

const NAME_A_LIST =
  'Name the list of allowed signers in the policy ("allowedSigners"), by its path in the repository or an absolute one outside of it; a verifier may be given one by --allowed-signers.'

/** What became of an approval's signature: none there, one that holds, or why it does not count. */
export type ApprovalVerdict = { readonly kind: 'unsigned' } | SignatureVerdict

/**
 * Verifies the signature of one approval: over the tag's whole text, in the namespace `git`, by a key that is allowed for the
 * address in the approval's `by`.
 *
 * The key must have been valid when the tag was made, and with `nowMs` at that moment too: a landing asks for both, a look into
 * history for the first alone. Whether the approval itself has expired is not asked here.
 *
 * @throws GalleyError `not-approved`, if there is no program to verify with.
 */
export async function verifyApproval(
  repository: Pick<Repository, 'door'>,
  found: FoundApproval,
  signers: AllowedSigners,
  nowMs: number | null,
): Promise<ApprovalVerdict> {
  const { signed, approval, taggedMs } = found
  if (signed === null) return { kind: 'unsigned' }
  const address = /<([^<>\p{Cc}]+)>$/u.exec(approval.by)?.[1]
  if (address === undefined) return { kind: 'bad', code: 'forged', reason: 'it names no address', key: null }
  return verifySignature({
    signed,
    address,
    signers: signers.list,
    momentsMs: nowMs === null ? [taggedMs] : [taggedMs, nowMs],
    path: repository.door.inherited['PATH'] ?? '',
  })
}

/** An approval that does not count, and why. */
export interface SetAside {
  readonly tag: TagId
  readonly by: string
  readonly reason: string
}

export interface JudgedApprovals {
  /** Without those set aside; a forged one is `broken`. */
  readonly approvals: readonly ApprovalFact[]
  /** Those whose signature holds now. */
  readonly signedTags: readonly TagId[]
  readonly setAside: readonly SetAside[]
}

/**
 * Verifies the signatures of a revision's approvals, as far as the policy asks for them: it requires signatures, or names who may
 * approve. One key counts for one person, whatever addresses it is allowed for.
 *
 * @param findSigners - For whoever asks many times about one policy, which need not be read each time.
 */
export async function judgeApprovals(
  world: World,
  records: readonly ApprovalRecord[],
  policy: Policy,
  tree: TreeId | null,
  findSigners = () => findAllowedSigners(world, policy, tree),
): Promise<JudgedApprovals> {
  const names = policy.allowedSigners !== null || world.allowedSigners !== undefined
  const isAsked = names || policy.approval.requires === 'signature'
  const isSigned = records.some((record) => record.kind === 'approval' && record.signed !== null)
  if (!isAsked || !isSigned) return { approvals: records, signedTags: [], setAside: [] }
  const signers = await findSigners()
  const approvals: ApprovalFact[] = []
  const signedTags: TagId[] = []
  const setAside: SetAside[] = []
  const people = new Map<string, string>()
  for (const record of inOrder(records)) {
    const verdict = await verdictOn(world, record, signers)
    if (verdict.kind === 'unsigned' || record.kind === 'broken') {
      approvals.push(record)
      continue
    }
    const { tag, by } = record.approval
    if (verdict.kind === 'bad' && verdict.code === 'forged') {
      approvals.push({ kind: 'broken', ref: `${tag.slice(0, 12)} by ${by}`, reason: verdict.reason })
    } else if (verdict.kind === 'bad') {
      setAside.push({ tag, by, reason: verdict.reason })
    } else if ((people.get(verdict.key) ?? by) !== by) {
      setAside.push({
        tag,
        by,
        reason: `the key ${verdict.key} has approved as ${people.get(verdict.key)} already`,
      })
    } else {
      people.set(verdict.key, by)
      approvals.push(record)
      signedTags.push(tag)
    }
  }
  return { approvals, signedTags, setAside }
}

/** Oldest first, so that the same approval counts wherever one looks. */
const inOrder = (records: readonly ApprovalRecord[]): readonly ApprovalRecord[] => {
  const key = (record: ApprovalRecord) =>
    record.kind === 'approval' ? `${record.approval.at} ${record.approval.tag}` : ''
  return [...records].sort((a, b) => Number(key(a) > key(b)) - Number(key(a) < key(b)))
}

async function verdictOn(
  world: World,
  record: ApprovalRecord,
  signers: AllowedSigners | null,
): Promise<ApprovalVerdict> {
  if (record.kind === 'broken' || record.signed === null) return { kind: 'unsigned' }
  if (signers !== null) return verifyApproval(world.repository, record, signers, world.clock.now())
  const reason = 'nothing names the allowed signers: the policy has no "allowedSigners"'
  return { kind: 'bad', code: 'not-approved', reason, key: null }
}

/** A landing that lacks approvals says which of those that are there do not count, and why. */
export function withReasons(decision: LandDecision, setAside: readonly SetAside[]): LandDecision {
  const [first] = setAside
  if (decision.kind !== 'refused' || decision.refusal.code !== 'not-approved' || first === undefined)
    return decision
  const message = `${decision.refusal.message}; that by ${first.by} does not count: ${first.reason}`
  const data = { ...decision.refusal.data, setAside }
  return { kind: 'refused', refusal: { ...decision.refusal, message, data } }
}

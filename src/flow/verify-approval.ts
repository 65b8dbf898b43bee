import { lookUpPath } from '../git/objects.ts'
import type { Repository } from '../git/open-repository.ts'
import { type OwnSettings, readOwnSettings } from '../git/own-settings.ts'
import { expandHome, type SignatureVerdict, verifySignature } from '../git/verify-tag.ts'
import { refuse } from '../model/error.ts'
import type { TagId, TreeId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { Policy } from '../model/policy.ts'
import type { ApprovalFact, LandDecision } from '../policy/land-decision.ts'
import { signersPlace } from '../policy/policy-values.ts'
import type { ApprovalRecord, FoundApproval } from '../store/approvals.ts'
import { homeDirectory } from '../sys/home.ts'
import { readOutsideFile } from '../sys/outside-file.ts'
import type { World } from './world.ts'

/** Who may approve by signature, and what verifies one. */
export interface AllowedSigners {
  /** The list, as ssh-keygen(1) has it under ALLOWED SIGNERS. */
  readonly list: Uint8Array
  /** Where it stands, for messages. */
  readonly source: string
  /** The user's list of revoked keys, where their configuration names one. */
  readonly revoked?: Uint8Array
  /** `ssh-keygen`, or the user's own choice of it. */
  readonly program: string
}

/** What of the user's own configuration verifying relies on. The repository's own (`.git/config`) is not asked. */
const SETTINGS = '^gpg\\.ssh\\.(allowedsignersfile|revocationfile|program)$'

/**
 * Finds the list of allowed signers: the policy's `allowedSigners`, as it stands in the tree that the policy was read from (where it is
 * a protected path) or outside of the repository; else `gpg.ssh.allowedSignersFile` of the user's own or the system's configuration.
 *
 * Never from the proposal, the working tree or `.git/config`: an agent can write those.
 *
 * @returns null, where nothing names one.
 * @throws GalleyError `not-approved`, when the file that is named is not there or lies inside the repository.
 */
export async function findAllowedSigners(
  world: Pick<World, 'repository' | 'reader'>,
  policy: Pick<Policy, 'allowedSigners'>,
  tree: TreeId | null,
): Promise<AllowedSigners | null> {
  const { repository } = world
  const own = await readOwnSettings(repository.door, SETTINGS)
  const named = policy.allowedSigners
  const rest = await verifierOf(repository, own)
  if (named !== null && signersPlace(named) === 'repository') {
    const reader = await world.reader()
    const found = await lookUpPath(reader, tree, named)
    const blob = found.kind === 'file' ? await reader.contents(found.entry.id) : null
    if (blob === null || found.kind !== 'file' || found.entry.mode === '120000') {
      return refuseList(named, 'is no file of the commit that the policy was read from')
    }
    return { list: blob.bytes, source: named, ...rest }
  }
  const path = named ?? own.get('gpg.ssh.allowedsignersfile') ?? null
  if (path === null || path === '') return null
  return { list: await readList(repository, path), source: path, ...rest }
}

async function verifierOf(repository: Repository, own: OwnSettings) {
  const revocation = own.get('gpg.ssh.revocationfile')
  return {
    program: own.get('gpg.ssh.program') ?? 'ssh-keygen',
    ...(revocation === undefined ? {} : { revoked: await readList(repository, revocation) }),
  }
}

async function readList(repository: Repository, path: string): Promise<Uint8Array> {
  const file = expandHome(path, homeDirectory(repository.env))
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
  refuse(
    'not-approved',
    `signatures cannot be verified: the list ${path} ${what}`,
    { path },
    'Name the list of allowed signers in the policy ("allowedSigners"), by its path in the repository or an absolute one outside of it; or in gpg.ssh.allowedSignersFile of your own configuration.',
  )
}

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
    ...(signers.revoked === undefined ? {} : { revoked: signers.revoked }),
    momentsMs: nowMs === null ? [taggedMs] : [taggedMs, nowMs],
    program: signers.program,
    env: repository.door.inherited,
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
  const isAsked = policy.approval.requires === 'signature' || policy.allowedSigners !== null
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
  const reason =
    'nothing names the allowed signers: neither "allowedSigners" of the policy nor gpg.ssh.allowedSignersFile of your own configuration'
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

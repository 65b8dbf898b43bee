import { sha256Hex } from '../../git/blob-id.ts'
import { type LoggedCommit, readCommits } from '../../git/commit-log.ts'
import type { GitDoor } from '../../git/door.ts'
import type { ObjectReader } from '../../git/objects.ts'
import { readBatch, withObjects } from '../../git/read-batch.ts'
import type { RefRow } from '../../git/refs.ts'
import {
  type ChangeId,
  type CommitId,
  changeId,
  type Digest,
  isChangeId,
  type TreeId,
} from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { type Manifest, manifestBytes, type Transition } from '../../model/manifest.ts'
import type { Policy } from '../../model/policy.ts'
import { approvalRefusal } from '../../policy/land-decision.ts'
import { newSide } from '../../policy/transition-chain.ts'
import { type ApprovalRecord, type FoundApproval, readApproval } from '../../store/approvals.ts'
import { messageHashOf } from '../record-approval.ts'
import type { JudgedApprovals } from '../verify-approval.ts'

/** A manifest that somebody approved, recomputed from the objects, and those who did. */
export interface Covering {
  readonly key: ChangeId
  readonly revision: number
  readonly commit: CommitId
  readonly tree: TreeId
  readonly base: CommitId | null
  readonly digest: Digest
  readonly manifest: Manifest
  readonly messageHash: string
  readonly approvals: readonly FoundApproval[]
}

/** What approvals are held against: a policy, and the signatures that it asks for, at a moment (ISO 8601). */
export interface ApprovalRules {
  readonly policy: Policy
  readonly judge: (records: readonly FoundApproval[], at: string) => Promise<JudgedApprovals>
}

/** Approvals of one revision's commit, as their tags tell of it: not yet held against the objects. */
interface Group {
  readonly key: ChangeId
  readonly revision: number
  readonly commit: CommitId
  readonly digest: Digest
  readonly records: FoundApproval[]
}

/** Where approvals and what they speak of are read from. */
export interface ApprovalSource {
  readonly door: GitDoor
  readonly reader: ObjectReader
  /** `refs/galley/approvals/…`, wherever they are kept. */
  readonly rows: readonly RefRow[]
}

/**
 * Every approval that can be found, each believed only after its tag was held against the commit that it names: tree, parent,
 * transitions, message and author. Reads the tags at once, and commits when they are asked for.
 */
export class ApprovalPool {
  /** Why approvals cannot be believed, by the change that their ref names. */
  readonly broken = new Map<string, string>()
  private readonly source: ApprovalSource
  private readonly byDigest = new Map<Digest, Group[]>()
  private readonly byChange = new Map<string, Group[]>()
  private byPath: Promise<ReadonlyMap<string, readonly Covering[]>> | null = null
  private readonly confirmed = new Map<Group, Covering | null>()
  private readonly refusals = new Map<string, Promise<string | null>>()

  private constructor(source: ApprovalSource) {
    this.source = source
  }

  static async open(source: ApprovalSource): Promise<ApprovalPool> {
    const pool = new ApprovalPool(source)
    const known = new Set<string>()
    const rows = source.rows.filter((row) => {
      const isNew = !known.has(`${row.ref} ${row.object}`)
      known.add(`${row.ref} ${row.object}`)
      return isNew
    })
    const objects = rows.map((row) => row.object)
    const reader = withObjects(source.reader, await readBatch(source.door, objects, limits.approvalMaxBytes))
    for (const record of await Promise.all(rows.map((row) => readRow(reader, row)))) pool.add(record)
    return pool
  }

  private add({ record, change }: { readonly record: ApprovalRecord; readonly change: string }): void {
    if (record.kind === 'broken') {
      this.broken.set(change, `the approval at ${record.ref} does not hold: ${record.reason}`)
      return
    }
    const { approval } = record
    const list = this.byDigest.get(approval.digest) ?? []
    this.byDigest.set(approval.digest, list)
    const group = list.find(
      (g) => g.key === approval.change && g.revision === approval.revision && g.commit === approval.commit,
    )
    // One tag under two refs, or in two repositories, is one approval.
    if (group?.records.some((other) => other.approval.tag === approval.tag) === true) return
    if (group !== undefined) group.records.push(record)
    else {
      const { change: key, revision, commit, digest } = approval
      const made = { key, revision, commit, digest, records: [record] }
      list.push(made)
      this.byChange.set(key, [...(this.byChange.get(key) ?? []), made])
    }
  }

  /** Reads at once what the transitions of many commits will ask for. */
  async prepare(digests: readonly Digest[]): Promise<void> {
    await this.confirm(digests.flatMap((digest) => this.byDigest.get(digest) ?? []))
  }

  /** Approved manifests with this digest. */
  async withDigest(digest: Digest): Promise<readonly Covering[]> {
    return this.confirm(this.byDigest.get(digest) ?? [])
  }

  /** Approved manifests of one change. */
  async ofChange(id: string): Promise<readonly Covering[]> {
    return this.confirm(this.byChange.get(id) ?? [])
  }

  /** Paths at which no approved manifest leads to what a step leads to. The usual case, a person's own commit, costs a look-up a path. */
  async unreachable(steps: Manifest): Promise<readonly string[]> {
    const index = await this.indexed()
    const leads = (step: Transition): boolean =>
      (index.get(step.path) ?? []).some(({ manifest }) =>
        manifest.some((t) => t.path === step.path && newSide(t) === newSide(step)),
      )
    return steps.filter((step) => !leads(step)).map((step) => step.path)
  }

  private indexed(): Promise<ReadonlyMap<string, readonly Covering[]>> {
    this.byPath ??= this.confirm([...this.byChange.values()].flat()).then(indexByPath)
    return this.byPath
  }

  /** Approved manifests that touch the paths of these steps, or a path that such a one touches. */
  async near(steps: Manifest): Promise<readonly Covering[]> {
    const index = await this.indexed()
    const paths = new Set(steps.map((t) => t.path))
    const near = new Set<Covering>()
    // A set goes on to what is added to it on the way.
    for (const path of paths) {
      for (const covering of index.get(path) ?? []) {
        if (near.has(covering)) continue
        near.add(covering)
        if (near.size > NEAR_MAX) return [...near]
        for (const t of covering.manifest) paths.add(t.path)
      }
    }
    return [...near]
  }

  private async confirm(groups: readonly Group[]): Promise<readonly Covering[]> {
    const fresh = groups.filter((group) => !this.confirmed.has(group))
    if (fresh.length > 0) {
      const ids = fresh.map((group) => group.commit)
      const raw = await readBatch(this.source.door, ids, limits.approvalMaxBytes)
      const present = ids.filter((id) => raw.get(id)?.object.type === 'commit')
      const commits = await readCommits(this.source.door, present)
      for (const group of fresh) {
        const bytes = raw.get(group.commit)?.bytes ?? null
        this.confirmed.set(group, this.hold(group, commits.get(group.commit), bytes))
      }
    }
    return groups.flatMap((group) => this.confirmed.get(group) ?? [])
  }

  /** Holds what the tags say against the commit itself. */
  private hold(group: Group, commit: LoggedCommit | undefined, bytes: Buffer | null): Covering | null {
    const { key, revision, digest, records } = group
    const reason = commit === undefined ? 'the commit that it names is not there' : faultOf(group, commit)
    const hash = reason !== null || bytes === null ? null : messageHashOf(bytes)
    if (commit?.transitions == null || reason !== null || hash === null) {
      const who = `the approval of ${key}, revision ${revision}, does not hold`
      this.broken.set(key, `${who}: ${reason ?? 'its commit names no author'}`)
      return null
    }
    return {
      key,
      revision,
      commit: commit.commit,
      tree: commit.tree,
      base: commit.parents[0] ?? null,
      digest,
      manifest: commit.transitions,
      messageHash: hash,
      // A false one beside a true one takes nothing from it.
      approvals: records.filter((record) => bearsOut(commit, record)),
    }
  }

  /**
   * Why the approvals of a manifest are not enough at a moment, in words; null where they are. Remembered: verifying a signature
   * takes a process or three.
   *
   * @param at - ISO 8601.
   */
  refusalOf(covering: Covering, rules: ApprovalRules, at: string): Promise<string | null> {
    const key = `${covering.key} ${covering.commit} ${at}`
    const known = this.refusals.get(key) ?? judgeCovering(covering, rules, at)
    this.refusals.set(key, known)
    return known
  }
}

/** Manifests looked at to put a squash together. */
const NEAR_MAX = 5000

function indexByPath(coverings: readonly Covering[]): ReadonlyMap<string, readonly Covering[]> {
  const index = new Map<string, Covering[]>()
  for (const covering of coverings) {
    for (const { path } of covering.manifest) {
      const list = index.get(path)
      if (list === undefined) index.set(path, [covering])
      else list.push(covering)
    }
  }
  return index
}

async function judgeCovering(covering: Covering, rules: ApprovalRules, at: string): Promise<string | null> {
  const { approvals, signedTags, setAside } = await rules.judge(covering.approvals, at)
  const refusal = approvalRefusal({
    id: covering.key,
    revision: revisionOf(covering),
    messageHash: covering.messageHash,
    approvals,
    signedTags,
    checks: covering.approvals.flatMap(({ approval }) => approval.checks),
    policy: rules.policy,
    now: at,
  })
  if (refusal === null) return null
  const [first] = setAside
  const why = first === undefined ? '' : `; that by ${first.by} does not count: ${first.reason}`
  return `${refusal.message.replace(/^land (g\w+): /, (_, id: string) => `${id}: `)}${why}`
}

async function readRow(reader: ObjectReader, row: RefRow) {
  const [id = '', number = ''] = row.ref.slice('refs/galley/approvals/'.length).split('/')
  const record: ApprovalRecord =
    isChangeId(id) && /^\d{1,9}$/.test(number)
      ? await readApproval(reader, row.ref, row.object, { id: changeId(id), revision: Number(number) })
      : { kind: 'broken', ref: row.ref, reason: 'the ref names no revision of a change' }
  return { record, change: id }
}

/** What the tags of a group say that the commit does not bear out, or null. */
function faultOf(group: Group, commit: LoggedCommit): string | null {
  if (commit.transitions === null || commit.hasUnreadablePath)
    return 'it names a merge, or paths that are not text'
  const found = digestOf(commit.transitions)
  if (found !== group.digest) return `its digest is ${group.digest}, and the commit's is ${found}`
  const isBorneOut = group.records.some((record) => bearsOut(commit, record))
  return isBorneOut ? null : 'it names another tree or base than the commit has'
}

const bearsOut = (commit: LoggedCommit, { approval }: FoundApproval): boolean =>
  approval.tree === commit.tree && approval.base === (commit.parents[0] ?? null)

export const digestOf = (manifest: Manifest): Digest => sha256Hex(manifestBytes(manifest)) as Digest

/** As far as objects tell: how each path was matched is in the change's log alone, which a verifier does not believe. */
function revisionOf(covering: Covering) {
  const { revision: number, commit, tree, base, digest, manifest } = covering
  const files = manifest.map(({ path }) => ({ path, tier: 'exact' as const, added: 0, removed: 0 }))
  return { number, commit, tree, base, digest, manifest, files, remarks: [], reads: [] }
}

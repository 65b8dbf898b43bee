import { isTextPath, type LoggedCommit, readCommits } from '../../git/commit-log.ts'
import type { GitDoor } from '../../git/door.ts'
import type { ObjectReader } from '../../git/objects.ts'
import { readBatch, withObjects } from '../../git/read-batch.ts'
import type { RefRow } from '../../git/refs.ts'
import { type ChangeId, type CommitId, changeId, type Digest, isChangeId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Manifest } from '../../model/manifest.ts'
import { type ApprovalRecord, type FoundApproval, readApproval } from '../../store/approvals.ts'
import { messageHashOf } from '../record-approval.ts'
import { digestOf } from '../stage.ts'
import type { ApprovalLogs } from './approval-logs.ts'
import type { ApprovalRules, Covering } from './covering.ts'
import { judgeCovering } from './judge-covering.ts'

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
  readonly logs: ApprovalLogs
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
  private readonly walked = new Map<CommitId, LoggedCommit>()
  private readonly refusals = new Map<ApprovalRules, Map<string, Promise<string | null>>>()

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

  /**
   * Reads at once what the transitions of many commits will ask for.
   *
   * @param walked - Commits as a walk without paths told of them, which need not be read again: an approved commit is often one of them.
   */
  async prepare(digests: readonly Digest[], walked: readonly LoggedCommit[] = []): Promise<void> {
    for (const commit of walked) this.walked.set(commit.commit, commit)
    const groups = digests.flatMap((digest) => this.byDigest.get(digest) ?? [])
    await Promise.all([this.confirm(groups), this.source.logs.prepare(groups.map((group) => group.key))])
  }

  /** Approved manifests with this digest. */
  async withDigest(digest: Digest): Promise<readonly Covering[]> {
    return this.confirm(this.byDigest.get(digest) ?? [])
  }

  /** Approved manifests of one change. */
  async ofChange(id: string): Promise<readonly Covering[]> {
    return this.confirm(this.byChange.get(id) ?? [])
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
      const unknown = present.filter((id) => !this.walked.has(id))
      const commits = await readCommits(this.source.door, unknown)
      for (const group of fresh) {
        const bytes = raw.get(group.commit)?.bytes ?? null
        const commit = commits.get(group.commit) ?? this.walked.get(group.commit)
        this.confirmed.set(group, this.hold(group, commit, bytes))
      }
    }
    return groups.flatMap((group) => this.confirmed.get(group) ?? []).sort(byTime)
  }

  /** Holds what the tags say against the commit itself. */
  private hold(group: Group, commit: LoggedCommit | undefined, bytes: Buffer | null): Covering | null {
    const { key, revision, digest, records } = group
    const reason = commit === undefined ? 'the commit that it names is not there' : faultOf(group, commit)
    const hash = reason !== null || bytes === null ? null : messageHashOf(bytes)
    if (commit === undefined || reason !== null || hash === null) {
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
      at: records.map(({ approval }) => approval.at).sort()[0] ?? '',
    }
  }

  /**
   * Why the approvals of a manifest do not count at a moment, in words; null where they do. Remembered: verifying a signature takes a
   * process or three.
   *
   * @param at - ISO 8601.
   */
  refusalOf(covering: Covering, rules: ApprovalRules, at: string): Promise<string | null> {
    const known = this.refusals.get(rules) ?? new Map<string, Promise<string | null>>()
    this.refusals.set(rules, known)
    const key = `${covering.key} ${covering.commit} ${at}`
    const found = known.get(key) ?? this.judge(covering, rules, at)
    known.set(key, found)
    return found
  }

  /**
   * @param made - What the approved change has become on a branch, where that is not what was approved: a merge made it anew, which may have
   * led it to other paths.
   */
  async judge(
    covering: Covering,
    rules: ApprovalRules,
    at: string,
    made: Manifest = covering.manifest,
  ): Promise<string | null> {
    const { key, revision: number, commit, digest } = covering
    const { refusal, revision } = await this.source.logs.standing(key, { number, commit, digest })
    if (refusal !== null) return refusal
    return judgeCovering(this.source.reader, { covering, made, revision }, rules, at)
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
  const { parents, transitions } = commit
  if (parents.length > 1 || !transitions.every((t) => isTextPath(t.path)))
    return 'it names a merge, or paths that are not text'
  const found = digestOf(commit.transitions)
  if (found !== group.digest) return `its digest is ${group.digest}, and the commit's is ${found}`
  const isBorneOut = group.records.some((record) => bearsOut(commit, record))
  return isBorneOut ? null : 'it names another tree or base than the commit has'
}

const bearsOut = (commit: LoggedCommit, { approval }: FoundApproval): boolean =>
  approval.tree === commit.tree && approval.base === (commit.parents[0] ?? null)

const byTime = (a: Covering, b: Covering): number => Number(a.at > b.at) - Number(a.at < b.at)

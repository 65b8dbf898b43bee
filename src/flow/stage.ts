import { sha256Hex } from '../git/blob-id.ts'
import { commitTree } from '../git/commit-tree.ts'
import { diffTrees } from '../git/diff-tree.ts'
import { emptyTree, type FileChange, openImporter } from '../git/fast-import.ts'
import { type RefUpdate, updateRefs } from '../git/refs.ts'
import type { Agent } from '../model/batch.ts'
import type { Change, ChangeEvent, Revision, RevisionFile } from '../model/change.ts'
import { invariant, refuse } from '../model/error.ts'
import { applyEvent, foldChange } from '../model/fold-change.ts'
import {
  type ChangeId,
  type CommitId,
  changeId,
  type Digest,
  type RefName,
  type TreeId,
} from '../model/ids.ts'
import { type Manifest, manifestBytes } from '../model/manifest.ts'
import { nameAndEmail, type Person } from '../model/person.ts'
import type { Remark } from '../model/resolution.ts'
import { appendEvents, eventCommit, type LoggedChange } from '../store/change-log.ts'
import { logRef, revisionRef } from '../store/change-refs.ts'
import type { Store } from '../store/open-store.ts'
import { keepRevision } from '../store/revision-objects.ts'
import type { World } from './world.ts'

/** What a revision is made of, from edits or from a tree that git merged. */
export type RevisionContent =
  | {
      readonly kind: 'changes'
      readonly changes: readonly FileChange[]
      readonly manifest: Manifest
      /**
       * A tree against which git's own `diff-tree` has confirmed the manifest already. The commit must hold exactly this tree, which
       * then needs no second look.
       */
      readonly confirmedTree?: TreeId
    }
  | { readonly kind: 'tree'; readonly tree: TreeId; readonly manifest: Manifest }

export interface RevisionRequest {
  readonly base: CommitId | null
  readonly content: RevisionContent
  readonly files: readonly RevisionFile[]
  readonly remarks: readonly Remark[]
  readonly reads: Revision['reads']
  readonly author: Person
  readonly committer: Person
  /** Events that are noted before it, in the same step: what a reviewer said. */
  readonly before?: readonly ChangeEvent[]
}

export interface ProposalFacts {
  readonly title: string
  readonly body: string
  readonly agent: Agent | null
  readonly onto: RefName
  readonly stackedOn: ChangeId | null
  readonly key: string | null
  readonly batchHash: string
  readonly undoes: readonly CommitId[]
  readonly undoesPartly?: readonly CommitId[]
  readonly redoes: readonly CommitId[]
  /** Its first revision was taken from index and work tree. */
  readonly captured?: true
  readonly messages?: readonly string[]
}

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'

function newChangeId(world: World): ChangeId {
  const digits = [...world.clock.random(9)].map((byte) => CROCKFORD[byte % 32])
  return changeId(`g${digits.join('')}`)
}

/** A verifier asks for that of one commit again and again: remembered. */
export function digestOf(manifest: Manifest): Digest {
  const known = digests.get(manifest)
  if (known !== undefined) return known
  const made = sha256Hex(manifestBytes(manifest)) as Digest
  digests.set(manifest, made)
  return made
}

const digests = new WeakMap<Manifest, Digest>()

type MessageFacts = Pick<ProposalFacts, 'title' | 'body' | 'agent' | 'redoes'>

/** Subject, body and trailers of a change's commit. Trailers at the end of the body and ours are one paragraph: git reads the last one alone. */
export function commitMessage(id: ChangeId, facts: MessageFacts): string {
  const body = facts.body.trim()
  const ours = ownTrailers(id, facts).join('\n')
  const last = body.slice(body.lastIndexOf('\n\n') + 1).trim()
  const isTrailers = last !== '' && last.split('\n').every((line) => /^[A-Za-z0-9-]+: \S/.test(line))
  const text = [facts.title, ...(body ? [body] : [])].join('\n\n')
  return `${text}${isTrailers ? '\n' : '\n\n'}${ours}\n`
}

/** The lines by which a commit leads to its change, as they stand in its message. */
export function ownTrailers(
  id: ChangeId,
  { agent, redoes }: Pick<MessageFacts, 'agent' | 'redoes'>,
): readonly string[] {
  return [
    `Galley-Change: ${id}`,
    ...(agent
      ? [`Galley-Agent: ${oneLine(agent.name)}${agent.model ? ` (${oneLine(agent.model)})` : ''}`]
      : []),
    ...redoes.map((commit) => `Galley-Redoes: ${commit}`),
  ]
}

const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()

/**
 * Makes a new change: its first revision's commit, its log, and the refs that hold them, all in the store.
 *
 * Nothing outside the store changes. The objects are there before the refs; the refs are created in one transaction.
 */
export async function stageNewChange(
  world: World,
  store: Store,
  facts: ProposalFacts,
  request: RevisionRequest,
  refs: (proposal: CommitId) => readonly RefUpdate[],
): Promise<LoggedChange> {
  const id = newChangeId(world)
  const at = world.now()
  const by = nameAndEmail(request.committer)
  const importer = openImporter(store.door, { asPack: true })
  const revision = await writeRevision(store, importer, id, 1, facts, request)
  const proposed: ChangeEvent = { kind: 'proposed', at, by, ...facts }
  const staged: ChangeEvent = { kind: 'staged', at, by, revision, reason: 'proposed' }
  const first = foldChange(id, [proposed])
  const proposal = await importer.commit(eventCommit(first, { event: proposed }, null, request.committer))
  const change: Change = applyEvent({ ...first, log: [proposed, staged] }, staged)
  const log = await importer.commit(
    eventCommit(change, { event: staged }, proposal.commit, request.committer),
  )
  await importer.finish()
  await confirmAndKeep(world, store, revision, request.content)
  const updates: readonly RefUpdate[] = [
    { ref: revisionRef(id, 1), expected: null, next: revision.commit },
    { ref: logRef(id), expected: null, next: log.commit },
    ...refs(proposal.commit),
  ]
  if (!(await updateRefs(store.door, updates, 'galley: proposed'))) {
    refuse(
      'busy',
      'another process proposed the same batch at the same time',
      {},
      'Propose again: the first one is then found.',
    )
  }
  const rows = updates.flatMap((u) => (u.next === null ? [] : [{ ref: u.ref, object: u.next }]))
  return { change, tip: log.commit, refs: { log: log.commit, landing: null, rows } }
}

/** Stages another revision of a pending change; approvals of the one before do not come along. */
export async function stageRevision(
  world: World,
  store: Store,
  logged: LoggedChange,
  request: RevisionRequest,
  reason: string,
  words: Partial<Pick<ProposalFacts, 'title' | 'body' | 'agent'>> = {},
): Promise<LoggedChange> {
  const { change } = logged
  const number = change.revisions.length + 1
  const importer = openImporter(store.door, { asPack: true })
  const revision = await writeRevision(store, importer, change.id, number, { ...change, ...words }, request)
  await importer.finish()
  await confirmAndKeep(world, store, revision, request.content)
  const by = nameAndEmail(request.committer)
  const event: ChangeEvent = { kind: 'restaged', at: world.now(), by, revision, reason, ...words }
  const ref = { ref: revisionRef(change.id, number), expected: null, next: revision.commit }
  const records = [...(request.before ?? []), event].map((one) => ({ event: one }))
  return appendEvents(store, logged, records, request.committer, [ref])
}

async function writeRevision(
  store: Store,
  importer: ReturnType<typeof openImporter>,
  id: ChangeId,
  number: number,
  facts: Pick<ProposalFacts, 'title' | 'body' | 'agent' | 'redoes'>,
  request: RevisionRequest,
): Promise<Revision> {
  const message = commitMessage(id, facts)
  const { content, base, author, committer } = request
  const written =
    content.kind === 'changes'
      ? await importer.commit({ parent: base, author, committer, message, changes: content.changes })
      : {
          tree: content.tree,
          commit: await commitTree(store.door, content.tree, { base, author, committer, message }),
        }
  return {
    number,
    commit: written.commit,
    tree: written.tree,
    base,
    digest: digestOf(content.manifest),
    manifest: content.manifest,
    files: request.files,
    remarks: request.remarks,
    reads: request.reads,
  }
}

/** Before any ref: the commit is what it should be, and the store holds what it needs whatever the user's repository drops. */
async function confirmAndKeep(
  world: World,
  store: Store,
  revision: Revision,
  content: RevisionContent,
): Promise<void> {
  const keeping = world.reader().then((reader) => keepRevision(store, reader, revision))
  await Promise.all([confirmManifest(store, revision, content), keeping])
}

/** The commit that git wrote must hold exactly what was computed: a mismatch is our fault and nothing is published. */
async function confirmManifest(store: Store, revision: Revision, content: RevisionContent): Promise<void> {
  if (content.kind === 'changes' && content.confirmedTree !== undefined) {
    invariant(
      content.confirmedTree === revision.tree,
      `the staged commit ${revision.commit} holds the merged tree`,
    )
    return
  }
  const written = await diffTrees(
    store.door,
    revision.base ?? emptyTree(store.door.objectFormat),
    revision.commit,
  )
  invariant(
    digestOf(written) === revision.digest,
    `the staged commit ${revision.commit} holds exactly the manifest's transitions`,
  )
}

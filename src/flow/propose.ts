import { translateBatch } from '../dialects/registry.ts'
import { resolve } from '../editing/resolve.ts'
import { sha256Hex } from '../git/blob-id.ts'
import type { Person } from '../git/fast-import.ts'
import { parseBatch } from '../intake/batch.ts'
import type { Batch, DialectName } from '../model/batch.ts'
import { isPending } from '../model/change.ts'
import type { Edit } from '../model/edit.ts'
import { GalleyError, refuse } from '../model/error.ts'
import type { ReadRecord } from '../model/file-state.ts'
import { limits } from '../model/limits.ts'
import type { PermissionMode, Policy } from '../model/policy.ts'
import type { Failure, ItemResult, Remark } from '../model/resolution.ts'
import { judgePaths, judgeTransitions, strictest } from '../policy/judge.ts'
import { bytesRef, findByRef, keyRef, rememberAs } from '../store/batch-keys.ts'
import { findChange, type LoggedChange, readChange } from '../store/change-log.ts'
import type { Store } from '../store/open-store.ts'
import { repackWhenDue } from '../store/repack.ts'
import { readJournal, readsOf, withBytes } from '../store/sessions.ts'
import { buildRevision } from './build-revision.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { checkRevision } from './check.ts'
import { type PathUse, readFiles } from './read-files.ts'
import { type PolicyInForce, readPolicy } from './read-policy.ts'
import { finishInterrupted } from './recover.ts'
import { type Base, selectBase } from './select-base.ts'
import { type RevisionRequest, stageNewChange, stageRevision } from './stage.ts'
import type { World } from './world.ts'

export interface ProposeRequest {
  /** The batch as it came: JSON, UTF-8 (DESIGN.md section 4). */
  readonly batch: Uint8Array
  /** Overrides the batch's own "dialect". */
  readonly dialect?: DialectName
  /** Stages a new revision of this pending change. */
  readonly revise?: string
  /** Takes uncommitted work in the edited files into the change. */
  readonly includeUncommitted?: boolean
  /** Applies a stale line edit at the place its lines have moved to. */
  readonly carry?: boolean
  /** The strictest of this and the policy's `mode` counts. */
  readonly permissionMode?: PermissionMode
  /** `later`: the scratch tree and the checks wait until someone asks for them. */
  readonly checks?: 'now' | 'later'
}

export interface Proposed {
  readonly change: ChangeView
  /** The same batch was proposed before; `change` is that one. */
  readonly repeated: boolean
  readonly results: readonly ItemResult[]
}

/**
 * Stages a batch as a change.
 *
 * Leaves a commit, a log and a scratch tree in galley's own store, and nothing anywhere else.
 *
 * @throws GalleyError with any code of a batch, an edit, freshness or the policy; `data.failures` lists every failing edit.
 */
export async function propose(world: World, request: ProposeRequest): Promise<Proposed> {
  const parsed = parseBatch(request.batch)
  if (parsed.kind === 'refused') throw new GalleyError(parsed.refusal)
  const batch: Batch =
    request.dialect === undefined ? parsed.batch : { ...parsed.batch, dialect: request.dialect }
  const identity = await world.identity()
  await finishInterrupted(world)
  const base = await selectBase(world, batch)
  const store = await world.store()
  const batchHash = sha256Hex(request.batch)
  const known = request.revise === undefined ? await findRepeated(world, store, batch, batchHash) : null
  if (known !== null && known.change !== null)
    return { change: viewChange(known.change.change), repeated: true, results: [] }

  const inForce = await readPolicy(world, base.tree)
  const work = await resolveBatch(world, batch, base, inForce.policy, request)
  const revision = await prepareRevision(world, batch, base, inForce, work, identity, request)
  const staged =
    request.revise === undefined
      ? await stageProposal(world, store, batch, batchHash, base, revision, known?.refs ?? [])
      : await stageRevision(
          world,
          store,
          await pendingChange(world, store, request.revise, base),
          revision,
          batch.title,
        )
  await repackWhenDue(store, world.clock)
  world.log.note('proposed', { change: staged.change.id, files: revision.files.length })
  const checked = request.checks === 'later' ? staged : await checkRevision(world, store, staged, inForce)
  return { change: viewChange(checked.change), repeated: false, results: work.results }
}

/** The first failure speaks for the batch; all are listed. */
export function refuseBatch(failures: readonly Failure[]): never {
  const [first] = failures
  if (first === undefined) throw new Error('BUG: a refused batch has a failure')
  const more = failures.length > 1 ? ` (and ${failures.length - 1} more)` : ''
  const listed = failures.slice(0, limits.failuresShown)
  throw new GalleyError({
    code: first.code,
    message: `edit ${first.item + 1}: ${first.message}${more}`,
    data: {
      ...first.data,
      item: first.item,
      path: first.path,
      failures: listed,
      failureCount: failures.length,
    },
    ...(first.hint === undefined ? {} : { hint: first.hint }),
  })
}

interface Resolved {
  readonly files: readonly import('../model/resolution.ts').ResolvedFile[]
  readonly results: readonly ItemResult[]
  readonly remarks: readonly Remark[]
  readonly states: ReadonlyMap<string, import('./read-files.ts').PathState>
  readonly itemOf: (path: string) => number
}

async function resolveBatch(
  world: World,
  batch: Batch,
  base: Base,
  policy: Policy,
  request: ProposeRequest,
): Promise<Resolved> {
  const mode = strictest(policy.mode, request.permissionMode ?? 'full')
  if (mode === 'read-only')
    refuse('read-only', 'this repository may only be read: the mode is read-only', { mode })
  const root = world.repository.workTree ?? world.repository.gitDir
  const translated = translateBatch(batch, { root })
  if (translated.kind === 'refused') refuseBatch(translated.failures)
  const { edits, profiles } = translated
  if (edits.length > policy.limits.batchMaxEdits) {
    refuse('too-large', `the batch has ${edits.length} edits; ${policy.limits.batchMaxEdits} are allowed`, {
      edits: edits.length,
    })
  }
  const uses = pathUses(edits)
  const denied = judgePaths(policy, edits)
  if (denied.length > 0) refuseBatch(denied)
  const fileMaxBytes = Math.min(
    policy.limits.fileMaxBytes,
    ...profiles.map((p) => p.fileMaxBytes ?? limits.fileMaxBytes),
  )
  const read = await readFiles(world, {
    tree: base.tree,
    paths: uses,
    useWorkTree: base.isCheckedOut,
    fileMaxBytes,
    parentsMustExist: profiles.some((p) => p.parentsMustExist === true),
  })
  if (read.kind === 'refused') refuseBatch(read.failures)
  const resolution = resolve({
    edits,
    files: new Map([...read.files].map(([path, state]) => [path, state.current])),
    reads: await readRecords(world, batch),
    options: {
      maxTier: policy.matching.maxTier,
      carry: request.carry ?? policy.freshness.carry,
      fileMaxBytes,
    },
  })
  if (resolution.kind === 'refused') refuseBatch(resolution.failures)
  return { ...resolution, states: read.files, itemOf: (path) => uses.get(path)?.item ?? 0 }
}

/** Every path that an edit names, with the first item that names it. */
function pathUses(edits: readonly Edit[]): ReadonlyMap<string, PathUse> {
  const uses = new Map<string, PathUse>()
  const add = (path: string, item: number, creates: boolean) => {
    const before = uses.get(path)
    uses.set(path, { item: before?.item ?? item, creates: creates || before?.creates === true })
  }
  for (const edit of edits) {
    add(edit.path, edit.item, edit.op === 'write' && edit.mode !== 'overwrite')
    if (edit.op === 'move' || edit.op === 'copy') add(edit.to, edit.item, true)
  }
  return uses
}

/** What the batch says was read, and what its session's journal says. The batch's own word goes first. */
async function readRecords(world: World, batch: Batch): Promise<readonly ReadRecord[]> {
  const session = batch.agent?.session
  const journal = session === undefined ? [] : readsOf(await readJournal(await world.store(), session))
  const named = new Set(batch.reads.map((r) => r.path))
  return withBytes(await world.reader(), [...batch.reads, ...journal.filter((r) => !named.has(r.path))])
}

async function prepareRevision(
  world: World,
  batch: Batch,
  base: Base,
  inForce: PolicyInForce,
  work: Resolved,
  identity: Person,
  request: ProposeRequest,
): Promise<RevisionRequest> {
  const built = await buildRevision(world, {
    resolved: work.files,
    states: work.states,
    includeUncommitted: request.includeUncommitted === true,
    itemOf: work.itemOf,
  })
  if (built.kind === 'refused') refuseBatch(built.failures)
  const { manifest, changes, files } = built
  if (manifest.length === 0) refuse('no-change', 'the batch leaves every file as it is', {})
  const denied = judgeTransitions(inForce.policy, manifest, work.itemOf)
  if (denied.length > 0) refuseBatch(denied)
  const agent = batch.agent
  const edited = new Set(manifest.map((t) => t.path))
  const author =
    inForce.policy.commit.author === 'agent' && agent ? { ...identity, name: agent.name } : identity
  return {
    base: base.commit,
    content: { kind: 'changes', changes, manifest },
    files,
    remarks: work.remarks,
    reads: batch.reads.filter((read) => !edited.has(read.path)),
    author,
    committer: identity,
  }
}

async function stageProposal(
  world: World,
  store: Store,
  batch: Batch,
  batchHash: string,
  base: Base,
  revision: RevisionRequest,
  refs: readonly { readonly ref: string; readonly object: string | null }[],
): Promise<LoggedChange> {
  const facts = {
    title: batch.title,
    body: batch.body ?? '',
    agent: batch.agent ?? null,
    onto: base.onto,
    stackedOn: base.stackedOn,
    key: batch.key ?? null,
    batchHash,
    undoes: [],
    redoes: [],
  }
  return stageNewChange(world, store, facts, revision, (proposal) =>
    refs.map((r) => rememberAs(r.ref, proposal, r.object)),
  )
}

interface Repeated {
  readonly change: LoggedChange | null
  /** Refs to set to the new proposal, with what they hold now. */
  readonly refs: readonly { readonly ref: string; readonly object: string | null }[]
}

/** A key finds its change whatever became of it; equal bytes only find a change that is still pending. */
async function findRepeated(world: World, store: Store, batch: Batch, batchHash: string): Promise<Repeated> {
  const reader = await world.reader()
  const byBytes = bytesRef(batchHash)
  const bytes = await findByRef(store, reader, byBytes)
  if (batch.key !== undefined) {
    const ref = keyRef(batch.agent?.session, batch.key)
    const found = await findByRef(store, reader, ref)
    const change = found === null ? null : await readChange(store, reader, found.id)
    return {
      change,
      refs: [
        { ref, object: null },
        { ref: byBytes, object: bytes?.object ?? null },
      ],
    }
  }
  const same = bytes === null ? null : await readChange(store, reader, bytes.id)
  const change = same !== null && isPending(same.change.state) ? same : null
  return { change, refs: [{ ref: byBytes, object: bytes?.object ?? null }] }
}

async function pendingChange(world: World, store: Store, text: string, base: Base): Promise<LoggedChange> {
  const id = await findChange(store, text)
  const logged = await readChange(store, await world.reader(), id)
  const { state } = logged.change
  if (!isPending(state) && state !== 'rejected' && state !== 'stale') {
    refuse('wrong-state', `${id} is ${state}; only a change that has not landed can be revised`, {
      id,
      state,
    })
  }
  if (logged.change.onto !== base.onto) {
    refuse('wrong-state', `${id} is to land on ${logged.change.onto}, this batch on ${base.onto}`, {
      id,
      onto: logged.change.onto,
    })
  }
  return logged
}

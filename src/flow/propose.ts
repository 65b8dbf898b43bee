import { sha256Hex } from '../git/blob-id.ts'
import { parseBatch } from '../intake/batch.ts'
import type { Batch, DialectName } from '../model/batch.ts'
import { isPending } from '../model/change.ts'
import { GalleyError, refuse } from '../model/error.ts'
import { hintFor } from '../model/error-codes.ts'
import type { ChangeId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import type { PermissionMode } from '../model/policy.ts'
import type { ItemResult } from '../model/resolution.ts'
import { judgeTransitions } from '../policy/judge.ts'
import { messageFault } from '../policy/own-lines.ts'
import { codePointName, firstUnseen } from '../policy/quote.ts'
import { rememberAs } from '../store/batch-keys.ts'
import { findChange, type LoggedChange, readChange } from '../store/change-log.ts'
import { withLandingLock } from '../store/lock.ts'
import type { Store } from '../store/open-store.ts'
import { repackWhenDue } from '../store/repack.ts'
import { buildRevision } from './build-revision.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { checkRevision } from './check.ts'
import { refuseLinksOut } from './judge-links.ts'
import { type PolicyInForce, readPolicyFor } from './read-policy.ts'
import { finishRecorded } from './record-landing.ts'
import { finishInterrupted } from './recover.ts'
import { refuseBatch } from './refuse-batch.ts'
import { askedRevision, findRepeated, hasMovedAway, PROPOSED_AGAIN, type Repeated } from './repeated-batch.ts'
import { type ResolvedBatch, resolveBatch } from './resolve-batch.ts'
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

/** A change, and what of it somebody asked for. */
export interface Asked {
  readonly change: ChangeView
  /** The revision that holds what was asked for; 0 = none does any more. A check or a merge makes further ones, which nobody has seen. */
  readonly asked: number
}

/** Whether a change still is the very thing that its batch, call or undo asked for. */
export const isAsAsked = ({ change, asked }: Asked): boolean => change.revision === asked

export interface Proposed extends Asked {
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
  refuseUnseen(batch)
  await world.identity()
  await finishInterrupted(world)
  const base = await selectBase(world, batch)
  const store = await world.store()
  const batchHash = sha256Hex(request.batch)
  const sameness = sha256Hex(
    JSON.stringify([batchHash, base.onto, request.dialect, request.includeUncommitted, request.carry]),
  )
  const work = { batch, batchHash, base, request }
  if (request.revise !== undefined)
    return stageBatch(world, store, work, (revision) =>
      stageAnswer(world, store, work, revision, { id: request.revise ?? '', reason: 'revised' }),
    )
  const known = await findRepeated(world, store, batch, { batchHash, sameness })
  if (known.change === null)
    return stageBatch(world, store, work, (revision) =>
      stageProposal(world, store, work, revision, known.refs),
    )
  const { change } = known.change
  if (await hasMovedAway(world, change, base)) return proposeAnew(world, store, work, change.id)
  return { change: viewChange(change), asked: askedRevision(change), repeated: true, results: [] }
}

/** One batch on its way, read and with its base. */
interface BatchWork {
  readonly batch: Batch
  readonly batchHash: string
  readonly base: Base
  readonly request: ProposeRequest
}

/**
 * The files of a change that waits have moved since the same batch was proposed: its next revision stands on the branch as it is now.
 * Where the batch does not fit any more, the refusal names the change that waits.
 */
async function proposeAnew(world: World, store: Store, work: BatchWork, id: ChangeId): Promise<Proposed> {
  try {
    return await stageBatch(world, store, work, (revision) =>
      stageAnswer(world, store, work, revision, { id, reason: PROPOSED_AGAIN }),
    )
  } catch (error) {
    if (!(error instanceof GalleyError) || error.data['id'] !== undefined) throw error
    const { code, message, data } = error
    const waits = `The same batch waits as ${id}, on the files as they were: \`galley show ${id}\`.`
    const hint = `${error.hint ?? hintFor(code)} ${waits}`
    throw new GalleyError({ code, message, data: { ...data, id }, hint }, { cause: error })
  }
}

async function stageBatch(
  world: World,
  store: Store,
  { batch, base, request }: BatchWork,
  stage: (revision: RevisionRequest) => Promise<LoggedChange>,
): Promise<Proposed> {
  const identity = await world.identity()
  const inForce = await readPolicyFor(world, base.tree, base.ontoTree)
  const work = await resolveBatch(world, {
    batch,
    base,
    policy: inForce.policy,
    carry: request.carry ?? inForce.policy.freshness.carry,
    permissionMode: request.permissionMode ?? 'full',
  })
  const revision = await prepareRevision(world, batch, base, inForce, work, identity, request)
  const staged = await stage(revision)
  await repackWhenDue(store, world.clock)
  world.log.note('proposed', { change: staged.change.id, files: revision.files.length })
  const checked = request.checks === 'later' ? staged : await checkStaged(world, store, staged, inForce)
  const asked = staged.change.revisions.length
  return { change: viewChange(checked.change), asked, repeated: false, results: work.results }
}

/** Message and agent stand in the commit and in every list: nothing in them may be unseen, reorder what is seen, or pass for galley's own. */
function refuseUnseen({ title, body = '', agent }: Batch): void {
  const message = messageFault({ title, body })
  const texts: readonly (readonly [pointer: string, why: string | null])[] = [
    [`/${message?.part}`, message?.why ?? null],
    ['/agent/name', unseenIn(agent?.name)],
    ['/agent/model', unseenIn(agent?.model)],
  ]
  for (const [pointer, why] of texts)
    if (why !== null) refuse('invalid-batch', `${pointer} ${why}`, { pointer })
}

function unseenIn(text = ''): string | null {
  const unseen = firstUnseen(text)
  return unseen === null ? null : `holds ${codePointName(unseen)}, which cannot be seen`
}

async function prepareRevision(
  world: World,
  batch: Batch,
  base: Base,
  inForce: PolicyInForce,
  work: ResolvedBatch,
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
  const { manifest, changes, files, remarks } = built
  if (manifest.length === 0) refuse('no-change', 'the batch leaves every file as it is', {})
  const denied = judgeTransitions(inForce.policy, manifest, work.itemOf)
  if (denied.length > 0) refuseBatch(denied)
  await refuseLinksOut({ reader: await world.reader(), tree: base.tree, manifest })
  const agent = batch.agent
  const edited = new Set(manifest.map((t) => t.path))
  const author =
    inForce.policy.commit.author === 'agent' && agent ? { ...identity, name: agent.name } : identity
  return {
    base: base.commit,
    content: { kind: 'changes', changes, manifest },
    files,
    remarks: [...work.remarks, ...remarks],
    reads: batch.reads.filter((read) => !edited.has(read.path)),
    author,
    committer: identity,
  }
}

/** Stages the answer to a review as a new revision. Not while the change is landing: then it has landed, and says so. */
function stageAnswer(
  world: World,
  store: Store,
  { batch, base }: BatchWork,
  revision: RevisionRequest,
  answer: { readonly id: string; readonly reason: string },
): Promise<LoggedChange> {
  return withLandingLock(store.galleyDir, world.clock, 'revise', async () => {
    const logged = await pendingChange(world, store, answer.id, base)
    const words = { title: batch.title, body: batch.body ?? '', agent: batch.agent ?? logged.change.agent }
    return stageRevision(world, store, logged, revision, answer.reason, words)
  })
}

/** The change is staged by now: what goes wrong with its scratch tree says which change it is. */
async function checkStaged(
  world: World,
  store: Store,
  staged: LoggedChange,
  inForce: PolicyInForce,
): Promise<LoggedChange> {
  try {
    return await checkRevision(world, store, staged, inForce)
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error
    const { id } = staged.change
    const message = `${id} is staged, but its checks could not run: ${error.message}`
    const hint = `Mend that, then run: galley check ${id}`
    throw new GalleyError({ code: error.code, message, data: { ...error.data, id }, hint }, { cause: error })
  }
}

async function stageProposal(
  world: World,
  store: Store,
  { batch, batchHash, base }: BatchWork,
  revision: RevisionRequest,
  refs: Repeated['refs'],
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

async function pendingChange(world: World, store: Store, text: string, base: Base): Promise<LoggedChange> {
  const id = await findChange(store, text)
  const found = await readChange(store, await world.reader(), id)
  const isLanded = (await finishRecorded(world, store, found)) !== null
  const logged = isLanded ? await readChange(store, await world.reader(), id) : found
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

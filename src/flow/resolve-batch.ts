import { profileFailures } from '../dialects/profile-rules.ts'
import { translateBatch } from '../dialects/registry.ts'
import { resolve } from '../editing/resolve.ts'
import type { Batch } from '../model/batch.ts'
import type { DialectProfile } from '../model/dialect.ts'
import type { Edit } from '../model/edit.ts'
import { refuse } from '../model/error.ts'
import type { FileState, ReadRecord } from '../model/file-state.ts'
import { idLength } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { PermissionMode, Policy } from '../model/policy.ts'
import type { ItemResult, Remark, ResolvedFile } from '../model/resolution.ts'
import { judgePaths, strictest } from '../policy/judge.ts'
import { readJournal, readsOf, withBytes } from '../store/sessions.ts'
import { type PathState, type PathUse, readFiles } from './read-files.ts'
import { refuseBatch } from './refuse-batch.ts'
import type { Base } from './select-base.ts'
import type { World } from './world.ts'

export interface ResolveBatchRequest {
  readonly batch: Batch
  readonly base: Base
  readonly policy: Policy
  readonly carry: boolean
  readonly permissionMode: PermissionMode
}

/** A batch as the engine resolved it against the files as they are. */
export interface ResolvedBatch {
  readonly files: readonly ResolvedFile[]
  readonly results: readonly ItemResult[]
  readonly remarks: readonly Remark[]
  readonly states: ReadonlyMap<string, PathState>
  /** The first item that names a path. */
  readonly itemOf: (path: string) => number
}

/**
 * Translates a batch, reads every file that it names, and lets the engine resolve it. Writes nothing.
 *
 * @throws GalleyError with the code of the first failing edit; `data.failures` lists them all.
 */
export async function resolveBatch(world: World, request: ResolveBatchRequest): Promise<ResolvedBatch> {
  const { batch, base, policy } = request
  const mode = strictest(policy.mode, request.permissionMode)
  if (mode === 'read-only')
    refuse('read-only', 'this repository may only be read: the mode is read-only', { mode })
  const root = world.repository.workTree ?? world.repository.gitDir
  const translated = translateBatch(batch, { root })
  if (translated.kind === 'refused') refuseBatch(translated.failures)
  const { edits, profiles } = translated
  refuseForeignIds(world, batch, edits)
  refuseTooMany(edits, policy)
  const denied = judgePaths(policy, edits)
  if (denied.length > 0) refuseBatch(denied)

  const uses = pathUses(edits, profiles)
  const { fileMaxBytes } = policy.limits
  const leaving = new Set(edits.flatMap((e) => (e.op === 'move' || e.op === 'delete' ? [e.path] : [])))
  const read = await readFiles(world, {
    tree: base.tree,
    paths: uses,
    useWorkTree: base.isCheckedOut,
    fileMaxBytes,
    leaving,
  })
  if (read.kind === 'refused') refuseBatch(read.failures)
  const files = new Map([...read.files].map(([path, state]) => [path, state.current]))
  const reads = await readRecords(world, batch)
  const limited = profileFailures({ edits, profiles, files, reads })
  if (limited.length > 0) refuseBatch(limited)

  const options = { maxTier: policy.matching.maxTier, carry: request.carry, fileMaxBytes }
  const named = await namedBlobs(world, edits, files)
  const resolution = resolve({ edits, files, reads, named, options })
  if (resolution.kind === 'refused') refuseBatch(resolution.failures)
  if (resolution.files.length > policy.limits.batchMaxFiles) {
    const count = resolution.files.length
    refuse('too-large', `the batch changes ${count} files; ${policy.limits.batchMaxFiles} are allowed`, {
      files: count,
    })
  }
  return { ...resolution, states: read.files, itemOf: (path) => uses.get(path)?.item ?? 0 }
}

/** A blob id of another object format can be nobody's reading of a file here. */
function refuseForeignIds(world: World, batch: Batch, edits: readonly Edit[]): void {
  const digits = idLength(world.repository.objectFormat)
  const named = [...batch.reads, ...edits].find(
    (each) => typeof each.blob === 'string' && each.blob.length !== digits,
  )
  if (named === undefined) return
  refuse(
    'invalid-batch',
    `the blob id given for ${named.path} has ${String(named.blob).length} digits; ids have ${digits} here`,
    { path: named.path },
  )
}

function refuseTooMany(edits: readonly Edit[], policy: Policy): void {
  const most = Math.min(policy.limits.batchMaxEdits, limits.batchMaxEdits)
  if (edits.length <= most) return
  refuse('too-large', `the batch has ${edits.length} edits; ${most} are allowed`, { edits: edits.length })
}

/** Every path that an edit names, with the first item that names it. */
function pathUses(edits: readonly Edit[], profiles: readonly DialectProfile[]): ReadonlyMap<string, PathUse> {
  const uses = new Map<string, PathUse>()
  const add = (path: string, item: number, makes: boolean, creates: boolean) => {
    const before = uses.get(path)
    uses.set(path, {
      item: before?.item ?? item,
      makes: makes || before?.makes === true,
      creates: creates || before?.creates === true,
      parentsMustExist: profiles[item]?.parentsMustExist === true || before?.parentsMustExist === true,
    })
  }
  for (const edit of edits) {
    add(edit.path, edit.item, edit.op === 'write', edit.op === 'write' && edit.mode === 'create')
    if (edit.op === 'move' || edit.op === 'copy') add(edit.to, edit.item, true, true)
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

/** Blobs that edits name and that are not what the file is now, with their bytes where the repository has them. */
async function namedBlobs(
  world: World,
  edits: readonly Edit[],
  files: ReadonlyMap<string, FileState>,
): Promise<readonly ReadRecord[]> {
  const named = new Map<string, ReadRecord>()
  for (const { path, blob } of edits) {
    const now = files.get(path)
    if (typeof blob !== 'string' || (now?.kind === 'file' && now.blob === blob)) continue
    named.set(`${path}\0${blob}`, { path, blob })
  }
  return named.size === 0 ? [] : withBytes(await world.reader(), [...named.values()])
}

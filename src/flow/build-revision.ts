import { countLines } from '../editing/diff-lines.ts'
import { blobIdOf } from '../git/blob-id.ts'
import { cleanBytes } from '../git/convert.ts'
import type { FileChange } from '../git/fast-import.ts'
import type { RevisionFile } from '../model/change.ts'
import { zeroId } from '../model/ids.ts'
import { type FileMode, type Manifest, manifestOf, type Transition } from '../model/manifest.ts'
import type { Failure, Remark, ResolvedFile } from '../model/resolution.ts'
import {
  type BuildRequest,
  baseBytes,
  carryToBase,
  copiedRemarks,
  failureOf,
  modeOf,
  overlap,
} from './carry-to-base.ts'
import type { PathState } from './read-files.ts'
import { takenWork } from './taken-work.ts'
import { encodeText } from './text-encoding.ts'
import type { World } from './world.ts'

/** Resolved files as a revision can hold them: transitions from the base commit, and the bytes to write. */
export type BuiltRevision =
  | {
      readonly kind: 'built'
      readonly manifest: Manifest
      readonly changes: readonly FileChange[]
      readonly files: readonly RevisionFile[]
      /** What the change takes along of uncommitted work. */
      readonly remarks: readonly Remark[]
    }
  | { readonly kind: 'refused'; readonly failures: readonly Failure[] }

interface Built {
  readonly transition: Transition
  readonly change: FileChange
  readonly file: RevisionFile
  readonly remarks: readonly Remark[]
}

/**
 * Turns what the engine made of the working files into transitions of the base commit.
 *
 * Where a working file holds uncommitted work, the edit is carried to the base by three-way merge; where the two touch,
 * the batch is refused with `overlaps-uncommitted`.
 */
export async function buildRevision(world: World, request: BuildRequest): Promise<BuiltRevision> {
  const failures: Failure[] = []
  const built: Built[] = []
  const origins = new Set(request.resolved.flatMap((r) => r.renamedFrom ?? []))
  for (const resolved of request.resolved) {
    const state = request.states.get(resolved.path)
    const one = state === undefined ? null : await buildFile(world, request, resolved, state, origins)
    if (one === null) continue
    if ('code' in one) failures.push(one)
    else built.push(one)
  }
  const clashes = findClashes(built, request)
  if (failures.length + clashes.length > 0) return { kind: 'refused', failures: [...failures, ...clashes] }
  return {
    kind: 'built',
    manifest: manifestOf(built.map((b) => b.transition)),
    changes: built.map((b) => b.change),
    files: built.map((b) => b.file),
    remarks: built.flatMap((b) => b.remarks),
  }
}

async function buildFile(
  world: World,
  request: BuildRequest,
  resolved: ResolvedFile,
  state: PathState,
  origins: ReadonlySet<string>,
): Promise<Built | Failure | null> {
  const zero = zeroId(world.repository.objectFormat)
  const { path } = resolved
  const origin = resolved.renamedFrom === undefined ? undefined : request.states.get(resolved.renamedFrom)
  const old = state.base ?? { mode: '000000' as FileMode, blob: zero }
  const before = state.base === null ? null : await baseBytes(world, state)
  const isTaken = state.uncommitted && request.includeUncommitted
  const item = request.itemOf(path)
  if (resolved.after.kind === 'absent') {
    if (state.uncommitted && !request.includeUncommitted) return overlap(request, path, 'it would be deleted')
    if (state.base === null) return null
    const along = isTaken
      ? await takenWork(world, state, item, { base: before, next: movedTo(request, path) })
      : null
    const transition: Transition = {
      path,
      oldMode: old.mode,
      oldBlob: old.blob,
      newMode: '000000',
      newBlob: zero,
    }
    // What a rename takes along is counted where it goes.
    return {
      transition,
      change: { kind: 'delete', path },
      file: { ...fileFacts(resolved, origins.has(path) ? null : before, null), ...along?.file },
      remarks: along === null ? [] : [along.remark],
    }
  }
  const source = resolved.madeFrom === undefined ? undefined : request.states.get(resolved.madeFrom.path)
  const carried = await carryToBase(world, request, resolved, { state, source })
  if ('code' in carried) return carried
  const mode = modeOf(resolved, { state, source }, request.includeUncommitted)
  // A file that is moved keeps its bytes, whatever the attributes of its new name say of viewers.
  const moved = source?.encoding?.inTree === 'same' ? source.encoding : null
  const form = { ...state, encoding: state.encoding ?? moved }
  const { blob, change, treeBytes, standing } = await writeForm(world, form, path, mode, carried.bytes)
  if (blob === old.blob && mode === old.mode) return null
  const transition: Transition = { path, oldMode: old.mode, oldBlob: old.blob, newMode: mode, newBlob: blob }
  const along = isTaken ? await takenWork(world, state, item, { base: before, next: carried.bytes }) : null
  const copied = await copiedRemarks(world, request, resolved, source)
  const isConverted = state.conversion?.kind === 'converted' || state.encoding !== null
  const keepsForm = (isConverted || isTaken) && resolved.before.kind === 'file'
  const working = keepsForm ? await workingIds(world, resolved, state, standing) : undefined
  const counted = origin === undefined ? before : await baseBytes(world, origin)
  const facts = { ...fileFacts(resolved, counted, treeBytes), ...along?.file }
  const file = working === undefined ? facts : { ...facts, working }
  return { transition, change, file, remarks: [...(along === null ? [] : [along.remark]), ...copied] }
}

/** Where a file that goes is moved to: its lines go on there. */
function movedTo(request: BuildRequest, path: string): Uint8Array | null {
  const after = request.resolved.find((one) => one.renamedFrom === path)?.after
  return after?.kind === 'file' ? after.bytes : null
}

const fileFacts = (
  resolved: ResolvedFile,
  before: Uint8Array | null,
  after: Uint8Array | null,
): RevisionFile => {
  const counted = countLines(before, after)
  return {
    path: resolved.path,
    tier: resolved.tier,
    added: counted?.added ?? null,
    removed: counted?.removed ?? null,
    ...(resolved.renamedFrom === undefined ? {} : { renamedFrom: resolved.renamedFrom }),
  }
}

async function writeForm(
  world: World,
  state: PathState,
  path: string,
  mode: FileMode,
  bytes: Uint8Array,
): Promise<WrittenForm> {
  const fileMode = mode === '100755' ? '100755' : '100644'
  const standing = state.encoding === null ? bytes : await encodeText(world, path, state.encoding, bytes)
  if (state.conversion?.kind !== 'converted') {
    const blob = await blobIdOf(standing, world.repository.objectFormat)
    const change: FileChange = { kind: 'bytes', path, mode: fileMode, bytes: standing }
    return { blob, change, treeBytes: standing, standing }
  }
  const hints = { conversion: state.conversion, base: state.base?.blob ?? null }
  const blob = await cleanBytes(world.repository, (await world.store()).door, path, standing, hints)
  const treeBytes = (await (await world.reader()).contents(blob))?.bytes ?? standing
  return { blob, change: { kind: 'blob', path, mode: fileMode, blob }, treeBytes, standing }
}

interface WrittenForm {
  readonly blob: string
  readonly change: FileChange
  readonly treeBytes: Uint8Array
  /** As the work tree is to hold it. */
  readonly standing: Uint8Array
}

/** The ids of what the work tree holds before and after, kept in the store, so that landing writes those very bytes. */
async function workingIds(world: World, resolved: ResolvedFile, state: PathState, after: Uint8Array) {
  const { keepBytes } = await import('../store/keep-objects.ts')
  const kept = await keepBytes(await world.store(), after)
  return {
    old: state.current.kind === 'file' && resolved.before.kind === 'file' ? state.current.blob : null,
    new: kept as string,
  }
}

const isBlocked = (request: BuildRequest, path: string, by: string): Failure => ({
  ...failureOf('exists', request, path, `${path} cannot be made: ${by} is a file`),
  hint: `Use another path, or delete or move ${by} in the same batch.`,
})

/** A path cannot be a file and a directory at once, in the result as a whole. */
function findClashes(built: readonly Built[], request: BuildRequest): readonly Failure[] {
  const files = new Set(built.filter((b) => b.change.kind !== 'delete').map((b) => b.file.path))
  const deleted = new Set(built.filter((b) => b.change.kind === 'delete').map((b) => b.file.path))
  const failures: Failure[] = []
  for (const path of files) {
    const state = request.states.get(path)
    const blocked = state?.blockedBy ?? null
    if (blocked !== null && !deleted.has(blocked)) failures.push(isBlocked(request, path, blocked))
    const staying = state?.beneath.find((file) => !deleted.has(file))
    if (staying !== undefined)
      failures.push(
        failureOf('is-directory', request, path, `${path} cannot be made: ${staying} stays in it`),
      )
    for (let end = path.lastIndexOf('/'); end !== -1; end = path.lastIndexOf('/', end - 1)) {
      const parent = path.slice(0, end)
      if (files.has(parent)) failures.push(isBlocked(request, path, parent))
    }
  }
  return failures
}

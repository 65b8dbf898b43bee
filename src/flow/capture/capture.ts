import { countLines } from '../../editing/diff-lines.ts'
import { blobIdOf, sha256Hex } from '../../git/blob-id.ts'
import type { FileChange } from '../../git/fast-import.ts'
import type { Agent } from '../../model/batch.ts'
import { isPending, type RevisionFile } from '../../model/change.ts'
import { invariant, refuse } from '../../model/error.ts'
import { zeroId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { type Manifest, manifestOf, type Transition } from '../../model/manifest.ts'
import { judgeTransitions } from '../../policy/judge.ts'
import { quote } from '../../policy/quote.ts'
import type { DiffFile } from '../../review/diff-file.ts'
import type { NumberedHunk } from '../../review/unified-diff.ts'
import { bytesRef, findByRef, rememberAs } from '../../store/batch-keys.ts'
import { readChange } from '../../store/change-log.ts'
import type { Store } from '../../store/open-store.ts'
import { type ChangeView, viewChange } from '../change-view.ts'
import { checkRevision } from '../check.ts'
import { linksOut } from '../judge-links.ts'
import { type PolicyInForce, readPolicy } from '../read-policy.ts'
import { finishInterrupted } from '../recover.ts'
import { refuseBatch } from '../refuse-batch.ts'
import { refuseMessage } from '../refuse-message.ts'
import { type Base, selectBase } from '../select-base.ts'
import { digestOf, stageNewChange } from '../stage.ts'
import type { World } from '../world.ts'
import { type CapturedFile, keepAsItIs, readCaptured } from './capture-files.ts'
import { type ChosenFile, chooseHunks, diffOf, hunksOf } from './capture-hunks.ts'
import { type CapturePaths, findCapturePaths } from './capture-paths.ts'

export interface CaptureRequest {
  /** Repository paths of files and directories; `''` is the root. None = every tracked file that changed. */
  readonly paths?: readonly string[]
  /** Captures what the index holds against HEAD, not the working files. */
  readonly staged?: boolean
  /** Numbers of hunks, as `listCapture` gives them for the same paths. */
  readonly hunks?: readonly number[]
  readonly title?: string
  readonly body?: string
  readonly agent?: Agent
}

/** What a capture would take. */
export interface CaptureListing {
  readonly files: readonly DiffFile[]
  readonly hunks: readonly NumberedHunk[]
  readonly leftOut: readonly string[]
}

export interface Captured {
  readonly change: ChangeView
  /** The same work was captured before, and still waits. */
  readonly repeated: boolean
  /** What was found beside it and cannot be taken, each as a sentence. */
  readonly leftOut: readonly string[]
}

/**
 * Takes uncommitted work into a change. Work tree, index and refs are left exactly as they are; landing finds the bytes there already.
 *
 * @throws GalleyError `no-change`, or with the code of a path that cannot be captured; nothing is staged then.
 */
export async function capture(world: World, request: CaptureRequest): Promise<Captured> {
  refuseMessage(request)
  const found = await findWork(world, request)
  const { leftOut } = found
  const chosen =
    request.hunks === undefined
      ? found.files.map((file): ChosenFile => ({ file, after: file.after, isPart: false }))
      : chooseHunks(found.files, request.hunks)
  const store = await world.store()
  const built = await buildCapture(world, chosen)
  if (built.manifest.length === 0) refuse('no-change', 'nothing is left to capture', {})
  judge(found.inForce, built.manifest)
  const title = (request.title ?? defaultTitle(built.manifest)).slice(0, limits.titleMaxCharacters)
  const facts = { title, body: request.body ?? '', agent: request.agent ?? null }
  const batchHash = sha256Hex(
    JSON.stringify(['capture', found.base.onto, found.base.commit, digestOf(built.manifest), facts]),
  )
  const known = await findPending(world, store, batchHash)
  if (known.change !== null) return { change: viewChange(known.change), repeated: true, leftOut }
  const identity = await world.identity()
  const byAgent = found.inForce.policy.commit.author === 'agent' && request.agent !== undefined
  const staged = await stageNewChange(
    world,
    store,
    {
      ...facts,
      onto: found.base.onto,
      stackedOn: null,
      key: null,
      batchHash,
      undoes: [],
      redoes: [],
      captured: true,
    },
    {
      base: found.base.commit,
      content: { kind: 'changes', changes: built.changes, manifest: built.manifest },
      files: built.files,
      remarks: [],
      reads: [],
      author: byAgent ? { ...identity, name: request.agent.name } : identity,
      committer: identity,
    },
    (proposal) => [rememberAs(bytesRef(batchHash), proposal, known.object)],
  )
  world.log.note('captured', { change: staged.change.id, files: built.files.length })
  const checked = await checkRevision(world, store, staged, found.inForce)
  return { change: viewChange(checked.change), repeated: false, leftOut }
}

/** Lists what `capture` would take, hunk by hunk with their numbers. Stages nothing. */
export async function listCapture(
  world: World,
  request: Pick<CaptureRequest, 'paths' | 'staged'>,
): Promise<CaptureListing> {
  const { files, leftOut } = await findWork(world, request)
  return { files: diffOf(files), hunks: hunksOf(files), leftOut }
}

interface Work {
  readonly base: Base
  readonly inForce: PolicyInForce
  readonly files: readonly CapturedFile[]
  readonly leftOut: readonly string[]
}

async function findWork(world: World, request: Pick<CaptureRequest, 'paths' | 'staged'>): Promise<Work> {
  if (world.repository.workTree === null)
    refuse('unsupported-repository', 'a bare repository has no uncommitted work to capture', {})
  await finishInterrupted(world)
  const base = await selectBase(world, {})
  const inForce = await readPolicy(world, base.tree)
  const { mode } = inForce.policy
  if (mode === 'read-only')
    refuse('read-only', 'this repository may only be read: the mode is read-only', { mode })
  const staged = request.staged === true
  const paths = await findCapturePaths(world, { tree: base.tree, paths: request.paths ?? [], staged })
  const most = inForce.policy.limits.batchMaxFiles
  const count = paths.wanted.length
  if (count > most) refuse('too-large', `${count} files changed; ${most} are allowed`, { files: count })
  const { fileMaxBytes } = inForce.policy.limits
  const read = await readCaptured(world, paths.wanted, { staged, fileMaxBytes })
  const { files, leftOut } = await withoutLinksOut(world, base, paths, read)
  if (files.length === 0) refuse('no-change', 'nothing to capture: every file holds what HEAD holds', {})
  return { base, inForce, files: [...files].sort(byPath), leftOut }
}

/** A new link out of the repository is left out where it was only found; where it was named, or tracked before, it is refused. */
async function withoutLinksOut(
  world: World,
  base: Base,
  paths: CapturePaths,
  files: readonly CapturedFile[],
) {
  const zero = zeroId(world.repository.objectFormat)
  const manifest = manifestOf(files.map((file) => transitionOf(file, zero)))
  const out = await linksOut({ reader: await world.reader(), tree: base.tree, manifest })
  const found = new Set(paths.wanted.filter((one) => one.isFound).map((one) => one.path))
  const refused = out.filter(({ path }) => !found.has(path))
  if (refused.length > 0) refuseBatch(refused.map((one) => ({ ...one, item: 0 })))
  const left = new Map(out.map(({ path, message }) => [path, `${quote(path)} was left out: ${message}`]))
  return { files: files.filter(({ path }) => !left.has(path)), leftOut: [...paths.leftOut, ...left.values()] }
}

const transitionOf = ({ path, before, after }: CapturedFile, zero: string): Transition => ({
  path,
  oldMode: before?.mode ?? '000000',
  oldBlob: before?.blob ?? zero,
  newMode: after?.mode ?? '000000',
  newBlob: after?.blob ?? zero,
})

const byPath = (a: CapturedFile, b: CapturedFile): number =>
  Buffer.compare(Buffer.from(a.path, 'utf8'), Buffer.from(b.path, 'utf8'))

interface BuiltCapture {
  readonly manifest: Manifest
  readonly changes: readonly FileChange[]
  readonly files: readonly RevisionFile[]
}

async function buildCapture(world: World, chosen: readonly ChosenFile[]): Promise<BuiltCapture> {
  const format = world.repository.objectFormat
  const zero = zeroId(format)
  const origins = findExactRenames(chosen)
  const moved = new Map([...origins.values()].map((file) => [file.path, file]))
  const built = await Promise.all(
    chosen.map(async ({ file, after, isPart }) => {
      const { path, before } = file
      const newBlob = after === null ? zero : isPart ? await blobIdOf(after.bytes, format) : file.after?.blob
      const transition: Transition = {
        ...transitionOf(file, zero),
        newMode: after?.mode ?? '000000',
        newBlob: newBlob ?? zero,
      }
      const origin = origins.get(path)
      // What a rename takes along is counted where it goes.
      const source = moved.has(path) ? null : (origin?.before ?? before)
      const counted = countLines(source?.bytes ?? null, after?.bytes ?? null)
      const working =
        isPart && file.standing !== null
          ? { ...file.working, ...(await keepAsItIs(world, file.standing)) }
          : file.working
      const facts: RevisionFile = {
        path,
        tier: 'exact',
        added: counted?.added ?? null,
        removed: counted?.removed ?? null,
        ...(origin === undefined ? {} : { renamedFrom: origin.path }),
        ...(working === null ? {} : { working }),
      }
      return { transition, change: changeOf({ file, after, isPart }), facts }
    }),
  )
  const kept = built.filter(({ transition: t }) => t.oldBlob !== t.newBlob || t.oldMode !== t.newMode)
  return {
    manifest: manifestOf(kept.map((b) => b.transition)),
    changes: kept.map((b) => b.change),
    files: kept.map((b) => b.facts),
  }
}

function changeOf({ file, after, isPart }: ChosenFile): FileChange {
  const { path } = file
  if (after === null) return { kind: 'delete', path }
  const { mode, bytes } = after
  if (!isPart && file.after?.isStored === true) return { kind: 'blob', path, mode, blob: file.after.blob }
  invariant(mode !== '160000', 'a submodule is taken whole, as the commit that it stands on')
  return { kind: 'bytes', path, mode, bytes }
}

/** New files that hold exactly what a deleted one held: new path to old file. */
function findExactRenames(chosen: readonly ChosenFile[]): ReadonlyMap<string, CapturedFile> {
  const deleted = new Map<string, CapturedFile>()
  for (const { file, after } of chosen) {
    if (after === null && file.before !== null && file.before.bytes.length > 0)
      deleted.set(file.before.blob, file)
  }
  const renames = new Map<string, CapturedFile>()
  for (const { file, isPart } of chosen) {
    if (file.before !== null || file.after === null || isPart) continue
    const origin = deleted.get(file.after.blob)
    if (origin?.before?.mode.slice(0, 3) !== file.after.mode.slice(0, 3)) continue
    renames.set(file.path, origin)
    deleted.delete(file.after.blob)
  }
  return renames
}

function judge(inForce: PolicyInForce, manifest: Manifest): void {
  const denied = judgeTransitions(inForce.policy, manifest, () => 0)
  if (denied.length > 0) refuseBatch(denied)
}

function defaultTitle(manifest: Manifest): string {
  const [first] = manifest
  return manifest.length === 1 && first !== undefined
    ? `Capture ${first.path}`
    : `Capture ${manifest.length} files`
}

async function findPending(world: World, store: Store, batchHash: string) {
  const reader = await world.reader()
  const known = await findByRef(store, reader, bytesRef(batchHash))
  const logged = known === null ? null : await readChange(store, reader, known.id)
  const isWaiting = logged !== null && isPending(logged.change.state)
  return { change: isWaiting ? logged.change : null, object: known?.object ?? null }
}

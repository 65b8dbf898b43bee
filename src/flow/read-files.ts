import { type PathConversion, pathConversions } from '../git/attributes.ts'
import { blobIdOf } from '../git/blob-id.ts'
import { isTrue } from '../git/config.ts'
import { cleanBytes } from '../git/convert.ts'
import { allowHint } from '../git/filter-driver.ts'
import { lookUpPath, type ObjectReader, type TreeLookup } from '../git/objects.ts'
import { refuse } from '../model/error.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import { absent, type FileState, type RegularFile } from '../model/file-state.ts'
import { type BlobId, blobId, type TreeId, treeId } from '../model/ids.ts'
import type { FileMode } from '../model/manifest.ts'
import type { Failure } from '../model/resolution.ts'
import { findCollision } from '../policy/fold.ts'
import { checkPath } from '../policy/paths.ts'
import { holdsOnly } from '../sys/holds-only.ts'
import { readWorkTreeFile, type WorkTreeFile } from '../sys/work-tree-file.ts'
import { decodeFile, encodingOfNew, type TextEncoding } from './text-encoding.ts'
import type { World } from './world.ts'

/** One path of a batch as the world has it: in the base tree and in the work tree. */
export interface PathState {
  readonly path: string
  /** What the engine edits: the working file's bytes, or the base blob's where there is no work tree to ask. */
  readonly current: FileState
  /** What the base commit holds. */
  readonly base: { readonly mode: FileMode; readonly blob: BlobId } | null
  /** The working file is not what a checkout of the base commit would put there. */
  readonly uncommitted: boolean
  readonly conversion: PathConversion | null
  /** Set where the edits are made in the file's text: `current.bytes` are its UTF-8 then, and `current.blob` names the bytes that stand there. */
  readonly encoding: TextEncoding | null
  /** A parent of the path that is a file in the base commit: the batch must delete it to make room. */
  readonly blockedBy: string | null
  /** Files of the base commit below the path: the batch must delete them all, since a directory makes room for a file. */
  readonly beneath: readonly string[]
}

export interface ReadFilesRequest {
  readonly tree: TreeId | null
  readonly paths: ReadonlyMap<string, PathUse>
  /** Whether the work tree stands on this base; otherwise the base's own blobs are edited. */
  readonly useWorkTree: boolean
  readonly fileMaxBytes: number
  /** Paths that the batch deletes or moves away: they collide with nothing. */
  readonly leaving: ReadonlySet<string>
}

export interface PathUse {
  readonly item: number
  /** The path is written as a whole: it may take the place of a directory that the batch empties, or of one that holds no file. */
  readonly makes: boolean
  /** The path may be made by the batch: `untracked` and collisions are then of interest. */
  readonly creates: boolean
  /** The system that asks makes no directories. */
  readonly parentsMustExist: boolean
}

export type ReadFiles =
  | { readonly kind: 'read'; readonly files: ReadonlyMap<string, PathState> }
  | { readonly kind: 'refused'; readonly failures: readonly Failure[] }

/**
 * Reads every path that a batch names: base entry, working file, conversion. Nothing is written, no index is read.
 */
export async function readFiles(world: World, request: ReadFilesRequest): Promise<ReadFiles> {
  const failures: Failure[] = []
  const files = new Map<string, PathState>()
  const reader = await world.reader()
  const conversions = await pathConversions(world.repository, [...request.paths.keys()])
  for (const [path, use] of request.paths) {
    const found = await readPath(world, reader, request, path, use, conversions.get(path) ?? null)
    if ('code' in found) failures.push(found)
    else files.set(path, found)
  }
  return failures.length > 0 ? { kind: 'refused', failures } : { kind: 'read', files }
}

async function readPath(
  world: World,
  reader: ObjectReader,
  request: ReadFilesRequest,
  path: string,
  use: PathUse,
  conversion: PathConversion | null,
): Promise<PathState | Failure> {
  const fail = failureAt(path, use.item)
  const lookup = await lookUpPath(reader, request.tree, path)
  // A file that the commit has is edited, whatever its name; galley makes none that other systems cannot hold.
  const unportable = lookup.kind === 'file' ? null : checkPath(path)
  if (unportable !== null) return { ...unportable, item: use.item, path }
  const beneath = use.makes ? await filesBeneath(reader, lookup, path, request.leaving) : null
  const inTree = judgeLookup(lookup, path, request.leaving, beneath !== null, fail)
  if (inTree !== null) return inTree
  const about = { path, blockedBy: lookup.kind === 'blocked' ? lookup.by : null, beneath: beneath ?? [] }
  const base = lookup.kind === 'file' ? { mode: lookup.entry.mode, blob: blobId(lookup.entry.id) } : null
  const root = world.repository.workTree
  const fromBase = async (): Promise<PathState | Failure> => {
    // What the tree holds of it is the filter's own form, in which nobody edits.
    if (conversion?.kind === 'converted' && conversion.filter !== null)
      return fail(
        'filtered',
        `${path} is behind a filter, and is edited only where it stands in the work tree`,
        {},
      )
    const current = await baseState(reader, base, request.fileMaxBytes)
    if (current === 'too-large')
      return fail('too-large', `${path} is larger than ${request.fileMaxBytes} bytes`, {})
    return { ...about, current, base, uncommitted: false, conversion: null, encoding: null }
  }
  if (conversion?.kind === 'filtered') {
    // Only the filter's program knows which blob this is, and the user does not let galley run it.
    const code = conversion.driver === 'lfs' ? 'lfs-pointer' : 'filtered'
    const { driver } = conversion
    const failure = fail(code, `${path} passes through the filter "${driver}"`, { driver })
    return { ...failure, hint: allowHint(driver) }
  }
  if (!request.useWorkTree || root === null) return fromBase()
  const file = await readWorkTreeFile(root, path, request.fileMaxBytes)
  const makesRoom = use.makes && file.kind === 'directory' && holdsOnly(root, path, new Set(about.beneath))
  const unusable = makesRoom ? null : judgeWorkingFile(file, path, fail)
  if (unusable !== null) return unusable
  if (use.parentsMustExist && file.kind === 'absent' && file.missingFrom < path.split('/').length - 1) {
    return fail('parent-missing', `the directory of ${path} does not exist`, {})
  }
  if (file.kind !== 'file') {
    if (base !== null && isTrue((await world.config()).get('core.sparsecheckout'))) return fromBase()
    const encoding = encodingOfNew(conversion)
    return { ...about, current: absent, base, uncommitted: base !== null, conversion, encoding }
  }
  if (base === null) {
    if (use.creates)
      return fail('exists', `${path} exists in the work tree, though the base commit does not have it`, {
        untracked: true,
      })
    return fail('untracked', `${path} is in the work tree but not in the base commit`, {})
  }
  return compareWithBase(world, path, file, base, conversion)
}

/** Whether the working file is the base blob, judged by bytes: raw first, then through the conversion that git would apply. */
async function compareWithBase(
  world: World,
  path: string,
  file: Extract<WorkTreeFile, { kind: 'file' }>,
  base: { readonly mode: FileMode; readonly blob: BlobId },
  conversion: PathConversion | null,
): Promise<PathState> {
  const raw = await blobIdOf(file.bytes, world.repository.objectFormat)
  const trustsModes = (await world.config()).get('core.filemode') !== 'false'
  const executable = trustsModes ? file.executable : base.mode === '100755'
  const decoded = await decodeFile(world, path, file.bytes, conversion)
  const bytes = decoded?.text ?? file.bytes
  const current: RegularFile = { kind: 'file', bytes, executable, blob: raw }
  const sameMode = executable === (base.mode === '100755')
  const sameBytes =
    raw === base.blob ||
    (conversion?.kind === 'converted' &&
      (await cleanBytes(world.repository, (await world.store()).door, path, file.bytes, {
        conversion,
        base: base.blob,
      })) === base.blob)
  const uncommitted = !(sameBytes && sameMode)
  const encoding = decoded?.encoding ?? null
  return { path, current, base, uncommitted, conversion, encoding, blockedBy: null, beneath: [] }
}

/** Files below a directory of the tree, if the batch takes all of them away; null = it does not, or no directory is there. */
async function filesBeneath(
  reader: ObjectReader,
  lookup: TreeLookup,
  path: string,
  leaving: ReadonlySet<string>,
): Promise<readonly string[] | null> {
  if (lookup.kind !== 'directory' || lookup.tree === null) return null
  const files: string[] = []
  const waiting = [{ path, tree: lookup.tree }]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const { name, mode, id } of await reader.tree(at.tree)) {
      const child = `${at.path}/${name}`
      if (mode === '040000') waiting.push({ path: child, tree: treeId(id) })
      else if (leaving.has(child)) files.push(child)
      else return null
    }
  }
  return files
}

async function baseState(
  reader: ObjectReader,
  base: { readonly mode: FileMode; readonly blob: BlobId } | null,
  maxBytes: number,
): Promise<FileState | 'too-large'> {
  if (base === null) return absent
  const info = await reader.info(base.blob)
  if (info !== null && info.size > maxBytes) return 'too-large'
  const found = await reader.contents(base.blob)
  if (found === null) {
    refuse(
      'stale',
      `the blob ${base.blob} is not in this clone`,
      { blob: base.blob },
      `In a partial clone, \`git cat-file -p ${base.blob}\` fetches it.`,
    )
  }
  return { kind: 'file', bytes: found.bytes, executable: base.mode === '100755', blob: base.blob }
}

type Fail = (code: ErrorCode, message: string, data: Record<string, unknown>) => Failure

const failureAt =
  (path: string, item: number): Fail =>
  (code, message, data) => ({ code, message, data: { path, ...data }, item, path })

function judgeLookup(
  lookup: TreeLookup,
  path: string,
  leaving: ReadonlySet<string>,
  isEmptied: boolean,
  fail: Fail,
): Failure | null {
  if (lookup.kind === 'directory')
    return isEmptied ? null : fail('is-directory', `${path} is a directory`, {})
  if (lookup.kind === 'blocked') {
    if (lookup.mode === '160000')
      return fail('submodule', `${path} lies in the submodule ${lookup.by}`, { submodule: lookup.by })
    if (lookup.mode === '120000')
      return fail('symlink', `${path} goes through the symbolic link ${lookup.by}`, { link: lookup.by })
    return null
  }
  if (lookup.kind === 'file') {
    if (lookup.entry.mode === '160000') return fail('submodule', `${path} is a submodule`, {})
    if (lookup.entry.mode === '120000') return fail('symlink', `${path} is a symbolic link`, { link: path })
    return null
  }
  const parts = path.split('/')
  const missing = parts[lookup.missingFrom] ?? ''
  const directory = parts.slice(0, lookup.missingFrom).join('/')
  const pathOf = (name: string) => (directory === '' ? name : `${directory}/${name}`)
  const staying = lookup.siblings.map((s) => s.name).filter((name) => !leaving.has(pathOf(name)))
  const twin = findCollision(missing, staying)
  if (twin !== null) {
    const other = [...parts.slice(0, lookup.missingFrom), twin].join('/')
    return fail('case-collision', `${path} differs from ${other} only in letter case or Unicode form`, {
      other,
    })
  }
  return null
}

function judgeWorkingFile(file: WorkTreeFile, path: string, fail: Fail): Failure | null {
  switch (file.kind) {
    case 'symlink':
      return fail(
        'symlink',
        file.at === path ? `${path} is a symbolic link` : `${path} goes through the symbolic link ${file.at}`,
        { link: file.at },
      )
    case 'directory':
      return fail('is-directory', `${path} is a directory`, {})
    case 'special':
      return fail('special-file', `${path} is not a regular file`, {})
    case 'too-large':
      return fail('too-large', `${path} has ${file.size} bytes, more than the limit`, { size: file.size })
    case 'nested':
      return fail('submodule', `${path} lies in another repository, at ${file.repository}`, {
        submodule: file.repository,
      })
    case 'file':
      if (file.links > 1)
        return fail('hard-linked', `${path} has ${file.links} names on disk`, { links: file.links })
      return null
    case 'blocked':
    case 'absent':
      return null
  }
}

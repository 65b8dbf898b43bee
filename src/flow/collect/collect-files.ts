import { type PathConversion, pathConversions } from '../../git/attributes.ts'
import { ignoredPaths } from '../../git/check-ignore.ts'
import { cleanBytes } from '../../git/convert.ts'
import type { FileChange } from '../../git/fast-import.ts'
import { type ListedEntry, listTree } from '../../git/list-tree.ts'
import { objectIdOf } from '../../git/loose-object.ts'
import type { ObjectReader } from '../../git/objects.ts'
import type { Repository } from '../../git/open-repository.ts'
import { type BlobWriter, openBlobWriter } from '../../git/write-blobs.ts'
import { GalleyError } from '../../model/error.ts'
import type { CommitId, TreeId } from '../../model/ids.ts'
import type { Store } from '../../store/open-store.ts'
import { readTreeBytes } from '../../sys/tree-bytes.ts'
import { type BytePath, type FoundEntry, shownPath, textOfBytes } from '../../sys/walk-tree.ts'
import { changedTree } from './changed-tree.ts'
import { foldBeside } from './fold-beside.ts'
import { linkOf, type MovedSubmodule, movedSubmodules } from './moved-submodules.ts'
import { type Beside, type FilesBefore, isRuleFile, sortTree } from './sort-tree.ts'

/** A tree to be collected. */
export interface CollectPlace {
  readonly repository: Repository
  readonly store: Store
  readonly reader: ObjectReader
  /** The tree's directory. */
  readonly path: string
}

export interface CollectFilesRequest {
  /** What the tree was handed out at. */
  readonly commit: CommitId
  readonly before: FilesBefore
  readonly fileMaxBytes: number
  /** Whether the tree's user gave a path to git although the ignore rules cover it. */
  readonly isForced: (path: BytePath) => boolean
  /** Takes something out of git's way before git looks at the tree's rules. */
  readonly takeAway: (path: BytePath) => void
}

/** The files of a tree: those of a change to be, and those beside it. */
export interface CollectedFiles {
  /** The base with what was changed, added and removed. */
  readonly tree: TreeId
  readonly beside: readonly Beside[]
  /** Submodules whose commit in `tree` is another one than the base's. What stands in them is among `beside`. */
  readonly submodules: readonly MovedSubmodule[]
  /** Files that a sparse checkout left out and that do not stand there now: in `tree` as the base has them. */
  readonly unseen: readonly BytePath[]
  /** Tracked files that have grown too large: in `tree` as the base has them, and among `beside`. */
  readonly grown: readonly string[]
}

/**
 * Takes in what stands in a tree, by the bytes of its files. What the tree's user wrote for git does not count: no index, no setting, no filter.
 * The ignore rules and attributes of the tree do, as in any work tree.
 *
 * Leaves blobs and trees in the store; the tree stays as it is, but for what `takeAway` took.
 */
export async function collectFiles(
  place: CollectPlace,
  request: CollectFilesRequest,
): Promise<CollectedFiles> {
  const { store, path: root } = place
  const base = await listTree(store.door, request.commit)
  const sorted = sortTree(root, base, request.before)
  for (const { path } of sorted.beside) if (isRuleFile(path)) request.takeAway(path)
  const door = { ...store.door, workTree: root, inherited: place.repository.door.inherited }
  const isIgnored = await ignoredAmong(door, sorted.untracked, request)
  const beside = [...sorted.beside]
  const wanted: (FoundEntry & { readonly base: ListedEntry | null })[] = [...sorted.candidates]
  for (const entry of sorted.untracked) {
    if (isIgnored(entry.path)) beside.push({ path: entry.path, why: 'the ignore rules cover it' })
    else wanted.push({ ...entry, base: null })
  }
  const asRepository: Repository = { ...place.repository, workTree: root, gitDir: door.gitDir, door }
  const texts = wanted.flatMap(({ path, kind }) => (kind === 'file' ? (textOfBytes(path) ?? []) : []))
  const taking = new Taking(place, request, asRepository, await pathConversions(asRepository, texts))
  for (const entry of wanted) await taking.take(entry)
  const submodules = movedSubmodules(root, sorted.submodules, base)
  const gone = sorted.gone.map((path): FileChange => ({ kind: 'entry', path: bytesOf(path), to: null }))
  const tree = await taking.finish([...gone, ...submodules.map(linkOf)])
  const isMoved = new Set(submodules.map(({ path }) => `${path}/`))
  const all = [...beside, ...taking.beside].map((b) => (isMoved.has(b.path) ? { ...b, why: BY_COMMIT } : b))
  const isBeside = new Set(all.map(({ path }) => path))
  const staying = [...sorted.settled, ...wanted.map(({ path }) => path).filter((path) => !isBeside.has(path))]
  return { tree, beside: foldBeside(all, staying), submodules, unseen: sorted.unseen, grown: taking.grown }
}

const BY_COMMIT = 'the change takes its commit alone'

const isFile = (base: ListedEntry | null): base is ListedEntry => base?.mode.startsWith('100') === true
const bytesOf = (path: BytePath): Buffer => Buffer.from(path, 'latin1')

async function ignoredAmong(
  door: Store['door'],
  untracked: readonly FoundEntry[],
  { isForced }: CollectFilesRequest,
): Promise<(path: BytePath) => boolean> {
  const ignored = await ignoredPaths(
    door,
    untracked.map(({ path }) => shownPath(path)),
  )
  return (path) => ignored.has(shownPath(path)) && !isForced(path)
}

/** Reads one file after the other and writes down what differs from the base. */
class Taking {
  readonly beside: Beside[] = []
  readonly grown: string[] = []
  private readonly place: CollectPlace
  private readonly request: CollectFilesRequest
  private readonly asRepository: Repository
  private readonly conversions: ReadonlyMap<string, PathConversion>
  private readonly changes: FileChange[] = []
  private readonly blobs: BlobWriter

  constructor(
    place: CollectPlace,
    request: CollectFilesRequest,
    asRepository: Repository,
    conversions: ReadonlyMap<string, PathConversion>,
  ) {
    this.place = place
    this.request = request
    this.asRepository = asRepository
    this.conversions = conversions
    this.blobs = openBlobWriter(place.store.door)
  }

  async take(entry: FoundEntry & { readonly base: ListedEntry | null }): Promise<void> {
    const { path, kind, base } = entry
    const read = readTreeBytes(this.place.path, path, this.request.fileMaxBytes)
    if (read.kind === 'too-large' && base !== null) this.grown.push(shownPath(path))
    if (read.kind === 'too-large') this.beside.push({ path, why: 'it is too large' })
    else if (read.kind === 'unreadable') this.beside.push({ path, why: read.why })
    else {
      const id = await this.blobOf(entry, read.bytes)
      const mode = kind === 'link' ? '120000' : read.isExecutable ? '100755' : '100644'
      if (id === null || (id === base?.id && mode === base.mode)) return
      this.changes.push({ kind: 'entry', path: bytesOf(path), to: { mode, id } })
    }
  }

  /** Null = the bytes have no form in the repository. */
  private async blobOf(
    { path, kind, base }: FoundEntry & { readonly base: ListedEntry | null },
    bytes: Buffer,
  ): Promise<string | null> {
    const { door } = this.place.store
    const text = shownPath(path)
    const conversion = kind === 'file' ? this.conversions.get(text) : undefined
    if (conversion?.kind === 'converted') {
      try {
        return await cleanBytes(this.asRepository, door, text, bytes, {
          conversion,
          base: isFile(base) ? base.id : null,
        })
      } catch (error) {
        if (!(error instanceof GalleyError) || error.code !== 'not-utf8') throw error
        this.beside.push({ path, why: 'it cannot be converted as its attributes say' })
        return null
      }
    }
    const id = objectIdOf('blob', bytes, door.objectFormat)
    if (id !== base?.id) await this.blobs.add(bytes)
    return id
  }

  async finish(others: readonly FileChange[]): Promise<TreeId> {
    await this.blobs.finish()
    const { store, reader } = this.place
    const { commit } = this.request
    const changes = [...others, ...this.changes]
    return changes.length === 0 ? reader.commitTree(commit) : changedTree(store, commit, changes)
  }
}

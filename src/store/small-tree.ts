import { join } from 'node:path'
import type { GitDoor } from '../git/door.ts'
import type { IndexStat } from '../git/index-file.ts'
import type { ObjectReader, TreeEntry } from '../git/objects.ts'
import { type IndexFolder, sparseIndex } from '../git/sparse-index.ts'
import { errorCode } from '../model/errno.ts'
import { GalleyError } from '../model/error.ts'
import { type CommitId, type TreeId, treeId } from '../model/ids.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { makeFolder } from '../sys/folder-anew.ts'
import { homeDirectory } from '../sys/home.ts'
import { readQuickly } from '../sys/quick-files.ts'
import { linkInTree, writeInTree } from '../sys/tree-files.ts'
import { type SparseCone, sparseCone } from './cone.ts'
import type { Store } from './open-store.ts'

/** Above either, git's own checkout is as quick. */
const FILES_MAX = 500
const BYTES_MAX = 16 * 1024 * 1024

/** Where it is to be, and the view of it that the store keeps. */
export interface SmallTree {
  readonly path: string
  readonly door: GitDoor
}

export interface SmallTreeRequest {
  readonly commit: CommitId
  readonly directories: readonly string[]
  readonly reason: string
}

/**
 * Makes a scratch tree in its small form by writing it: its files, and its registration in the store with HEAD, rules and a sparse index.
 * What git says in it afterwards is what it says in a tree of its own making. No process but the reader, which runs anyway.
 *
 * @returns false, with nothing registered, where git is to do it: unusual names, conversions, submodules, many files, a store of another form.
 */
export async function writeSmallTree(
  store: Store,
  tree: SmallTree,
  reader: ObjectReader,
  request: SmallTreeRequest,
): Promise<boolean> {
  const cone = sparseCone(request.directories)
  if (cone === null || !isPlainStore(store) || tree.path.includes('\n')) return false
  try {
    const root = await planFolder(reader, cone, {
      name: '',
      path: '',
      id: await reader.commitTree(request.commit),
    })
    if (root === null) return false
    const bytes = await readAll(reader, filesOf(root))
    if (bytes === null || hasConversions(store, bytes)) return false
    const stats = writeFiles(tree.path, filesOf(root), bytes)
    if (stats === null) return false
    await register(store, tree, request, cone, sparseIndex(store.door.objectFormat, root, stats))
    return true
  } catch (error) {
    // Whatever stood in the way: git takes it away, or says it best.
    if (error instanceof GalleyError || errorCode(error) !== '') return false
    throw error
  }
}

/** The store's configuration lets each tree have its own, and keeps refs as files; nothing is fetched as it is read. */
function isPlainStore({ door }: Store): boolean {
  const config = readQuickly(join(door.gitDir, 'config'))?.toString('utf8') ?? ''
  return (
    /^\s*worktreeconfig\s*=\s*true$/im.test(config) &&
    !/refstorage/i.test(config) &&
    door.promisor === undefined
  )
}

interface Planned extends IndexFolder {
  readonly count: number
}

interface Place {
  readonly name: string
  readonly path: string
  readonly id: TreeId
}

/** Null where something is not as usual. */
async function planFolder(
  reader: ObjectReader,
  cone: SparseCone,
  place: Place,
  left = FILES_MAX,
): Promise<Planned | null> {
  const entries = await reader.tree(place.id)
  if (entries.length === 0 || !entries.every(isUsual) || hasTwins(entries)) return null
  const below = (name: string) => (place.path === '' ? name : `${place.path}/${name}`)
  const [files, folders, sparse]: [
    IndexFolder['files'][number][],
    Planned[],
    IndexFolder['sparse'][number][],
  ] = [[], [], []]
  let count = 0
  for (const { name, mode, id } of entries) {
    const path = below(name)
    if (mode !== '040000') files.push({ path, mode, id })
    else if (!cone.holds(path)) sparse.push({ name, path, id })
    else {
      const folder = await planFolder(reader, cone, { name, path, id: treeId(id) }, left - count)
      if (folder === null) return null
      folders.push(folder)
    }
    count = files.length + folders.reduce((sum, folder) => sum + folder.count, 0)
    if (count > left) return null
  }
  return { name: place.name, id: place.id, files, folders, sparse, count }
}

const MODES: readonly string[] = ['100644', '100755', '120000', '040000']

/** A name that git would take everywhere: whatever it may refuse is left to it. */
const isUsual = ({ name, mode }: TreeEntry): boolean =>
  MODES.includes(mode) &&
  !/[\\/:\ufffd\p{Cc}\p{Cf}]|^\.{0,2}$|^git~/iu.test(name) &&
  !(mode === '120000' ? /^\.git/i : /^\.git(?![a-z])/i).test(name)

/** Where case or accents do not count, two of the entries are one file. */
const hasTwins = (entries: readonly TreeEntry[]): boolean =>
  new Set(entries.map(({ name }) => name.normalize('NFKC').toLowerCase())).size !== entries.length

type PlannedFile = IndexFolder['files'][number]

const filesOf = ({ files, folders }: IndexFolder): readonly PlannedFile[] => [
  ...files,
  ...folders.flatMap(filesOf),
]

async function readAll(
  reader: ObjectReader,
  files: readonly PlannedFile[],
): Promise<ReadonlyMap<string, Buffer> | null> {
  const infos = await Promise.all(files.map(({ id }) => reader.info(id)))
  const sum = infos.reduce(
    (bytes, info) => bytes + (info?.type === 'blob' ? info.size : Number.POSITIVE_INFINITY),
    0,
  )
  if (sum > BYTES_MAX) return null
  const read = await Promise.all(files.map(({ id }) => reader.contents(id)))
  return new Map(files.map(({ path }, i) => [path, read[i]?.bytes ?? Buffer.alloc(0)]))
}

/** Attributes by which git writes other bytes than a blob's. In the files of the tree, and in the user's own, which hold there too. */
function hasConversions({ door }: Store, files: ReadonlyMap<string, Buffer>): boolean {
  const home = homeDirectory(door.inherited)
  const config = door.inherited['XDG_CONFIG_HOME'] || join(home, '.config')
  const own = ['/etc/gitattributes', join(config, 'git', 'attributes')].map((file) => readQuickly(file))
  const inTree = [...files].flatMap(([path, bytes]) =>
    /(?:^|\/)\.gitattributes$/i.test(path) ? [bytes] : [],
  )
  return [...own, ...inTree].some((bytes) =>
    /crlf|ident|working-tree-encoding/.test(bytes?.toString('latin1') ?? ''),
  )
}

/** Null where something is in the way. */
function writeFiles(root: string, files: readonly PlannedFile[], bytes: ReadonlyMap<string, Buffer>) {
  const stats = new Map<string, IndexStat>()
  makeFolder(root, { directories: [], files: new Map(), programs: new Map(), copies: new Map() })
  for (const { path, mode } of files) {
    const content = bytes.get(path) ?? Buffer.alloc(0)
    const written =
      mode === '120000'
        ? linkInTree(root, path, content)
        : writeInTree(root, path, content, mode === '100755')
    if (written.kind !== 'written') return null
    stats.set(path, written.stat)
  }
  return stats
}

/** The tree's `.git` comes last: without it, what is there counts for nothing and is made anew. */
async function register(
  { door }: Store,
  tree: SmallTree,
  { commit, reason }: SmallTreeRequest,
  cone: SparseCone,
  index: readonly Buffer[],
): Promise<void> {
  await makePrivateDirectory(join(door.gitDir, 'worktrees'))
  const files = new Map<string, string | Uint8Array>([
    ['commondir', '../..\n'],
    [
      'config.worktree',
      '[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = true\n[index]\n\tsparse = true\n',
    ],
    ['gitdir', `${tree.path}/.git\n`],
    ['HEAD', `${commit}\n`],
    ['index', Buffer.concat(index)],
    ['info/sparse-checkout', cone.rules],
    ['locked', `${reason}\n`],
  ])
  makeFolder(tree.door.gitDir, { directories: [], files, programs: new Map(), copies: new Map() })
  const pointer = writeInTree(tree.path, '.git', Buffer.from(`gitdir: ${tree.door.gitDir}\n`), false)
  if (pointer.kind !== 'written')
    throw new GalleyError({ code: 'io-error', message: `${tree.path} cannot be registered`, data: {} })
}

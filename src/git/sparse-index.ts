import { createHash } from 'node:crypto'
import type { ObjectFormat } from '../model/ids.ts'
import { entryBytes } from './index-edit.ts'
import type { IndexStat } from './index-file.ts'

/** A directory as an index holds it: its files, the folders that are there, and those that are one entry each. */
export interface IndexFolder {
  readonly name: string
  readonly id: string
  readonly files: readonly { readonly path: string; readonly mode: string; readonly id: string }[]
  readonly folders: readonly IndexFolder[]
  readonly sparse: readonly { readonly name: string; readonly path: string; readonly id: string }[]
}

const EXTENDED = 0x4000
const SKIP_WORKTREE = 0x4000
const NAME_MASK = 0x0fff

/**
 * The bytes of a sparse index (version 3) with its cached tree: what `sparse-checkout set --sparse-index` and a checkout leave.
 *
 * @see gitformat-index(5)
 */
export function sparseIndex(
  format: ObjectFormat,
  root: IndexFolder,
  stats: ReadonlyMap<string, IndexStat>,
): readonly Buffer[] {
  const idBytes = format === 'sha1' ? 20 : 32
  const rows = entriesOf(root, stats, idBytes).sort((a, b) => a.name.compare(b.name))
  const header = Buffer.from('DIRC\0\0\0\x03\0\0\0\0', 'latin1')
  header.writeUInt32BE(rows.length, 8)
  const tree = Buffer.concat(cachedTree(root))
  const parts = [
    header,
    ...rows.map((row) => row.bytes),
    extension('TREE', tree),
    extension('sdir', Buffer.alloc(0)),
  ]
  const hash = createHash(format)
  for (const part of parts) hash.update(part)
  return [...parts, hash.digest()]
}

interface Row {
  readonly name: Buffer
  readonly bytes: Buffer
}

function entriesOf(folder: IndexFolder, stats: ReadonlyMap<string, IndexStat>, idBytes: number): Row[] {
  const files = folder.files.flatMap(({ path, mode, id }) => {
    const [name, stat] = [Buffer.from(path), stats.get(path)]
    return stat === undefined
      ? []
      : [{ name, bytes: entryBytes({ kind: 'set', path, mode, id, stat }, name, idBytes) }]
  })
  const sparse = folder.sparse.map(({ path, id }) => {
    const name = Buffer.from(`${path}/`)
    return { name, bytes: sparseEntry(name, id, idBytes) }
  })
  return [...files, ...sparse, ...folder.folders.flatMap((inner) => entriesOf(inner, stats, idBytes))]
}

/** A whole directory that is not checked out: no times, and the flag by which git leaves it alone. */
function sparseEntry(name: Buffer, id: string, idBytes: number): Buffer {
  const flagsAt = 40 + idBytes
  const entry = Buffer.alloc((flagsAt + 4 + name.length + 8) & ~7)
  entry.writeUInt32BE(0o040000, 24)
  entry.write(id, 40, idBytes, 'hex')
  entry.writeUInt16BE(EXTENDED | Math.min(name.length, NAME_MASK), flagsAt)
  entry.writeUInt16BE(SKIP_WORKTREE, flagsAt + 2)
  name.copy(entry, flagsAt + 4)
  return entry
}

/** Each directory with the number of its entries below, those with short names first. */
function cachedTree({ name, id, files, folders, sparse }: IndexFolder): Buffer[] {
  const inner = [
    ...folders.map((folder) => ({ name: folder.name, parts: cachedTree(folder) })),
    ...sparse.map((row) => ({ name: row.name, parts: [treeRow(row.name, 1, 0, row.id)] })),
  ].map((row) => ({ ...row, key: Buffer.from(row.name) }))
  inner.sort((a, b) => a.key.length - b.key.length || a.key.compare(b.key))
  const count = countEntries({ name, id, files, folders, sparse })
  return [treeRow(name, count, inner.length, id), ...inner.flatMap((row) => row.parts)]
}

const countEntries = ({ files, folders, sparse }: IndexFolder): number =>
  files.length + sparse.length + folders.reduce((sum, folder) => sum + countEntries(folder), 0)

const treeRow = (name: string, count: number, folders: number, id: string): Buffer =>
  Buffer.concat([Buffer.from(`${name}\0${count} ${folders}\n`), Buffer.from(id, 'hex')])

function extension(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(name, 'latin1')
  head.writeUInt32BE(content.length, 4)
  return Buffer.concat([head, content])
}

import { join } from 'node:path'
import { loosePath, type ObjectType, objectIdOf } from '../git/loose-object.ts'
import { invariant } from '../model/error.ts'
import { type CommitId, commitId } from '../model/ids.ts'
import { type Person, personLine } from '../model/person.ts'
import { randomName } from '../sys/clock.ts'
import { placeDeflated } from '../sys/deflated-file.ts'
import type { Store } from './open-store.ts'

/** Writes an object whose id is known into a file of its own: whole or not at all. Not synced, as git leaves them. */
export async function placeObject(
  { galleyDir, door }: Store,
  id: string,
  type: ObjectType,
  content: Uint8Array,
): Promise<void> {
  const header = Buffer.from(`${type} ${content.length}\0`, 'latin1')
  const passing = join(galleyDir, 'tmp', randomName())
  await placeDeflated(join(door.gitDir, 'objects', loosePath(id)), [header, content], passing)
}

/** Writes an object of galley's own making into the store. No process. */
export async function writeObject(store: Store, type: ObjectType, content: Uint8Array): Promise<string> {
  const id = objectIdOf(type, content, store.door.objectFormat)
  await placeObject(store, id, type, content)
  return id
}

export interface OwnCommit {
  readonly parent: CommitId | null
  readonly author: Person
  readonly committer: Person
  readonly message: string
  /** All that its tree holds, by path. */
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** Writes a commit of galley's own files, such as one event of a log: a few objects, children first. No process. */
export async function writeCommit(store: Store, commit: OwnCommit): Promise<CommitId> {
  const tree = await writeTree(store, commit.files)
  const lines = [
    `tree ${tree}`,
    ...(commit.parent === null ? [] : [`parent ${commit.parent}`]),
    `author ${personLine(commit.author)}`,
    `committer ${personLine(commit.committer)}`,
  ]
  invariant(
    lines.every((line) => !/[\n\0]/.test(line)),
    'a commit’s header has a line for each fact',
  )
  const text = `${lines.join('\n')}\n\n${commit.message}`
  return commitId(await writeObject(store, 'commit', Buffer.from(text, 'utf8')))
}

async function writeTree(store: Store, files: ReadonlyMap<string, Uint8Array>): Promise<string> {
  const rows: { readonly mode: string; readonly name: string; readonly id: string }[] = []
  const folders = new Map<string, Map<string, Uint8Array>>()
  for (const [path, bytes] of files) {
    const slash = path.indexOf('/')
    const name = slash === -1 ? path : path.slice(0, slash)
    invariant(/^(?!\.{0,2}$|\.git$)[^\0]+$/i.test(name), `a file of a log has a plain name, not ${path}`)
    if (slash === -1) rows.push({ mode: '100644', name, id: await writeObject(store, 'blob', bytes) })
    else folders.set(name, (folders.get(name) ?? new Map()).set(path.slice(slash + 1), bytes))
  }
  for (const [name, inside] of folders) rows.push({ mode: '40000', name, id: await writeTree(store, inside) })
  // git sorts a folder as if its name ended with a slash.
  const key = (row: (typeof rows)[number]) => Buffer.from(row.mode === '40000' ? `${row.name}/` : row.name)
  rows.sort((a, b) => key(a).compare(key(b)))
  const parts = rows.flatMap(({ mode, name, id }) => [
    Buffer.from(`${mode} ${name}\0`),
    Buffer.from(id, 'hex'),
  ])
  return writeObject(store, 'tree', Buffer.concat(parts))
}

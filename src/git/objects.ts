import { invariant, refuse } from '../model/error.ts'
import { type CommitId, type TreeId, treeId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { FileMode } from '../model/manifest.ts'
import { type Conversation, converse } from '../sys/conversation.ts'
import { answerOf } from './answer-of.ts'
import { type GitDoor, gitEnvironment, repositoryArguments } from './door.ts'

export interface GitObject {
  readonly id: string
  readonly type: 'blob' | 'tree' | 'commit' | 'tag'
  readonly size: number
}

export interface TreeEntry {
  readonly name: string
  readonly mode: FileMode | '040000'
  readonly id: string
}

/**
 * Reads objects through one `git cat-file --batch-command` that is kept running. Start-up costs one process, a read
 * about a tenth of a millisecond. Sees objects added after its start. Close it, or the process stays.
 */
export interface ObjectReader {
  readonly info: (id: string) => Promise<GitObject | null>
  readonly contents: (id: string) => Promise<{ readonly object: GitObject; readonly bytes: Buffer } | null>
  /** Entries of a tree object; remembered, so that asking again costs nothing. */
  readonly tree: (id: TreeId) => Promise<readonly TreeEntry[]>
  readonly commitTree: (id: CommitId) => Promise<TreeId>
  readonly close: () => Promise<void>
}

export function openObjectReader(door: GitDoor): ObjectReader {
  // `-z`: a newline in a name would otherwise be a second request.
  const args = [...repositoryArguments(door), 'cat-file', '-z', '--batch-command']
  let started: Conversation | null = null
  const ask = (): Conversation => {
    started ??= converse({
      file: 'git',
      args,
      cwd: door.workTree ?? door.gitDir,
      env: gitEnvironment(door),
      ownSession: true,
    })
    return started
  }
  const queue = oneAtATime()
  const trees = new Map<string, Promise<readonly TreeEntry[]>>()

  const request = (command: 'info' | 'contents', name: string): Promise<GitObject | null> => {
    invariant(!name.includes('\0'), 'an object name holds no NUL')
    ask().write(`${command} ${name}\0`)
    return answerOf(ask(), 'cat-file', ask().readLine()).then(parseHeader)
  }
  const contents: ObjectReader['contents'] = (id) =>
    queue(async () => {
      const object = await request('contents', id)
      if (object === null) return null
      const bytes = await answerOf(ask(), 'cat-file', ask().readBytes(object.size + 1))
      return { object, bytes: bytes.subarray(0, object.size) }
    })
  const readTree = async (id: TreeId): Promise<readonly TreeEntry[]> => {
    const found = await contents(id)
    if (found === null) refuse('stale', `the tree ${id} is not in the repository any more`, { tree: id })
    invariant(found.object.type === 'tree', `${id} is a tree`)
    return parseTree(found.bytes, door)
  }
  return {
    info: (id) => queue(() => request('info', id)),
    contents,
    tree: (id) => {
      const known = trees.get(id) ?? readTree(id)
      trees.set(id, known)
      return known
    },
    commitTree: async (id) => {
      const found = await contents(id)
      if (found === null)
        refuse('stale', `the commit ${id} is not in the repository any more`, { commit: id })
      return treeId(found.bytes.toString('latin1').slice('tree '.length, found.bytes.indexOf(0x0a)))
    },
    close: async () => {
      if (started) await started.end()
    },
  }
}

function parseHeader(line: string): GitObject | null {
  const [id, type, size] = line.split(' ')
  if (id === undefined || size === undefined) return null
  if (type !== 'blob' && type !== 'tree' && type !== 'commit' && type !== 'tag') return null
  return { id, type, size: Number(size) }
}

/** Parses a raw tree object: `<mode> <name>NUL<id bytes>` again and again. */
function parseTree(bytes: Buffer, door: GitDoor): readonly TreeEntry[] {
  const idBytes = door.objectFormat === 'sha1' ? 20 : 32
  const entries: TreeEntry[] = []
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const end = bytes.indexOf(0, space)
    const mode = bytes.toString('latin1', at, space).padStart(6, '0') as TreeEntry['mode']
    const name = bytes.toString('utf8', space + 1, end)
    entries.push({ name, mode, id: bytes.toString('hex', end + 1, end + 1 + idBytes) })
    at = end + 1 + idBytes
    if (entries.length > limits.directoryMaxEntries) {
      refuse('too-large', `a directory has more than ${limits.directoryMaxEntries} entries`, {})
    }
  }
  return entries
}

/** Requests to one process go in order: the answer to the second must not be read as the first's. */
function oneAtATime(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const next = last.then(task, task)
    last = next.catch(() => undefined)
    return next
  }
}

export interface PathEntry {
  readonly mode: FileMode
  readonly id: string
}

/** What a tree holds on the way to a path and at it. */
export type TreeLookup =
  | { readonly kind: 'file'; readonly entry: PathEntry; readonly siblings: readonly TreeEntry[] }
  | { readonly kind: 'directory'; readonly tree: TreeId | null }
  /** A part of the path before the last is a file, a link or a submodule. */
  | { readonly kind: 'blocked'; readonly by: string; readonly mode: FileMode }
  /** Nothing there. `missingFrom` is the index of the first part that is missing; `siblings` stand beside it. */
  | { readonly kind: 'absent'; readonly missingFrom: number; readonly siblings: readonly TreeEntry[] }

/** Walks a path through trees by name, part by part, without any index. Cost: one read a directory, remembered. */
export async function lookUpPath(
  reader: ObjectReader,
  tree: TreeId | null,
  path: string,
): Promise<TreeLookup> {
  const parts = path.split('/')
  let current = tree
  for (const [i, name] of parts.entries()) {
    const siblings: readonly TreeEntry[] = current === null ? [] : await reader.tree(current)
    const entry = siblings.find((e) => e.name === name)
    if (entry === undefined) return { kind: 'absent', missingFrom: i, siblings }
    const isLast = i === parts.length - 1
    if (entry.mode === '040000') {
      if (isLast) return { kind: 'directory', tree: treeId(entry.id) }
      current = treeId(entry.id)
    } else if (isLast) {
      return { kind: 'file', entry: { mode: entry.mode, id: entry.id }, siblings }
    } else {
      return { kind: 'blocked', by: parts.slice(0, i + 1).join('/'), mode: entry.mode }
    }
  }
  return { kind: 'directory', tree }
}

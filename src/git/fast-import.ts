import { join } from 'node:path'
import { type CommitId, commitId, type ObjectFormat, type TreeId, treeId, zeroId } from '../model/ids.ts'
import type { FileMode } from '../model/manifest.ts'
import { type Person, personLine } from '../model/person.ts'
import { converse } from '../sys/conversation.ts'
import { removeOwnDirectory } from '../sys/directories.ts'
import { answerOf } from './answer-of.ts'
import { type GitDoor, gitEnvironment, gitFailure, repositoryArguments } from './door.ts'

/** One path of a commit to be written. */
export type FileChange =
  | {
      readonly kind: 'bytes'
      readonly path: string
      /** Of a symbolic link, `bytes` are its target. */
      readonly mode: '100644' | '100755' | '120000'
      readonly bytes: Uint8Array
    }
  | {
      readonly kind: 'blob'
      readonly path: string
      /** Of a submodule (160000), `blob` is its commit, which need not be at hand. */
      readonly mode: Exclude<FileMode, '000000'>
      readonly blob: string
    }
  | { readonly kind: 'delete'; readonly path: string }
  /** Whatever a tree may hold, under a name of any bytes; null = nothing. */
  | {
      readonly kind: 'entry'
      readonly path: Uint8Array
      readonly to: { readonly mode: string; readonly id: string } | null
    }

export interface CommitRequest {
  /** null = a root commit. */
  readonly parent: CommitId | null
  readonly author: Person
  readonly committer: Person
  readonly message: string
  readonly changes: readonly FileChange[]
  /** Starts from an empty tree instead of the parent's: log events carry their own files only. */
  readonly fromNothing?: boolean
}

/** fast-import writes the ref it commits to; this one is set back to nothing before the stream ends. */
const PASSING_REF = 'refs/galley/tmp/import'

export interface ImportedCommit {
  readonly commit: CommitId
  readonly tree: TreeId
}

/** One running fast-import. Its objects become visible to others at `finish`, not before. */
export interface Importer {
  /** Writes one commit and gives its ids at once, so that a later commit can name them. */
  readonly commit: (request: CommitRequest) => Promise<ImportedCommit>
  /** Ends the process. Only after this do the objects exist. */
  readonly finish: () => Promise<void>
  /** Ends the process and drops what it wrote. */
  readonly abandon: () => Promise<void>
}

/** git sets core.ignoreCase where the file system ignores case, and a new name takes the place of one that differs from it only so then. */
const EXACT_NAMES = ['-c', 'core.ignoreCase=false']

/**
 * Starts one `git fast-import`: commits are written without an index and without a checkout.
 *
 * Leaves the objects in the repository behind `door` (one pack when `asPack`, loose objects otherwise when there are fewer
 * than a hundred) and no ref. Everything that came from outside goes in as counted `data` or as a quoted path, never as
 * a command.
 */
export function openImporter(door: GitDoor, options: { readonly asPack: boolean }): Importer {
  const limit = options.asPack ? ['-c', 'fastimport.unpackLimit=1'] : []
  const talk = converse({
    file: 'git',
    args: [
      ...repositoryArguments(door),
      ...limit,
      ...EXACT_NAMES,
      'fast-import',
      '--quiet',
      '--date-format=raw',
      '--force',
      '--done',
    ],
    cwd: door.gitDir,
    env: gitEnvironment(door),
  })
  /** Its report of what it was doing when it failed is of no use to anybody, and names what it was told. */
  const dropReport = () => removeOwnDirectory(join(door.gitDir, `fast_import_crash_${talk.pid}`))
  const line = () =>
    answerOf(talk, 'fast-import', talk.readLine()).catch(async (error: unknown) => {
      await dropReport()
      throw error
    })
  // A commit of this process is known to it by its mark only, until the process has ended.
  const marks = new Map<CommitId, number>()
  let count = 0
  return {
    commit: async (request) => {
      const mark = ++count
      const parts: (Uint8Array | string)[] = []
      pushCommit(parts, request, mark, marks)
      parts.push(`get-mark :${mark}\nls :${mark} ""\n`)
      talk.write(Buffer.concat(parts.map((p) => (typeof p === 'string' ? Buffer.from(p, 'utf8') : p))))
      const commit = commitId(await line())
      marks.set(commit, mark)
      const root = await line()
      return {
        commit,
        tree: root.startsWith('missing')
          ? emptyTree(door.objectFormat)
          : treeId(root.split(/[ \t]/)[2] ?? ''),
      }
    },
    finish: async () => {
      talk.write(`reset ${PASSING_REF}\nfrom ${zeroId(door.objectFormat)}\n\ndone\n`)
      const exitCode = await talk.end()
      if (exitCode === 0) return
      await dropReport()
      throw gitFailure(['fast-import'], {
        exitCode: exitCode ?? -1,
        stdout: Buffer.alloc(0),
        stderr: talk.stderr(),
      })
    },
    abandon: async () => {
      talk.kill()
      await talk.end()
    },
  }
}

/** The id of the tree with no entries, in each object format. */
export const emptyTree = (format: ObjectFormat): TreeId =>
  treeId(
    format === 'sha1'
      ? '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
      : '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
  )

function pushCommit(
  parts: (Uint8Array | string)[],
  request: CommitRequest,
  mark: number,
  marks: ReadonlyMap<CommitId, number>,
): void {
  if (request.parent === null) parts.push(`reset ${PASSING_REF}\n\n`) // else it would go on from the commit before
  parts.push(`commit ${PASSING_REF}\nmark :${mark}\n`)
  parts.push(`author ${personLine(request.author)}\ncommitter ${personLine(request.committer)}\n`)
  pushData(parts, Buffer.from(request.message, 'utf8'))
  if (request.parent !== null) {
    const parentMark = marks.get(request.parent)
    parts.push(`from ${parentMark === undefined ? request.parent : `:${parentMark}`}\n`)
  }
  if (request.fromNothing === true) parts.push('deleteall\n')
  // Deletions first: a file may make room for a directory of its name.
  for (const change of request.changes) {
    if (change.kind === 'delete') parts.push(`D ${quotePath(change.path)}\n`)
    if (change.kind === 'entry' && change.to === null) parts.push(`D ${quoteBytes(change.path)}\n`)
  }
  for (const change of request.changes) {
    if (change.kind === 'blob') parts.push(`M ${change.mode} ${change.blob} ${quotePath(change.path)}\n`)
    if (change.kind === 'entry' && change.to !== null)
      parts.push(`M ${change.to.mode} ${change.to.id} ${quoteBytes(change.path)}\n`)
    if (change.kind === 'bytes') {
      parts.push(`M ${change.mode} inline ${quotePath(change.path)}\n`)
      pushData(parts, change.bytes)
    }
  }
  parts.push('\n')
}

function pushData(parts: (Uint8Array | string)[], bytes: Uint8Array): void {
  parts.push(`data ${bytes.length}\n`, bytes, '\n')
}

/** C-style quoting, always on, so that no path can be read as anything else. */
function quotePath(path: string): string {
  const quoted = path.replaceAll(/["\\]/g, (c) => `\\${c}`).replaceAll('\n', '\\n')
  return `"${quoted}"`
}

const quoteBytes = (path: Uint8Array): string =>
  `"${[...path].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}"`

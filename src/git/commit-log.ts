import { type CommitId, commitId, isObjectId, type TreeId, treeId } from '../model/ids.ts'
import { type FileMode, type Manifest, manifestOf, type Transition } from '../model/manifest.ts'
import { type GitDoor, git, withoutIndex } from './door.ts'

/** One commit as its object says it, with what it changes. */
export interface LoggedCommit {
  readonly commit: CommitId
  readonly tree: TreeId
  readonly parents: readonly CommitId[]
  /** Seconds since the epoch, by the committer's clock. */
  readonly committedAt: number
  /** Up to a NUL, where git itself stops reading it. */
  readonly message: string
  /** Against its first parent, or against nothing. A path that is not UTF-8 is written as `pathText` has it. */
  readonly transitions: Manifest
}

/**
 * What keeps configuration and files of the repository from changing the answer: a commit-graph file can lie about parents, a
 * replace ref (see the door) about bytes, a graft about parents, `.gitmodules` can hide a submodule's move.
 */
const TRUE_TO_OBJECTS = { GIT_GRAFT_FILE: '/dev/null', GIT_INDEX_FILE: '/nonexistent/galley' }
const NO_COMMIT_GRAPH = ['-c', 'core.commitGraph=false']

const RAW = [
  '--root',
  '--diff-merges=first-parent',
  '-r',
  '--raw',
  '-z',
  '--no-abbrev',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=none',
  '--no-show-signature',
  '--no-mailmap',
  '--no-notes',
  '--no-color',
  '--encoding=UTF-8',
  '--format=%x00%H%x00%T%x00%P%x00%ct%x00%B%x00',
] as const

/** Which commits to walk; every id is a full one. */
export interface CommitRange {
  readonly include: readonly CommitId[]
  readonly exclude: readonly CommitId[]
}

/** Walks commits, ancestors first, with what each changes. One process, however many. */
export const walkCommits = (door: GitDoor, range: CommitRange): Promise<readonly LoggedCommit[]> =>
  walk(door, range, ['--topo-order'], [])

/**
 * Walks a first-parent line, oldest first, with what each commit on it changes against the one before.
 *
 * @param paths - Only commits that change one of these; all of each such commit is told. Empty = all commits.
 */
export const walkLine = (
  door: GitDoor,
  range: CommitRange,
  paths: readonly string[] = [],
): Promise<readonly LoggedCommit[]> =>
  walk(door, range, ['--first-parent', ...(paths.length === 0 ? [] : ['--full-diff'])], paths)

async function walk(
  door: GitDoor,
  { include, exclude }: CommitRange,
  how: readonly string[],
  paths: readonly string[],
): Promise<readonly LoggedCommit[]> {
  if (include.length === 0) return []
  const result = await git(door, {
    args: [...NO_COMMIT_GRAPH, 'log', ...RAW, ...how, '--reverse', '--stdin', '--', ...paths],
    input: [...include, ...exclude.map((id) => `^${id}`)].map((line) => `${line}\n`).join(''),
    env: TRUE_TO_OBJECTS,
  })
  return parseLog(result.stdout)
}

/** The ids of a first-parent line, newest first; what an excluded commit leads to is left out. */
export async function listLine(
  door: GitDoor,
  tips: readonly CommitId[],
  exclude: readonly CommitId[] = [],
): Promise<readonly CommitId[]> {
  if (tips.length === 0) return []
  const result = await git(door, {
    args: [...NO_COMMIT_GRAPH, 'rev-list', '--first-parent', '--stdin', '--'],
    input: [...tips, ...exclude.map((id) => `^${id}`)].map((line) => `${line}\n`).join(''),
    env: TRUE_TO_OBJECTS,
  })
  return result.stdout.toString('latin1').split('\n').filter(isObjectId).map(commitId)
}

/** What differs between two trees or commits, with paths as `pathText` has them. */
export async function stepBetween(door: GitDoor, from: string, to: string): Promise<Manifest> {
  if (from === to) return []
  const args = [
    '--raw',
    '-r',
    '-z',
    '--no-abbrev',
    '--no-renames',
    '--no-ext-diff',
    '--ignore-submodules=none',
  ]
  const result = await git(door, { args: ['diff-tree', ...args, from, to], env: TRUE_TO_OBJECTS })
  return manifestOf(readTransitions(new Fields(result.stdout)))
}

/**
 * A path as text that stands for its bytes and no others: one that is not UTF-8 becomes NUL and its bytes, which no path can hold.
 * Read as UTF-8 with replacement signs, two such paths would be one.
 */
export function pathText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  const isText = !text.includes('\ufffd') || Buffer.from(text, 'utf8').equals(bytes)
  return isText ? text : `\0${bytes.toString('latin1')}`
}

/** Whether a path is one that an approval can hold. */
export const isTextPath = (path: string): boolean => !path.includes('\0')

/** The same for single commits, in the order given. A commit given twice is told once. */
export async function readCommits(
  door: GitDoor,
  commits: readonly CommitId[],
): Promise<ReadonlyMap<CommitId, LoggedCommit>> {
  const wanted = [...new Set(commits)]
  if (wanted.length === 0) return new Map()
  const result = await git(door, {
    args: [...NO_COMMIT_GRAPH, 'log', ...RAW, '--no-walk=unsorted', '--stdin', '--'],
    input: wanted.map((line) => `${line}\n`).join(''),
    env: TRUE_TO_OBJECTS,
  })
  return new Map(parseLog(result.stdout).map((logged) => [logged.commit, logged]))
}

/** By position, never by look: a message or a path may look like anything, but holds no NUL. */
function parseLog(bytes: Buffer): readonly LoggedCommit[] {
  const fields = new Fields(bytes)
  const commits: LoggedCommit[] = []
  while (!fields.atEnd()) {
    const id = fields.text()
    if (!isObjectId(id)) continue
    const [tree, parents, time, message] = [fields.text(), fields.text(), fields.text(), fields.text()]
    fields.text()
    const transitions = readTransitions(fields)
    const parentIds = parents
      .split(' ')
      .filter((parent) => parent !== '')
      .map(commitId)
    commits.push({
      commit: commitId(id),
      tree: treeId(tree),
      parents: parentIds,
      committedAt: Number(time),
      message,
      transitions: manifestOf(transitions),
    })
  }
  return commits
}

function readTransitions(fields: Fields): readonly Transition[] {
  const transitions: Transition[] = []
  while (fields.startsWithColon()) {
    const [oldMode, newMode, oldBlob, newBlob] = fields.text().trimStart().slice(1).split(' ')
    transitions.push({
      path: fields.path(),
      oldMode: oldMode as FileMode,
      newMode: newMode as FileMode,
      oldBlob: oldBlob ?? '',
      newBlob: newBlob ?? '',
    })
  }
  return transitions
}

/** NUL-terminated fields, read one after another. */
class Fields {
  private readonly bytes: Buffer
  private at = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  atEnd(): boolean {
    return this.at >= this.bytes.length
  }

  /** The raw part of a commit begins with a line feed, which belongs to git's layout. */
  startsWithColon(): boolean {
    const at = this.bytes[this.at] === 0x0a ? this.at + 1 : this.at
    return this.bytes[at] === 0x3a
  }

  text(): string {
    return this.slice().toString('utf8')
  }

  path(): string {
    return pathText(this.slice())
  }

  private slice(): Buffer {
    const end = this.bytes.indexOf(0, this.at)
    const stop = end === -1 ? this.bytes.length : end
    const slice = this.bytes.subarray(this.at, stop)
    this.at = stop + 1
    return slice
  }
}

/** How many commits a range has, counted up to `max`. */
export async function countCommits(door: GitDoor, range: CommitRange, max: number): Promise<number> {
  const { stdout } = await git(door, {
    args: [...NO_COMMIT_GRAPH, 'rev-list', '--count', `--max-count=${max}`, '--stdin'],
    input: [...range.include, ...range.exclude.map((commit) => `^${commit}`)]
      .map((line) => `${line}\n`)
      .join(''),
    env: TRUE_TO_OBJECTS,
  })
  return Number(stdout.toString('utf8'))
}

/** The commits of the first-parent lines that end at these. One process. */
export async function lineOf(door: GitDoor, tips: readonly CommitId[]): Promise<ReadonlySet<string>> {
  if (tips.length === 0) return new Set()
  const result = await git(door, {
    args: [...NO_COMMIT_GRAPH, 'rev-list', '--first-parent', ...tips],
    env: TRUE_TO_OBJECTS,
  })
  return new Set(result.stdout.toString('latin1').trimEnd().split('\n'))
}

/** Whether one commit is another's ancestor, by the commits themselves: a commit-graph file is not asked. */
export async function isAncestor(door: GitDoor, commit: CommitId, other: CommitId): Promise<boolean> {
  const result = await git(door, {
    args: [...NO_COMMIT_GRAPH, 'merge-base', '--is-ancestor', commit, other],
    env: TRUE_TO_OBJECTS,
    okCodes: [0, 1],
  })
  return result.exitCode === 0
}

/** The newest commit that is in the history of them all, or null. */
export async function commonAncestor(door: GitDoor, commits: readonly CommitId[]): Promise<CommitId | null> {
  const result = await git(door, {
    args: [...NO_COMMIT_GRAPH, 'merge-base', '--octopus', ...commits],
    env: TRUE_TO_OBJECTS,
    // 128: one of them is not there, as in a shallow clone.
    okCodes: [0, 1, 128],
  })
  const id = result.stdout.toString('latin1').split('\n', 1)[0] ?? ''
  return isObjectId(id) ? commitId(id) : null
}

/** The newest commits on the first-parent line of HEAD that changed a path, newest first; none on an unborn branch. One process. */
export async function commitsOfPath(door: GitDoor, path: string, most: number): Promise<readonly CommitId[]> {
  const args = [
    'log',
    '--first-parent',
    '-m',
    '--no-renames',
    '--format=%H',
    `--max-count=${most}`,
    'HEAD',
    '--',
    path,
  ]
  const result = await git(door, { args, env: withoutIndex(door), okCodes: [0, 128] })
  return result.stdout.toString('latin1').split('\n').filter(isObjectId).map(commitId)
}

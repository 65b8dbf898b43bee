import { type CommitId, commitId } from '../model/ids.ts'
import type { FileMode } from '../model/manifest.ts'
import { type GitDoor, git } from './door.ts'

/** A commit on the way from one commit to a later one, with the parent through which the way leads. */
export interface ChainLink {
  readonly commit: CommitId
  readonly parent: CommitId
  readonly isMerge: boolean
  readonly title: string
}

/**
 * One line of commits from `from` (left out) to `to`, oldest first: at a merge, the first parent that leads back to `from`.
 *
 * Costs one process that walks the commits between the two.
 *
 * @returns null if there are more than `most`.
 */
export async function commitChain(
  door: GitDoor,
  range: { readonly from: CommitId; readonly to: CommitId; readonly most: number },
): Promise<readonly ChainLink[] | null> {
  const args = ['log', '--ancestry-path', '--topo-order', '-z', '--format=%H %P%x09%s']
  const most = `--max-count=${range.most + 1}`
  const result = await git(door, { args: [...args, most, `${range.from}..${range.to}`, '--'] })
  const rows = new Map<string, { readonly parents: readonly string[]; readonly title: string }>()
  for (const row of result.stdout.toString('utf8').split('\0')) {
    const tab = row.indexOf('\t')
    if (tab === -1) continue
    const [id, ...parents] = row.slice(0, tab).split(' ')
    rows.set(id ?? '', { parents, title: row.slice(tab + 1) })
  }
  if (rows.size > range.most) return null
  const chain: ChainLink[] = []
  for (let at: string = range.to; at !== range.from; ) {
    const row = rows.get(at)
    const parent = row?.parents.find((id) => id === range.from || rows.has(id))
    if (row === undefined || parent === undefined) break
    chain.push({
      commit: commitId(at),
      parent: commitId(parent),
      isMerge: row.parents.length > 1,
      title: row.title,
    })
    at = parent
  }
  return chain.reverse()
}

/** One path that a commit changes. */
export interface LinkEntry {
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
  readonly path: string
  /** Where `status` is `renamed`: the path before. */
  readonly from: string
  readonly oldMode: FileMode
  readonly newMode: FileMode
  readonly oldBlob: string
  readonly newBlob: string
}

/** What each commit of a chain changes against its parent in the chain, renames found by git. One process. */
export async function chainEntries(
  door: GitDoor,
  chain: readonly ChainLink[],
): Promise<ReadonlyMap<CommitId, readonly LinkEntry[]>> {
  const result = await git(door, {
    args: ['diff-tree', '--stdin', '-r', '-z', '--raw', '--find-renames', '--no-abbrev', '--no-ext-diff'],
    input: chain.map((link) => `${link.commit} ${link.parent}\n`).join(''),
    env: { GIT_INDEX_FILE: '/nonexistent/galley' },
  })
  const fields = result.stdout.toString('utf8').split('\0')
  const found = new Map<CommitId, LinkEntry[]>(chain.map((link) => [link.commit, []]))
  let entries: LinkEntry[] = []
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] ?? ''
    if (!field.startsWith(':')) {
      if (field !== '') entries = found.get(commitId(field)) ?? []
      continue
    }
    const isRename = / R\d*$/.test(field)
    const from = fields[++i] ?? ''
    const path = isRename ? (fields[++i] ?? '') : from
    entries.push({ ...readEntry(field), path, from })
  }
  return found
}

/** `:<old mode> <new mode> <old id> <new id> <status>`; a change of type counts as a change. */
function readEntry(field: string): Omit<LinkEntry, 'path' | 'from'> {
  const [oldMode, newMode, oldBlob, newBlob, letter] = field.slice(1).split(' ')
  const status = ({ A: 'added', D: 'deleted', R: 'renamed' } as const)[letter?.[0] ?? ''] ?? 'modified'
  return {
    status,
    oldMode: oldMode as FileMode,
    newMode: newMode as FileMode,
    oldBlob: oldBlob ?? '',
    newBlob: newBlob ?? '',
  }
}

/**
 * Sorts commits of one history newest first: none stands after one of its ancestors. Those that are not in it are left out.
 *
 * @param hint - A commit whose ancestors are expected to hold none of them; where that is wrong the whole history is walked.
 */
export async function newestFirst(
  door: GitDoor,
  commits: readonly CommitId[],
  history: { readonly tip: CommitId; readonly hint: CommitId | null },
): Promise<readonly CommitId[]> {
  if (commits.length === 0) return []
  const wanted = new Set<string>(commits)
  const walk = async (limits: readonly string[]): Promise<readonly CommitId[]> => {
    const result = await git(door, { args: ['rev-list', '--topo-order', history.tip, ...limits, '--'] })
    const lines = result.stdout.toString('latin1').split('\n')
    return lines.filter((line) => wanted.has(line)).map(commitId)
  }
  const near = history.hint === null ? [] : await walk([`^${history.hint}`])
  return near.length === wanted.size ? near : walk([])
}

/** Commits in the history of `tip` whose message has exactly this line, newest first. Walks the whole history. */
export async function commitsWithLine(
  door: GitDoor,
  tip: CommitId,
  line: string,
): Promise<readonly CommitId[]> {
  const args = [
    'log',
    '--topo-order',
    '--fixed-strings',
    `--grep=${line}`,
    '-z',
    '--format=%H%n%B',
    tip,
    '--',
  ]
  const result = await git(door, { args })
  return result.stdout
    .toString('utf8')
    .split('\0')
    .map((record) => record.split('\n'))
    .filter(([, ...lines]) => lines.includes(line))
    .map(([id]) => commitId(id ?? ''))
}

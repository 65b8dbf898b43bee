import { dirname, join, resolve } from 'node:path'
import { fileStamp } from '../sys/file-facts.ts'
import { type GitDoor, git } from './door.ts'

/** One line of the user's configuration, as git would use it here. */
export interface ConfigEntry {
  /** `system`, `global`, `local` or `worktree`. */
  readonly scope: string
  /** Section and name in lower case, what stands between them as it was written. */
  readonly key: string
  /** A key without a value (`[core] bare`) means true. */
  readonly value: string
  /** It stands in a file that another one includes, perhaps on a condition. */
  readonly isIncluded: boolean
}

interface Snapshot {
  readonly entries: Promise<readonly ConfigEntry[]>
  /** What each file that git reads for it was like before; one that is not there counts too. */
  readonly stamps: Map<string, string>
}

/** By the caller's variables, which every door of an opened repository shares, and the git directory. */
const snapshots = new WeakMap<object, Map<string, Snapshot>>()

/**
 * The user's whole configuration in git's order, the last of several values the one that stands; without what galley itself tells git.
 *
 * One process, and none again until a file that it came from, could come from, or depends on by its conditions is another one.
 */
export async function configEntries(door: GitDoor): Promise<readonly ConfigEntry[]> {
  if (door.extraEnv !== undefined || door.promisor !== undefined || door.kind !== 'user')
    return (await readEntries(door)).entries
  const known = snapshots.get(door.inherited) ?? new Map<string, Snapshot>()
  snapshots.set(door.inherited, known)
  const kept = known.get(door.gitDir)
  if (kept !== undefined && isAsItWas(kept)) return kept.entries
  const stamps = new Map<string, string>()
  for (const file of likelyFiles(door)) stamps.set(file, fileStamp(file))
  const entries = readEntries(door).then((read) => {
    for (const file of read.files) if (!stamps.has(file)) stamps.set(file, fileStamp(file))
    return read.entries
  })
  known.set(door.gitDir, { entries, stamps })
  entries.catch(() => known.delete(door.gitDir))
  return entries
}

const isAsItWas = ({ stamps }: Snapshot): boolean =>
  [...stamps].every(([file, stamp]) => fileStamp(file) === stamp)

/** Where git looks, whether something is there or not. The branch decides about `includeIf "onbranch:…"`. */
function likelyFiles({ gitDir, inherited }: GitDoor): readonly string[] {
  const home = inherited['HOME'] ?? ''
  const own = ['config', 'config.worktree', 'HEAD', 'reftable/tables.list'].map((name) => join(gitDir, name))
  const global = inherited['GIT_CONFIG_GLOBAL']
  const ofUser =
    global === undefined
      ? [join(home, '.gitconfig'), join(inherited['XDG_CONFIG_HOME'] || join(home, '.config'), 'git/config')]
      : [global]
  return [...own, ...ofUser, inherited['GIT_CONFIG_SYSTEM'] ?? '/etc/gitconfig'].filter((file) => file !== '')
}

async function readEntries(
  door: GitDoor,
): Promise<{ readonly entries: readonly ConfigEntry[]; readonly files: ReadonlySet<string> }> {
  const { stdout } = await git(door, {
    args: ['config', '--list', '--show-scope', '--show-origin', '--includes', '-z'],
    env: { GIT_CONFIG_COUNT: '0' },
  })
  const fields = stdout.toString('utf8').split('\0')
  const ownFiles = new Set(likelyFiles(door))
  const entries: ConfigEntry[] = []
  const files = new Set<string>()
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const [scope = '', origin = '', entry = ''] = fields.slice(i, i + 3)
    const end = entry.indexOf('\n')
    const key = end === -1 ? entry : entry.slice(0, end)
    const value = end === -1 ? 'true' : entry.slice(end + 1)
    const isFile = origin.startsWith('file:')
    const file = resolve(door.workTree ?? door.gitDir, origin.slice('file:'.length))
    entries.push({ scope, key, value, isIncluded: isFile && !ownFiles.has(file) })
    if (!isFile) continue
    files.add(file)
    // One that is included and not there yet.
    if (/^include(?:if\..*)?\.path$/s.test(key))
      files.add(
        resolve(
          dirname(file),
          value.startsWith('~/') ? join(door.inherited['HOME'] ?? '', value.slice(2)) : value,
        ),
      )
  }
  return { entries, files }
}

/** The last value of a key that holds a path; null = git must be asked: it begins with what only git resolves (`~user/`, `%(prefix)/`). */
export function plainPath(entries: readonly ConfigEntry[], key: string): ConfigEntry | undefined | null {
  const last = entries.findLast((entry) => entry.key === key)
  return last === undefined || !/^[~%:]/.test(last.value) ? last : null
}

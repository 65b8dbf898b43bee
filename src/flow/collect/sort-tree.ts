import { basename } from 'node:path'
import { isUntouched, type StatEntry } from '../../git/index-stats.ts'
import type { ListedEntry } from '../../git/list-tree.ts'
import { refuse } from '../../model/error.ts'
import { checkPath } from '../../policy/paths.ts'
import { coveredBy } from '../../store/covered-paths.ts'
import { type BytePath, bytePath, type FoundEntry, textOfBytes, walkTree } from '../../sys/walk-tree.ts'

/** What galley knows of a tree from the moment that it handed the tree out. None of it lies where the tree's user writes. */
export interface FilesBefore {
  /** By path, what galley's own index said of each file then. Empty = every file is read. */
  readonly stats: ReadonlyMap<BytePath, StatEntry>
  /** Places of what setup and `.worktreeinclude` brought. */
  readonly brought: readonly string[]
  /** By the file system's clock; what was brought is older. */
  readonly atMs: number
  /** Whether a repository that stands in the tree was made a submodule of it. Default: none was. */
  readonly isSubmodule?: (path: BytePath) => boolean
}

/** Something that is kept beside the change. */
export interface Beside {
  readonly path: BytePath
  readonly why: string
}

/** What stands in a tree, sorted by what is to become of it. */
export interface SortedTree {
  /** May differ from the base; `base` = what stands there in it. */
  readonly candidates: readonly (FoundEntry & { readonly base: ListedEntry })[]
  /** Files and links under names that a change can hold, and that are not in the base. */
  readonly untracked: readonly FoundEntry[]
  /** Tracked paths that are gone. */
  readonly gone: readonly BytePath[]
  /** Tracked paths that a sparse checkout left out, and that do not stand there now. */
  readonly unseen: readonly BytePath[]
  /** Submodules whose directory stands: of the base, and those that were made. */
  readonly submodules: readonly BytePath[]
  readonly beside: readonly Beside[]
  /** Everything else that stays where it is: as the base has it, or as it was brought. */
  readonly settled: readonly BytePath[]
}

/** More than any tree that is at work holds. */
const ENTRIES_MAX = 3_000_000

const WHY = {
  special: 'it is a pipe, a socket or a device',
  closed: 'it cannot be listed',
  repository: 'it is a repository of its own',
  brought: 'it stands among what was brought into the tree',
  name: 'its name is not UTF-8',
} as const

/**
 * Looks at everything in a tree by its names and inodes. Reads no file, and asks nothing of what the tree's user wrote for git.
 *
 * @throws GalleyError `too-large`, where it holds more than anybody could keep.
 */
export function sortTree(
  root: string,
  base: ReadonlyMap<BytePath, ListedEntry>,
  before: FilesBefore,
): SortedTree {
  const sorting = new Sorting(base, before)
  walkTree(root, {
    atDirectory: (path, names) => sorting.atDirectory(path, names),
    found: (entry) => sorting.found(entry),
  })
  return sorting.result()
}

class Sorting {
  private readonly base: ReadonlyMap<BytePath, ListedEntry>
  private readonly before: FilesBefore
  private readonly isBrought: (path: BytePath) => boolean
  private readonly isFolded: (path: BytePath) => boolean
  private directories: ReadonlySet<BytePath> | null = null
  private readonly seen = new Set<BytePath>()
  /** Directories of which nothing is known. */
  private readonly hidden: BytePath[] = []
  private count = 0
  private readonly sorted = {
    candidates: [] as (FoundEntry & { readonly base: ListedEntry })[],
    untracked: [] as FoundEntry[],
    submodules: [] as BytePath[],
    beside: [] as Beside[],
    settled: [] as BytePath[],
  }

  constructor(base: ReadonlyMap<BytePath, ListedEntry>, before: FilesBefore) {
    this.base = base
    this.before = before
    this.isBrought = coveredBy(before.brought.map(bytePath))
    // A directory outside the sparse cone is one entry of the index.
    this.isFolded = coveredBy([...before.stats].filter(([, s]) => s.mode === '040000').map(([path]) => path))
  }

  atDirectory(path: BytePath, names: ReadonlySet<string>): 'enter' | 'whole' | 'skip' {
    const isOfBase = this.base.get(path)?.mode === '160000'
    if (isOfBase || (names.has('.git') && this.before.isSubmodule?.(path) === true)) {
      this.seen.add(path)
      this.sorted.submodules.push(path)
      return names.size === 0 ? 'skip' : 'whole'
    }
    if (!names.has('.git') || this.holdsTracked(path)) return 'enter'
    return 'whole'
  }

  found(entry: FoundEntry): void {
    if (++this.count > ENTRIES_MAX)
      refuse('too-large', `the tree holds more than ${ENTRIES_MAX} files`, { files: this.count })
    const { path, kind } = entry
    const base = this.base.get(path)
    if (kind === 'special' || kind === 'closed' || kind === 'directory') {
      // What stands in the place of a tracked file does not say that the file is to go.
      this.seen.add(path)
      this.hidden.push(`${path}/`)
      const name = kind === 'special' ? path : `${path}/`
      this.sorted.beside.push({ path: name, why: kind === 'directory' ? WHY.repository : WHY[kind] })
    } else if (base !== undefined) this.foundTracked(entry, base)
    else this.foundNew(entry)
  }

  private foundTracked(entry: FoundEntry, base: ListedEntry): void {
    this.seen.add(entry.path)
    const stat = this.before.stats.get(entry.path)
    if (stat?.id === base.id && isUntouched(stat, entry.stat)) this.sorted.settled.push(entry.path)
    else this.sorted.candidates.push({ ...entry, base })
  }

  private foundNew(entry: FoundEntry): void {
    const { path, stat } = entry
    if (this.isBrought(path)) {
      if (stat.ctimeMs <= this.before.atMs) this.sorted.settled.push(path)
      else this.sorted.beside.push({ path, why: WHY.brought })
      return
    }
    const why = whyNot(path)
    if (why === null) this.sorted.untracked.push(entry)
    else this.sorted.beside.push({ path, why })
  }

  /** Whether a directory holds tracked files: a repository that was begun there does not take them away from this one. */
  private holdsTracked(path: BytePath): boolean {
    this.directories ??= directoriesOf(this.base.keys())
    return this.directories.has(path)
  }

  result(): SortedTree {
    const isHidden = coveredBy(this.hidden)
    const stays = (path: BytePath) => this.seen.has(path) || isHidden(path) || this.isFolded(path)
    const absent = [...this.base.keys()].filter((path) => !stays(path))
    const isLeftOut = (path: BytePath) => this.before.stats.get(path)?.skipWorktree === true
    return {
      ...this.sorted,
      gone: absent.filter((path) => !isLeftOut(path)),
      unseen: absent.filter(isLeftOut),
    }
  }
}

function whyNot(path: BytePath): string | null {
  const text = textOfBytes(path)
  if (text === null) return WHY.name
  // The `.git` of a repository that was begun among tracked files.
  if (text.endsWith('/.git') || text.includes('/.git/')) return WHY.repository
  return checkPath(text)?.message ?? null
}

/** Every directory above some paths. */
export function directoriesOf(paths: Iterable<BytePath>): ReadonlySet<BytePath> {
  const found = new Set<BytePath>()
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const directory = path.slice(0, end)
      if (found.has(directory)) break
      found.add(directory)
    }
  }
  return found
}

/** Files by which git learns what to leave out and how to convert; it would wait for a pipe of such a name. */
export const isRuleFile = (path: BytePath): boolean =>
  ['.gitignore', '.gitattributes'].includes(basename(path))

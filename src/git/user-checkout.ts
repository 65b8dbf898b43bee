import { join } from 'node:path'
import { readFileOrNull } from '../sys/small-files.ts'
import { type ConfigEntry, configEntries } from './config-snapshot.ts'
import { configBoolean } from './config-values.ts'
import { type GitDoor, git } from './door.ts'

/** A ref of the user's. */
export interface UserRef {
  readonly ref: string
  readonly object: string
  /** Another ref that it stands for, such as `refs/remotes/origin/HEAD`; null = it is none such. */
  readonly target: string | null
}

/** What of a repository its hooks may ask for beside the files: refs, and the settings that are its own. */
export interface UserCheckout {
  readonly refs: readonly UserRef[]
  readonly settings: readonly { readonly key: string; readonly value: string }[]
  /** null = every file is checked out. */
  readonly sparse: SparseRules | null
}

/** Which files a sparse checkout holds. */
export interface SparseRules {
  /** The file `info/sparse-checkout`. */
  readonly text: string
  readonly isCone: boolean
}

/** The rest is somebody's own work (`stash`, `bisect`) or shows other objects than there are (`replace`). */
const PREFIXES = ['refs/heads/', 'refs/remotes/', 'refs/tags/', 'refs/notes/'] as const

/** Reads what the user's repository shows to a hook. Two processes at once; no object is read. */
export async function readUserCheckout(door: GitDoor): Promise<UserCheckout> {
  const [refs, settings] = await Promise.all([readRefs(door), configEntries(door)])
  return {
    refs,
    settings: [
      ...boundToPlace(settings),
      ...settings.filter(({ scope }) => scope === 'local' || scope === 'worktree'),
    ],
    sparse: await sparseRules(door, settings),
  }
}

/**
 * What the user's own files say for this repository alone, by `includeIf` and the place of its git directory. Of a key that an included file
 * brings every value goes along, so that the last one is the same.
 */
function boundToPlace(settings: readonly ConfigEntry[]): readonly ConfigEntry[] {
  const global = settings.filter(({ scope }) => scope === 'global' || scope === 'system')
  if (!global.some(({ key }) => key.startsWith('includeif.'))) return []
  const keys = new Set(global.flatMap(({ key, isIncluded }) => (isIncluded ? [key] : [])))
  return global.filter(({ key }) => keys.has(key))
}

async function sparseRules(door: GitDoor, settings: UserCheckout['settings']): Promise<SparseRules | null> {
  const values = new Map(settings.map(({ key, value }) => [key, value]))
  if (!configBoolean(values, 'core.sparsecheckout', false)) return null
  const bytes = await readFileOrNull(join(door.gitDir, 'info', 'sparse-checkout'))
  // Whatever the bytes are, they are written as they were read.
  if (bytes === null) return null
  return {
    text: bytes.toString('latin1'),
    isCone: configBoolean(values, 'core.sparsecheckoutcone', false),
  }
}

async function readRefs(door: GitDoor): Promise<readonly UserRef[]> {
  const format = '--format=%(objectname) %(refname) %(symref)'
  const { stdout } = await git(door, { args: ['for-each-ref', format, ...PREFIXES] })
  return stdout
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const [object, ref, target] = line.split(' ')
      // A name that is not UTF-8 cannot be written under its own bytes.
      if (!object || !ref || ref.includes('\ufffd')) return []
      return [{ ref, object, target: target || null }]
    })
}

import { configEntries } from './config-snapshot.ts'
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
}

/** The rest is somebody's own work (`stash`, `bisect`) or shows other objects than there are (`replace`). */
const PREFIXES = ['refs/heads/', 'refs/remotes/', 'refs/tags/', 'refs/notes/'] as const

/** Reads what the user's repository shows to a hook. Two processes at once; no object is read. */
export async function readUserCheckout(door: GitDoor): Promise<UserCheckout> {
  const [refs, settings] = await Promise.all([readRefs(door), readSettings(door)])
  return { refs, settings }
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

/** The settings of the repository and of this work tree, with the files that they include. */
async function readSettings(door: GitDoor): Promise<UserCheckout['settings']> {
  const entries = await configEntries(door)
  return entries.filter(({ scope }) => scope === 'local' || scope === 'worktree')
}

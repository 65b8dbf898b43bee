import { join, resolve } from 'node:path'
import { configEntries, plainPath } from './config-snapshot.ts'
import { type GitDoor, git } from './door.ts'
import type { Repository } from './open-repository.ts'
import { gitVersion } from './version.ts'

/** Where git looks for hooks here. */
export interface HooksPath {
  /** Absolute. */
  readonly directory: string
  /** Where `core.hooksPath` is set (`system`, `global`, `local`, `worktree`, …), or null. */
  readonly scope: string | null
}

/**
 * Reads `core.hooksPath` as git does: a relative one counts from where hooks run, the top of the work tree. No process of its own for a
 * plain path.
 */
export async function hooksPath({ door, commonDir, workTree, gitDir }: Repository): Promise<HooksPath> {
  const known = plainPath(await configEntries(door), 'core.hookspath')
  if (known === undefined || known?.value === '') return { directory: join(commonDir, 'hooks'), scope: null }
  if (known !== null) return { directory: resolve(workTree ?? gitDir, known.value), scope: known.scope }
  const found = await git(door, {
    args: ['config', '--show-scope', '--type=path', '-z', '--get', 'core.hooksPath'],
    // Without the door's own core.hooksPath, which is there to switch hooks off.
    withHooks: true,
    okCodes: [0, 1],
  })
  const [scope = '', value = ''] = found.stdout.toString('utf8').split('\0')
  if (found.exitCode !== 0 || value === '') return { directory: join(commonDir, 'hooks'), scope: null }
  return { directory: resolve(workTree ?? gitDir, value), scope }
}

/** Whether this git reads hooks from its configuration: `hook.<name>.command` and `hook.<name>.event`, since 2.54. */
export async function readsConfiguredHooks(door: GitDoor): Promise<boolean> {
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(await gitVersion(door)) ?? []
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 54)
}

/** Sets variables of the repository's own configuration file. Only where the user asked for that. */
export async function setLocalConfig(
  door: GitDoor,
  values: readonly (readonly [key: string, value: string])[],
): Promise<void> {
  for (const [key, value] of values) await git(door, { args: ['config', '--local', key, value] })
}

/** Takes variables out of the repository's own configuration file; one that is not there is no failure. */
export async function unsetLocalConfig(door: GitDoor, keys: readonly string[]): Promise<void> {
  for (const key of keys)
    await git(door, { args: ['config', '--local', '--unset-all', key], okCodes: [0, 5] })
}

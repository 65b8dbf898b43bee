import { type GitDoor, git } from './door.ts'

/** Where git looks for hooks here. */
export interface HooksPath {
  /** Absolute. */
  readonly directory: string
  /** Where `core.hooksPath` is set (`system`, `global`, `local`, `worktree`, …), or null. */
  readonly scope: string | null
}

/** Asks git itself. Two processes at once; reads only. */
export async function hooksPath(door: GitDoor): Promise<HooksPath> {
  const [path, config] = await Promise.all([
    // Without the door's own core.hooksPath, which is there to switch hooks off.
    git(door, { args: ['rev-parse', '--path-format=absolute', '--git-path', 'hooks'], withHooks: true }),
    git(door, {
      args: ['config', '--show-scope', '-z', '--get', 'core.hooksPath'],
      withHooks: true,
      okCodes: [0, 1],
    }),
  ])
  const [scope] = config.stdout.toString('utf8').split('\0')
  return {
    directory: path.stdout.toString('utf8').replace(/\n$/, () => ''),
    scope: config.exitCode === 0 && scope ? scope : null,
  }
}

/** Whether this git reads hooks from its configuration: `hook.<name>.command` and `hook.<name>.event`, since 2.54. */
export async function readsConfiguredHooks(door: GitDoor): Promise<boolean> {
  const said = (await git(door, { args: ['version'] })).stdout.toString('utf8')
  const [, major = '0', minor = '0'] = /^git version (\d+)\.(\d+)/.exec(said) ?? []
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

import { type GitDoor, git } from './door.ts'

/**
 * Values of the user's configuration as git would use it here, by lower-case key; the last of several stands.
 */
export type ConfigValues = ReadonlyMap<string, string>

/**
 * Reads every variable whose key matches `pattern` (a POSIX regular expression over the lower-case key), in
 * one process.
 *
 * A variable without `=` has the value `true`, as git reads it.
 */
export async function configValues(door: GitDoor, pattern: string): Promise<ConfigValues> {
  const result = await git(door, {
    args: ['config', '-z', '--get-regexp', pattern],
    okCodes: [0, 1],
    // Without what galley tells git on top: that is no configuration of the user's.
    env: { GIT_CONFIG_COUNT: '0' },
  })
  const values = new Map<string, string>()
  for (const record of result.stdout.toString('utf8').split('\0')) {
    if (record === '') continue
    const end = record.indexOf('\n')
    if (end === -1) values.set(record, 'true')
    else values.set(record.slice(0, end), record.slice(end + 1))
  }
  return values
}

/** A boolean as git reads it; `fallback` when the variable is not set or is something else. */
export function configBoolean(values: ConfigValues, key: string, fallback: boolean): boolean {
  const text = values.get(key)?.toLowerCase()
  if (text === undefined) return fallback
  if (['true', 'yes', 'on', '1'].includes(text)) return true
  if (['false', 'no', 'off', '0', ''].includes(text)) return false
  return fallback
}

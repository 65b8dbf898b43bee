import { configEntries } from './config-snapshot.ts'
import type { GitDoor } from './door.ts'

/**
 * Values of the user's configuration as git would use it here, by lower-case key; the last of several stands.
 */
export type ConfigValues = ReadonlyMap<string, string>

/**
 * Every variable whose key matches `pattern`. One process where nothing was read yet, see `configEntries`.
 */
export async function configValues(door: GitDoor, pattern: string): Promise<ConfigValues> {
  const wanted = new RegExp(pattern, 's')
  const entries = await configEntries(door)
  return new Map(entries.filter(({ key }) => wanted.test(key)).map(({ key, value }) => [key, value]))
}

/** A boolean as git reads it; `fallback` when the variable is not set or is something else. */
export function configBoolean(values: ConfigValues, key: string, fallback: boolean): boolean {
  const text = values.get(key)?.toLowerCase()
  if (text === undefined) return fallback
  if (['true', 'yes', 'on', '1'].includes(text)) return true
  if (['false', 'no', 'off', '0', ''].includes(text)) return false
  return fallback
}

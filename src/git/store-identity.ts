import { configValues } from './config-values.ts'
import { type GitDoor, git } from './door.ts'
import type { Person } from './fast-import.ts'

/** Tells the store who the user is, for commits that are made in its scratch trees: their own configuration may say so in their repository alone. */
export async function setIdentity(store: GitDoor, who: Person): Promise<void> {
  const set = await configValues(store, '^user\\.(name|email)$')
  for (const [key, value] of [
    ['user.name', who.name],
    ['user.email', who.email],
  ] as const) {
    // A value that begins with a hyphen would be read as an option.
    if (set.get(key) === value || value.startsWith('-')) continue
    await git(store, { args: ['config', '--replace-all', key, value] })
  }
}

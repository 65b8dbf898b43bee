import type { Person } from '../model/person.ts'
import { configValues } from './config-values.ts'
import { type GitDoor, git } from './door.ts'

/**
 * Tells the store's git what commits in its scratch trees need: who the user is (their own configuration may say so in their
 * repository alone), and that it is not to collect garbage by itself.
 */
export async function configureStore(store: GitDoor, who: Person): Promise<void> {
  const wanted = new Map([
    ['user.name', who.name],
    ['user.email', who.email],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
  ])
  const set = await configValues(store, '^(user\\.(name|email)|gc\\.auto|maintenance\\.auto)$')
  for (const [key, value] of wanted) {
    // A value that begins with a hyphen would be read as an option.
    if (set.get(key) === value || value.startsWith('-')) continue
    // 255: another process holds the lock of the file, to write the same.
    await git(store, { args: ['config', '--replace-all', key, value], okCodes: [0, 255] })
  }
}

import type { ObjectReader } from '../git/objects.ts'
import { listRefs } from '../git/refs.ts'
import type { Store } from './open-store.ts'

/** Where a landing keeps what the user had in files that it wrote: `working/<path>` and `index/<path>` in a commit of the store. */
const BACKUP_PREFIX = 'refs/galley/backup/'

/** @param label - Id of the change that lands. */
export const backupRef = (label: string, seconds: number, name: string): string =>
  `${BACKUP_PREFIX}${label}/${seconds}-${name}`

/** A command that prints a file of a backup, from any directory. */
export const printCommand = (
  storeDir: string,
  ref: string,
  where: 'working' | 'index',
  path: string,
): string => `git --git-dir=${shellWord(storeDir)} cat-file blob ${shellWord(`${ref}:${where}/${path}`)}`

const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", () => "'\\''")}'`

/** The command for the newest working file of a path that a change's landings kept; null = none is kept (any more). */
export async function keptWorkingFile(
  store: Store,
  reader: ObjectReader,
  label: string,
  path: string,
): Promise<string | null> {
  const rows = await listRefs(store.door, `${BACKUP_PREFIX}${label}/`)
  for (const { ref, object } of [...rows].reverse()) {
    const found = await reader.info(`${object}:working/${path}`)
    if (found?.type === 'blob') return printCommand(store.door.gitDir, ref, 'working', path)
  }
  return null
}

import { join } from 'node:path'
import { isObjectId } from '../model/ids.ts'
import { agesIn } from '../sys/file-ages.ts'
import { readFileOrNull } from '../sys/small-files.ts'
import type { Store } from './open-store.ts'

/** Objects that no ref leads to and that are needed: what sessions read and were sent. */
export async function sessionObjects(store: Store): Promise<readonly string[]> {
  const found = new Set<string>()
  const sessions = join(store.galleyDir, 'sessions')
  for (const { name } of await agesIn(sessions)) {
    const bytes = await readFileOrNull(join(sessions, name))
    for (const id of idsIn(bytes?.toString('latin1') ?? '')) found.add(id)
  }
  return [...found].filter(isObjectId)
}

/** Whatever a journal calls a blob, in an entry of any kind. */
const idsIn = (text: string): readonly string[] =>
  [...text.matchAll(/"blob":"([0-9a-f]{40,64})"/g)].map((match) => match[1] ?? '')

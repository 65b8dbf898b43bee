import { join } from 'node:path'
import { readFileOrNull } from '../sys/small-files.ts'
import type { GitDoor } from './door.ts'
import { headBranch } from './refs.ts'

/**
 * The branch that HEAD names, or null when it is detached: by reading the file, without a process, where refs
 * are files. Meant for the moment at which locks are held.
 */
export async function currentHead(door: GitDoor): Promise<string | null> {
  const text = (await readFileOrNull(join(door.gitDir, 'HEAD')))?.toString('utf8').trim() ?? ''
  // With reftable the file is there for old programs' sake and says this.
  const isReal = !text.includes('refs/heads/.invalid')
  if (isReal && text.startsWith('ref: ')) return text.slice('ref: '.length).trim()
  if (isReal && /^[0-9a-f]{40,64}$/.test(text)) return null
  return headBranch(door)
}

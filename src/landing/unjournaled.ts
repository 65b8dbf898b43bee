import { join } from 'node:path'
import type { Repository } from '../git/open-repository.ts'
import { namesIn, readFileOrNull, removeOwnDirectory, writeOnce } from '../sys/durable-files.ts'
import { resolveFile } from '../sys/index-snapshot.ts'
import { asideDirectories } from './landing-objects.ts'
import { unlockIndex } from './locks.ts'
import { objectsDirectory } from './repository-facts.ts'

/** What exists outside the landing's folder before its journal does. */
export interface EarlyTraces {
  /** Set when the index is locked first. */
  readonly indexFile: string | null
  /** Places for staged files on other devices. */
  readonly stages: readonly string[]
}

const tracesFile = (directory: string): string => join(directory, 'traces.json')

/** Says, before it is made, what a landing without a journal may leave. In one step: the index may be locked already. */
export async function noteTraces(directory: string, traces: EarlyTraces): Promise<void> {
  await writeOnce(tracesFile(directory), JSON.stringify(traces))
}

/**
 * Removes a landing that was cut off before it had a journal: nothing of the user's had moved.
 *
 * Where its notes did not reach the device before power was lost, what it may have left is looked for by name and content: its id.
 */
export async function removeUnjournaled(
  { commonDir, gitDir }: Pick<Repository, 'commonDir' | 'gitDir'>,
  directory: string,
  id: string,
): Promise<void> {
  const traces = readTraces(await readFileOrNull(tracesFile(directory)))
  const indexes = traces?.indexFile ? [traces.indexFile] : await indexFiles(commonDir, gitDir)
  for (const indexFile of indexes) unlockIndex(indexFile, id)
  const stages = traces?.stages ?? asideDirectories(objectsDirectory(commonDir), directory)
  for (const stage of stages) await removeOwnDirectory(stage)
  await removeOwnDirectory(directory)
}

/** null = there are none, or they are not whole. */
function readTraces(bytes: Buffer | null): EarlyTraces | null {
  try {
    const value = bytes === null ? null : (JSON.parse(bytes.toString('utf8')) as Partial<EarlyTraces> | null)
    const { indexFile, stages } = value ?? {}
    const isWhole = (indexFile === null || typeof indexFile === 'string') && Array.isArray(stages)
    return isWhole ? { indexFile, stages } : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** The index of this work tree, and those of the repository's others. */
async function indexFiles(commonDir: string, gitDir: string): Promise<readonly string[]> {
  const worktrees = join(commonDir, 'worktrees')
  const gitDirs = new Set([gitDir, commonDir])
  for (const name of await namesIn(worktrees)) gitDirs.add(join(worktrees, name))
  return [...gitDirs].map((each) => resolveFile(join(each, 'index')))
}

import { join } from 'node:path'
import type { Repository } from '../git/open-repository.ts'
import { removeOwnDirectory } from '../sys/directories.ts'
import { readPlainFile } from '../sys/plain-file.ts'
import { writeOnce } from '../sys/small-files.ts'
import { asideDirectories } from './landing-objects.ts'
import { unlockIndex } from './locks.ts'
import { isOwnStage, ownIndexFiles } from './own-places.ts'
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
 * Where its notes did not reach the device before power was lost, or say what no landing notes, what it may have left is looked
 * for by name and content: its id.
 */
export async function removeUnjournaled(
  { commonDir, gitDir }: Pick<Repository, 'commonDir' | 'gitDir'>,
  directory: string,
  id: string,
): Promise<void> {
  const asides = asideDirectories(objectsDirectory(commonDir), directory)
  const own = await ownIndexFiles(commonDir, gitDir)
  const bytes = readPlainFile(tracesFile(directory))
  const traces = readTraces(bytes instanceof Buffer ? bytes : null, (indexFile) => own.includes(indexFile))
  for (const indexFile of traces?.indexFile ? [traces.indexFile] : own) unlockIndex(indexFile, id)
  for (const stage of asides) await removeOwnDirectory(stage)
  for (const stage of traces?.stages ?? []) {
    if (!asides.includes(stage) && (await isOwnStage(stage, id))) await removeOwnDirectory(stage)
  }
  await removeOwnDirectory(directory)
}

/** null = there are none, or they are not whole, or they name an index that is not this repository's. */
function readTraces(bytes: Buffer | null, isOwnIndex: (file: string) => boolean): EarlyTraces | null {
  try {
    const value = bytes === null ? null : (JSON.parse(bytes.toString('utf8')) as Partial<EarlyTraces> | null)
    const { indexFile, stages } = value ?? {}
    const isIndex = indexFile === null || (typeof indexFile === 'string' && isOwnIndex(indexFile))
    const isWhole = isIndex && Array.isArray(stages) && stages.every((stage) => typeof stage === 'string')
    return isWhole ? { indexFile, stages } : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

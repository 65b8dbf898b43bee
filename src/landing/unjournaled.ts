import { join } from 'node:path'
import { readFileOrNull, removeOwnDirectory, writeOnce } from '../sys/durable-files.ts'
import { unlockIndex } from './locks.ts'

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

/** Removes a landing that was cut off before it had a journal: nothing of the user's had moved. */
export async function removeUnjournaled(directory: string, id: string): Promise<void> {
  const bytes = await readFileOrNull(tracesFile(directory))
  const traces =
    bytes === null || bytes.length === 0 ? null : (JSON.parse(bytes.toString('utf8')) as EarlyTraces)
  if (traces?.indexFile) unlockIndex(traces.indexFile, id)
  for (const stage of traces?.stages ?? []) await removeOwnDirectory(stage)
  await removeOwnDirectory(directory)
}

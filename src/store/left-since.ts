import { join } from 'node:path'
import { makePrivateDirectory, removeDirectoryIfEmpty } from '../sys/directories.ts'
import { agesIn, removeQuietly } from '../sys/file-ages.ts'
import { writeNew } from '../sys/lock-file.ts'
import type { Store } from './open-store.ts'

/** One empty file for each run that left something: as old as its leaving. A commit's own date says nothing, it may be years old. */
const notesIn = (store: Store): string => join(store.galleyDir, 'left')

/** Remembers that a run has just left something, unless that is known. */
export async function noteLeft(store: Store, run: string): Promise<void> {
  await makePrivateDirectory(notesIn(store))
  if (!(await leftSince(store)).has(run)) writeNew(join(notesIn(store), run), '')
}

/** When each run left what it did, in milliseconds since the epoch. */
export async function leftSince(store: Store): Promise<ReadonlyMap<string, number>> {
  return new Map((await agesIn(notesIn(store))).map(({ name, modifiedMs }) => [name, modifiedMs]))
}

/** Begins to count for what nobody took note of, and forgets runs of which nothing is left. */
export async function renewNotes(store: Store, runs: ReadonlySet<string>): Promise<void> {
  const known = await leftSince(store)
  for (const run of runs) if (!known.has(run)) await noteLeft(store, run)
  for (const run of known.keys()) if (!runs.has(run)) removeQuietly(join(notesIn(store), run))
  removeDirectoryIfEmpty(notesIn(store))
}

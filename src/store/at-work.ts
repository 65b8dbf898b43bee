import { basename, join } from 'node:path'
import { asSystemRefusal, errorCode, isAbsent } from '../model/errno.ts'
import type { Clock } from '../sys/clock.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { agesIn, removeQuietly, setModified } from '../sys/file-ages.ts'
import { readTextOrNull, writeNew } from '../sys/lock-file.ts'
import { moveFile } from '../sys/move-file.ts'
import { livenessOf, ownIdentity, type ProcessIdentity } from '../sys/process-identity.ts'
import { refuseForeignFolder } from './own-folder.ts'

/** A process that says nothing of itself was killed while it began to, once its file is this old. */
const BEGINNING_MS = 10_000

/** One of another machine that has been silent for that long has ended. */
const SILENCE_MS = 24 * 3_600_000

/** Ends the names of files of dead ones whose locks are gone; what they were making waits until nobody else is at work. */
const UNLOCKED = '.unlocked'

/** Ends the names of files of processes that were refused something by the system in the middle: what they were making lies about, too. */
const FAILED = '.failed'

/** This process among those that write in one store. */
export interface AtWork {
  /** The others that have begun and not ended, as they are now; where galley's folder was given another name, there. */
  readonly others: (galleyDir?: string) => Promise<Others>
  /** Says it again, as each verb does: one that is silent for long, or whose word somebody took away, counts for nothing. */
  readonly renew: () => Promise<void>
  /** Takes note that the locks of dead ones are gone. */
  readonly markUnlocked: (dead: readonly string[]) => Promise<void>
  /** Takes the files of dead ones away. */
  readonly forget: (dead: readonly string[]) => void
  /** This process writes nothing more. `hasFailed`: it may have left something behind. */
  readonly end: (hasFailed: boolean) => Promise<void>
}

export interface Others {
  readonly alive: number
  /** On other machines, or in other containers: nothing can be told of them. */
  readonly unknown: number
  /** The files of those that were killed. */
  readonly dead: readonly string[]
  /** Whether locks of theirs may lie about. */
  readonly mayHoldLocks: boolean
}

/**
 * Says that this process writes in the store, before it does, so that the next one can tell that it was killed: what lies about then is
 * nobody's.
 *
 * Leaves one small file in `<galley dir>/at-work` until `end`. Costs no fsync: what a power cut takes along was never followed by a write.
 *
 * @throws GalleyError `unsupported-repository`, where something else stands in the place of galley's folder.
 */
export async function beginWork(galleyDir: string, clock: Clock): Promise<AtWork> {
  const directory = placeOf(galleyDir)
  const own = join(directory, Buffer.from(clock.random(12)).toString('hex'))
  const say = async () => {
    refuseForeignFolder(galleyDir)
    await makePrivateDirectory(directory)
    writeNew(own, JSON.stringify(ownIdentity()))
  }
  await say()
  return {
    others: (place = galleyDir) => whoIsAtWork(place, clock, join(placeOf(place), basename(own))),
    renew: async () => {
      try {
        setModified(own, clock.now())
      } catch (error) {
        if (!isAbsent(error)) throw error
        await say()
      }
    },
    markUnlocked: async (dead) => {
      for (const file of dead) if (!file.endsWith(UNLOCKED)) await moveFile(file, `${file}${UNLOCKED}`)
    },
    forget: (dead) => {
      for (const file of dead) removeQuietly(file)
    },
    end: async (hasFailed) => {
      if (!hasFailed) return removeQuietly(own)
      // Where not even a name can be changed, it counts as killed once the process is gone.
      await moveFile(own, `${own}${FAILED}`).catch(systemRefusalOnly)
    },
  }
}

/**
 * Those who have begun to write in the store and not ended.
 *
 * @param own - The file of the process that asks; null = it has none.
 */
export async function whoIsAtWork(galleyDir: string, clock: Clock, own: string | null): Promise<Others> {
  const directory = placeOf(galleyDir)
  const found = { alive: 0, unknown: 0, dead: [] as string[] }
  for (const { name, modifiedMs } of await agesIn(directory)) {
    const file = join(directory, name)
    if (file === own) continue
    const state = stateOf(file, clock.now() - modifiedMs)
    if (state === 'dead') found.dead.push(file)
    else found[state]++
  }
  return { ...found, mayHoldLocks: !found.dead.every((file) => file.endsWith(UNLOCKED)) }
}

const placeOf = (galleyDir: string): string => join(galleyDir, 'at-work')

function systemRefusalOnly(error: unknown): void {
  if (asSystemRefusal(error) === error) throw error
}

function stateOf(file: string, ageMs: number): 'alive' | 'dead' | 'unknown' {
  if (basename(file).includes(FAILED)) return 'dead'
  const silent = ageMs > SILENCE_MS ? 'dead' : 'unknown'
  const begun = ageMs > BEGINNING_MS ? 'dead' : 'unknown'
  try {
    const text = readTextOrNull(file) ?? ''
    const liveness = text === '' ? begun : livenessOf(JSON.parse(text) as ProcessIdentity)
    return liveness === 'unknown' ? silent : liveness
  } catch (error) {
    if (error instanceof SyntaxError) return begun
    // Of another account.
    if (errorCode(error) === 'EACCES') return silent
    throw error
  }
}

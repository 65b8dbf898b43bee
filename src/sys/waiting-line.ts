import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errorCode } from '../model/errno.ts'
import { type Holder, renameUnlessSwept } from './exclusive-file.ts'
import { ownIdentity } from './process-identity.ts'

/** A place in the line of those who wait for an exclusive file. */
export interface Place {
  /** How many wait in front; says at the same time that this one still waits. */
  readonly ahead: (nowMs: number) => number
  readonly leave: () => void
}

/** Who has not looked for so long has been killed or stopped, and nobody waits for it. */
const SILENT_MS = 3_000
/** Without a place one still waits, and is passed. */
const ROUNDS = 4

const prefixOf = (file: string): string => `${basename(file)}.wait-`

/**
 * Takes a place at the end of the line: `<file>.wait-<time>-<token>`, which goes when the place is left. A line is
 * a courtesy: what keeps two from having the file at once is the file.
 */
export function joinLine(file: string, holder: Omit<Holder, 'process'>, nowMs: number): Place {
  const name = `${prefixOf(file)}${String(nowMs).padStart(15, '0')}-${holder.token}`
  const own = join(dirname(file), name)
  const stayInLine = (now: number) => {
    for (let round = 0; round < ROUNDS && !touch(own, now); round++) {
      // It was not there: the place is new, or somebody who saw no sign of life has swept it away; half written, this may go too.
      const passing = `${file}.${holder.token}`
      writeFileSync(passing, `${JSON.stringify({ process: ownIdentity(), ...holder })}\n`, { mode: 0o600 })
      renameUnlessSwept(passing, own)
    }
  }
  stayInLine(nowMs)
  return {
    ahead: (now) => {
      stayInLine(now)
      return waiting(file, now).filter((other) => other < name).length
    },
    leave: () => rmSync(own, { force: true }),
  }
}

/** Whether anybody stands in the line. */
export const hasLine = (file: string, nowMs: number): boolean => waiting(file, nowMs).length > 0

function waiting(file: string, nowMs: number): readonly string[] {
  const directory = dirname(file)
  return readdirSync(directory).filter(
    (name) => name.startsWith(prefixOf(file)) && isAwake(join(directory, name), nowMs),
  )
}

function isAwake(file: string, nowMs: number): boolean {
  const seenMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return seenMs !== undefined && Math.abs(nowMs - seenMs) < SILENT_MS
}

function touch(file: string, nowMs: number): boolean {
  try {
    utimesSync(file, nowMs / 1000, nowMs / 1000)
    return true
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    return false
  }
}

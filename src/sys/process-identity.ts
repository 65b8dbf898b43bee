import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { errorCode } from '../model/errno.ts'

/** One process as others can recognise it later: its number alone is used again by the system. */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks since the start of the system, from `/proc/<pid>/stat`; null where there is no such file. */
  readonly startTime: string | null
  readonly host: string
  /** Changes with every start of the system; null where unknown. */
  readonly boot: string | null
  /** Process numbers mean nothing across containers; null where unknown. */
  readonly namespace: string | null
}

/** `unknown`: another host, or another container on this one. */
export type Liveness = 'alive' | 'dead' | 'unknown'

export const ownIdentity = (): ProcessIdentity => identityOf(process.pid)

/** The identity of a process that runs now under this account's eyes. */
export function identityOf(pid: number): ProcessIdentity {
  return {
    pid,
    startTime: statOf(pid)?.startTime ?? null,
    host: hostname(),
    boot: readOrNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: readOrNull(() => readlinkSync('/proc/self/ns/pid')),
  }
}

/** Whether the process still runs. A process number that another program has now counts as dead. */
export function livenessOf(process: ProcessIdentity): Liveness {
  const here = ownIdentity()
  const isSameBoot = process.boot !== null && process.boot === here.boot
  if (!isSameBoot) {
    if (process.host !== here.host) return 'unknown'
    if (process.boot !== here.boot) return 'dead'
  }
  if (process.namespace !== here.namespace) return 'unknown'
  const found = statOf(process.pid)
  if (found !== null) return found.isZombie || found.startTime !== process.startTime ? 'dead' : 'alive'
  // Where /proc exists, a process without an entry there has ended.
  return process.startTime === null && answersToSignals(process.pid) ? 'alive' : 'dead'
}

function answersToSignals(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, under another account.
    return errorCode(error) === 'EPERM'
  }
}

/**
 * @see proc(5): the second field is the name in brackets and may hold anything; the rest is counted from its
 * end.
 */
function statOf(pid: number): { readonly startTime: string; readonly isZombie: boolean } | null {
  const text = readOrNull(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  if (text === null) return null
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const startTime = fields[19]
  return startTime === undefined ? null : { startTime, isZombie: fields[0] === 'Z' || fields[0] === 'X' }
}

/** These files are the system's own; that one cannot be read is an answer. */
function readOrNull(read: () => string): string | null {
  try {
    return read()
  } catch (error) {
    if (errorCode(error) !== '') return null
    throw error
  }
}

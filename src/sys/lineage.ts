import { readFileSync, readlinkSync } from 'node:fs'
import { errorCode } from '../model/errno.ts'

/** A process further up than that is none that a program of today was started by. */
const STEPS_MAX = 64

/** A variable with which this process, or one that it comes from, was started. */
export interface StartedWith {
  readonly variable: string
  readonly value: string
  readonly pid: number
}

/**
 * Looks for variables in the environments with which this process and those above it were started. A process can drop a variable
 * (`env -u`), but not from what its parents were started with.
 *
 * Finds nothing where there is no `/proc`, and nothing above a process that left its parents behind or belongs to another account.
 */
export function startedWith(names: readonly string[]): readonly StartedWith[] {
  const found: StartedWith[] = []
  let pid: number | null = process.pid
  for (let step = 0; step < STEPS_MAX && pid !== null && pid > 1; step++) {
    for (const variable of environmentOf(pid)) {
      const end = variable.indexOf('=')
      if (names.includes(variable.slice(0, end)))
        found.push({ variable: variable.slice(0, end), value: variable.slice(end + 1), pid })
    }
    pid = parentOf(pid)
  }
  return found
}

/** The directory that this process stands in, as the system knows it; null where there is no `/proc`. */
export const ownDirectory = (): string | null => readOrNull(() => readlinkSync('/proc/self/cwd'))

const environmentOf = (pid: number): readonly string[] =>
  readOrNull(() => readFileSync(`/proc/${pid}/environ`, 'utf8'))?.split('\0') ?? []

/** @see proc(5): the second field is the name in brackets and may hold anything; the rest is counted from its end. */
function parentOf(pid: number): number | null {
  const text = readOrNull(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  const parent = Number(text?.slice(text.lastIndexOf(')') + 2).split(' ')[1])
  return Number.isSafeInteger(parent) ? parent : null
}

function readOrNull(read: () => string): string | null {
  try {
    return read()
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errorCode(error))) return null
    throw error
  }
}

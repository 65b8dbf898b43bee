import { readdirSync, readFileSync } from 'node:fs'
import { errorCode } from './durable-files.ts'

/**
 * Whether any process with this program name is running. Where there is no `/proc` nobody can be seen, and the answer is yes: the
 * caller is about to do something that is safe only if there is none.
 */
export function hasLivingProcess(name: string): boolean {
  let entries: readonly string[]
  try {
    entries = readdirSync('/proc')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true
    throw error
  }
  const numbers = entries.filter((entry) => /^\d+$/.test(entry))
  return numbers.length === 0 || numbers.some((pid) => nameOf(pid) === name)
}

/** null for a process that has ended, or waits to be collected by its parent. */
function nameOf(pid: string): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
    return state === 'Z' ? null : stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(errorCode(error))) return null
    throw error
  }
}

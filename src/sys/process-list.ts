import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { errorCode } from '../model/errno.ts'

/**
 * Whether a process of this program's name is running that may be at work in one of the directories: its own
 * directory is in one, or its arguments or GIT_DIR name one, or none of that can be seen. Where there is no
 * `/proc` the answer is yes: the caller is about to do something that is safe only if there is none.
 *
 * @param harmless - Arguments by which a process is known that does not count, a reader of objects for one.
 */
export function mayUseRepository(
  name: string,
  directories: readonly string[],
  harmless: readonly string[] = [],
): boolean {
  let entries: readonly string[]
  try {
    entries = readdirSync('/proc')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true
    throw error
  }
  const processes = entries.filter((entry) => /^\d+$/.test(entry))
  return (
    processes.length === 0 ||
    processes.some((pid) => nameOf(pid) === name && mayWorkIn(pid, directories, harmless))
  )
}

/** null for a process that has ended, or waits to be collected by its parent. */
function nameOf(pid: string): string | null {
  const stat = readOrNull(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  if (stat === null) return null
  const end = stat.lastIndexOf(')')
  return stat[end + 2] === 'Z' ? null : stat.slice(stat.indexOf('(') + 1, end)
}

function mayWorkIn(pid: string, directories: readonly string[], harmless: readonly string[]): boolean {
  const cwd = readOrNull(() => readlinkSync(`/proc/${pid}/cwd`))
  const args = readOrNull(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  if (args?.split('\0').some((arg) => harmless.includes(arg)) === true) return false
  const told = args === null ? null : readOrNull(() => args + readFileSync(`/proc/${pid}/environ`, 'utf8'))
  // A process that ended meanwhile uses nothing; one of another account may use anything.
  if (cwd === null || told === null) return nameOf(pid) !== null
  return directories.some((directory) => `${cwd}/`.startsWith(`${directory}/`) || told.includes(directory))
}

function readOrNull(read: () => string): string | null {
  try {
    return read()
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errorCode(error))) return null
    throw error
  }
}

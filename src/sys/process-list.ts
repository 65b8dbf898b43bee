import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorCode, isAbsent } from '../model/errno.ts'

/** `hidden`: whether one is there cannot be seen, since there is no `/proc` or not all of it may be read. */
export type RepositoryUse = 'none' | 'seen' | 'hidden'

/**
 * Whether a process of this program's name is at work in one of the directories: its own directory is in one, or its arguments or
 * variables name one. A link in their names, or in those that the process was given, makes no difference.
 *
 * @param harmless - Commands of the program that do not count, a reader of objects for one.
 */
export function repositoryUse(
  name: string,
  directories: readonly string[],
  harmless: readonly string[] = [],
): RepositoryUse {
  const pids = processes()
  if (pids.length === 0) return 'hidden'
  const places = [...new Set(directories.flatMap((directory) => [directory, realOf(directory)]))]
  const uses = pids.filter((pid) => isNamed(pid, name)).map((pid) => useBy(pid, places, harmless))
  return uses.find((use) => use === 'seen') ?? uses.find((use) => use === 'hidden') ?? 'none'
}

function processes(): readonly string[] {
  try {
    return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Under its own name, as one of its parts (`git-receive-pack`), or behind a wrapper (`.git-wrapped`). */
function isNamed(pid: string, name: string): boolean {
  const found = nameOf(pid)
  return found === name || found?.replace(/^\./, '').startsWith(`${name}-`) === true
}

/** null for a process that has ended, or waits to be collected by its parent. */
function nameOf(pid: string): string | null {
  const stat = readOrNull(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  if (stat === null) return null
  const end = stat.lastIndexOf(')')
  return stat[end + 2] === 'Z' ? null : stat.slice(stat.indexOf('(') + 1, end)
}

function useBy(pid: string, places: readonly string[], harmless: readonly string[]): RepositoryUse {
  const cwd = readOrNull(() => readlinkSync(`/proc/${pid}/cwd`))
  const args = readOrNull(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.split('\0') ?? null
  if (args !== null && harmless.includes(commandIn(args))) return 'none'
  const env = readOrNull(() => readFileSync(`/proc/${pid}/environ`, 'utf8'))?.split('\0') ?? null
  // A process that ended meanwhile uses nothing; one of another account may use anything.
  if (cwd === null || args === null || env === null) return nameOf(pid) === null ? 'none' : 'hidden'
  const isInPlace = (path: string) => places.some((place) => `${path}/`.startsWith(`${place}/`))
  if (isInPlace(cwd) || [...args, ...env].some((text) => places.some((place) => text.includes(place))))
    return 'seen'
  // Named in another way: relative, or by a link.
  const named = [...args, ...env.filter((text) => text.startsWith('GIT_'))]
  const paths = named.map((text) => text.slice(/^[^/]*=/.exec(text)?.[0].length ?? 0))
  return paths.some((path) => path !== '' && isInPlace(realOf(resolve(cwd, path)))) ? 'seen' : 'none'
}

/** The command that git was started for; empty where that is not plain. */
function commandIn([program = '', ...args]: readonly string[]): string {
  const own = /(?:^|\/)git-([^/]+)$/.exec(program)?.[1]
  if (own !== undefined) return own
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '-c' || arg === '-C') at++
    else if (!arg.startsWith('-')) return arg
    // Its value may be the next word.
    else if (!arg.includes('=')) return ''
  }
  return ''
}

/** As it is, where nothing is there. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (isAbsent(error) || ['EACCES', 'ELOOP', 'ENAMETOOLONG'].includes(errorCode(error))) return path
    throw error
  }
}

function readOrNull(read: () => string): string | null {
  try {
    return read()
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errorCode(error))) return null
    throw error
  }
}

import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { errorCode } from '../model/errno.ts'
import { invariant } from '../model/error.ts'

/** By what the processes of one run are known. */
export interface RunMark {
  /** Stands in the environment of every process of the run, and of no other: a random name. */
  readonly text: string
  /** The process that leads the run's own session and group; null = it has none. */
  readonly leader: number | null
  /** The tree that it had to itself; null = others may be in there too. */
  readonly tree?: HeldTree | null
}

export interface HeldTree {
  readonly path: string
  /** Clock ticks since the start of the system: who is older was there before. null = that does not matter. */
  readonly since: number | null
}

export interface GroupMember {
  readonly pid: number
  /** Number and start time: unlike any other process's. */
  readonly key: string
}

/** A shorter text might stand in anybody's environment. */
const MARK_MIN_CHARACTERS = 16

/**
 * The processes of a run that are running now. Where there is no `/proc`, at most its group's leader stands for all: there
 * processes that left the group are not found.
 */
export function membersOf(mark: RunMark): readonly GroupMember[] {
  invariant(mark.text.length >= MARK_MIN_CHARACTERS, 'the mark of a run is like no other text')
  const pids = processNumbers()
  if (pids === null)
    return mark.leader !== null && groupIsThere(mark.leader) ? [groupMember(mark.leader)] : []
  const { tree = null } = mark
  const root = tree === null ? null : realOf(tree.path)
  const own = statOf(process.pid)?.session
  return pids.flatMap((pid) => {
    if (pid === process.pid) return []
    const stat = statOf(pid)
    if (stat === null || stat.isEnded) return []
    const isOfGroup = mark.leader !== null && (stat.group === mark.leader || stat.session === mark.leader)
    // Whoever works at another terminal is a person who looks into the tree, or came in by a program of theirs.
    const mayBeOfRun = stat.terminal === 0 || stat.session === own
    const isLater = tree?.since == null || stat.startTime >= tree.since
    const isMember =
      isOfGroup || isMarked(pid, mark.text) || (root !== null && mayBeOfRun && isLater && holds(pid, root))
    return isMember ? [{ pid, key: `${pid} ${stat.startTime}` }] : []
  })
}

/** Processes, whoever's, that have a tree as a directory of theirs, run a program of it or have a file of it open. None where there is no `/proc`. */
export function holdersOf(path: string): readonly number[] {
  const root = realOf(path)
  return (processNumbers() ?? []).filter((pid) => pid !== process.pid && isAlive(pid) && holds(pid, root))
}

const isAlive = (pid: number): boolean => statOf(pid)?.isEnded === false

/** When a process began, in clock ticks since the start of the system; null where that cannot be known. */
export const startOf = (pid: number): number | null => statOf(pid)?.startTime ?? null

const realOf = (path: string): string => readOrNull(() => realpathSync(path)) ?? path

function holds(pid: number, root: string): boolean {
  const isIn = (link: string): boolean => {
    const place = readOrNull(() => readlinkSync(link))
    return place === root || place?.startsWith(`${root}/`) === true
  }
  const of = `/proc/${pid}`
  if (['cwd', 'root', 'exe'].some((name) => isIn(`${of}/${name}`))) return true
  const open = readOrNull(() => readdirSync(`${of}/fd`)) ?? []
  return open.some((name) => isIn(`${of}/fd/${name}`))
}

/** null = this system has no `/proc`. */
function processNumbers(): readonly number[] | null {
  try {
    const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return numbers.length === 0 ? null : numbers.map(Number)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** A negative number is a group, for `kill`. */
const groupMember = (leader: number): GroupMember => ({ pid: -leader, key: `group ${leader}` })

function groupIsThere(leader: number): boolean {
  try {
    process.kill(-leader, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

interface ProcessStat {
  readonly group: number
  readonly session: number
  /** 0 = it has none. */
  readonly terminal: number
  readonly startTime: number
  readonly isEnded: boolean
}

/** @see proc(5): the second field is the name in brackets and may hold anything; the rest is counted from its end. */
function statOf(pid: number): ProcessStat | null {
  const text = textOf(`/proc/${pid}/stat`)
  if (text === null) return null
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return {
    group: Number(fields[2]),
    session: Number(fields[3]),
    terminal: Number(fields[4]),
    startTime: Number(fields[19]),
    isEnded: fields[0] === 'Z' || fields[0] === 'X',
  }
}

/** The environment that a process was started with; another account's cannot be seen and counts as not marked. */
const isMarked = (pid: number, text: string): boolean =>
  textOf(`/proc/${pid}/environ`)?.includes(text) ?? false

const textOf = (file: string): string | null => readOrNull(() => readFileSync(file, 'latin1'))

/** A process may end, or belong to another account. */
function readOrNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errorCode(error))) return null
    throw error
  }
}

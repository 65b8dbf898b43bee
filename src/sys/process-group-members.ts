import { readdirSync, readFileSync } from 'node:fs'
import { errorCode } from '../model/errno.ts'
import { invariant } from '../model/error.ts'

/** By what the processes of one run are known. */
export interface RunMark {
  /** Stands in the environment of every process of the run, and of no other: a random name. */
  readonly text: string
  /** The process that leads the run's own session and group; null = it has none. */
  readonly leader: number | null
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
  return pids.flatMap((pid) => {
    if (pid === process.pid) return []
    const stat = statOf(pid)
    if (stat === null || stat.isEnded) return []
    const isOfGroup = mark.leader !== null && (stat.group === mark.leader || stat.session === mark.leader)
    return isOfGroup || isMarked(pid, mark.text) ? [{ pid, key: `${pid} ${stat.startTime}` }] : []
  })
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
  readonly startTime: string
  readonly isEnded: boolean
}

/** @see proc(5): the second field is the name in brackets and may hold anything; the rest is counted from its end. */
function statOf(pid: number): ProcessStat | null {
  const text = readOrNull(`/proc/${pid}/stat`)
  if (text === null) return null
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return {
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTime: fields[19] ?? '',
    isEnded: fields[0] === 'Z' || fields[0] === 'X',
  }
}

/** The environment that a process was started with; another account's cannot be seen and counts as not marked. */
const isMarked = (pid: number, text: string): boolean =>
  readOrNull(`/proc/${pid}/environ`)?.includes(text) ?? false

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'latin1')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errorCode(error))) return null
    throw error
  }
}

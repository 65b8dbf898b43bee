import { linkSync, lstatSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { errorCode } from '../model/errno.ts'
import { readPlainFile, standsAt } from './plain-file.ts'
import { livenessOf, ownIdentity, type ProcessIdentity } from './process-identity.ts'

/** Who holds an exclusive file. */
export interface Holder {
  readonly process: ProcessIdentity
  /** Unlike any other holder's, even of the same process. */
  readonly token: string
  readonly label: string
  /** ISO 8601. */
  readonly since: string
}

export type Acquisition =
  | { readonly kind: 'held'; readonly release: () => void; readonly touch: () => void }
  | { readonly kind: 'taken'; readonly by: Holder | null }

/**
 * A holder on another machine touches its file more often than this; a file that is older belongs to a dead
 * one.
 */
const FOREIGN_SILENCE_MS = 5 * 60_000

/**
 * Takes an exclusive file, or says who has it. One of several that try at once gets it.
 *
 * The file appears with its content in one step (`link`). A file whose holder is dead is taken over: the
 * right to do so is itself an exclusive file, named after the dead holder's token, and whoever has that right
 * looks again before replacing the file, so nobody can push aside a living holder's file by mistake.
 *
 * @param nowMs - Milliseconds since the epoch, for holders whose life cannot be seen.
 */
export function acquireExclusiveFile(
  file: string,
  holder: Omit<Holder, 'process'>,
  nowMs: number,
): Acquisition {
  const own: Holder = { process: ownIdentity(), ...holder }
  const passing = `${file}.${holder.token}`
  try {
    return acquire(file, passing, own, nowMs)
  } finally {
    rmSync(passing, { force: true })
  }
}

function acquire(file: string, passing: string, own: Holder, nowMs: number): Acquisition {
  for (let round = 0; round < 4; round++) {
    // Written anew each time: whoever sweeps up after killed processes may take it for one of theirs.
    // Never in place: the same file may have another name by now.
    rmSync(passing, { force: true })
    writeFileSync(passing, `${JSON.stringify(own)}\n`, { mode: 0o600, flag: 'wx' })
    const isLinked = linkIfAbsent(passing, file)
    if (isLinked === true) return heldBy(file, own)
    if (isLinked === 'swept') continue
    const found = readHolder(file)
    if (found === 'absent') continue
    if (found === null || !isGone(file, found, nowMs)) return { kind: 'taken', by: found }
    const outcome = takeOver(file, found, passing, own, nowMs)
    if (outcome !== 'again') return outcome
  }
  const last = readHolder(file)
  return { kind: 'taken', by: last === 'absent' ? null : last }
}

function takeOver(
  file: string,
  dead: Holder,
  passing: string,
  own: Holder,
  nowMs: number,
): Acquisition | 'again' {
  const rightFile = `${file}.after-${dead.token}`
  const right = acquire(rightFile, passing, own, nowMs)
  if (right.kind === 'taken') return right
  try {
    const now = readHolder(file)
    if (now === 'absent' || now === null || now.token !== dead.token) return 'again'
    const replacement = `${file}.over-${own.token}`
    writeFileSync(replacement, `${JSON.stringify(own)}\n`, { mode: 0o600 })
    return renameUnlessSwept(replacement, file) ? heldBy(file, own) : 'again'
  } finally {
    right.release()
  }
}

function heldBy(file: string, own: Holder): Acquisition {
  return {
    kind: 'held',
    release: () => {
      const found = readHolder(file)
      if (found !== 'absent' && found?.token === own.token) rmSync(file, { force: true })
    },
    touch: () => touchIfPresent(file),
  }
}

function touchIfPresent(file: string): void {
  try {
    utimesSync(file, new Date(), new Date())
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}

function isGone(file: string, holder: Holder, nowMs: number): boolean {
  const liveness = livenessOf(holder.process)
  if (liveness !== 'unknown') return liveness === 'dead'
  return nowMs - (mtimeOrNull(file) ?? nowMs) > FOREIGN_SILENCE_MS
}

/** For files beside the lock that no living process can need, or would write again: see the caller. */
export function removeIfHolderIsDead(file: string): void {
  const found = readHolder(file)
  if (found === 'absent') return
  // One that is not whole was being written when its process was killed. A directory is nobody's.
  const isDead = found === null ? standsAt(file) !== 'directory' : livenessOf(found.process) === 'dead'
  if (isDead) rmSync(file, { force: true })
}

/** null = something that is not one of ours, a directory or a pipe for one: nobody may take it over. Never waits. */
export function readHolder(file: string): Holder | null | 'absent' {
  const bytes = readPlainFile(file)
  if (bytes === 'absent') return standsAt(file) === 'absent' ? 'absent' : null
  return bytes === 'other' ? null : parseHolder(bytes.toString('utf8'))
}

/**
 * Removes an exclusive file that names no holder, an empty one for instance after a loss of power, once it is older than any holder
 * leaves its file alone. A directory stays. Of several that try at once one does it, and nobody else replaces such a file.
 *
 * @returns Whether it was removed.
 */
export function removeNobodys(file: string, holder: Omit<Holder, 'process'>, nowMs: number): boolean {
  const isNobodys = () =>
    readHolder(file) === null &&
    !['absent', 'directory'].includes(standsAt(file)) &&
    nowMs - (mtimeOrNull(file) ?? nowMs) > FOREIGN_SILENCE_MS
  if (!isNobodys()) return false
  const right = acquireExclusiveFile(`${file}.after-nobody`, holder, nowMs)
  if (right.kind === 'taken') return false
  try {
    if (!isNobodys()) return false
    rmSync(file, { force: true })
    return true
  } finally {
    right.release()
  }
}

function parseHolder(text: string): Holder | null {
  try {
    const value = JSON.parse(text) as Partial<Holder> | null
    const isWhole =
      typeof value?.token === 'string' &&
      /^[\w-]{1,64}$/.test(value.token) &&
      typeof value.process?.pid === 'number'
    return isWhole ? (value as Holder) : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** False when the file has gone meanwhile. */
export function renameUnlessSwept(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
}

function linkIfAbsent(from: string, to: string): boolean | 'swept' {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    if (errorCode(error) === 'ENOENT' && mtimeOrNull(from) === null) return 'swept'
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(errorCode(error))) throw error
    return copyIfAbsent(from, to)
  }
}

/**
 * For file systems without hard links: the content comes a moment after the name, and `null` holders are
 * never taken over.
 */
function copyIfAbsent(from: string, to: string): boolean {
  try {
    writeFileSync(to, readFileSync(from), { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

function mtimeOrNull(file: string): number | null {
  try {
    return lstatSync(file).mtimeMs
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

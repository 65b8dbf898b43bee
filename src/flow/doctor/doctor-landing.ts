import { refValue } from '../../git/ref-transaction.ts'
import { type Finding, good, note, problem } from '../../model/finding.ts'
import { quote } from '../../policy/quote.ts'
import { findJournal } from '../../store/find-journal.ts'
import { doneRoot, landDirectory, landRoot } from '../../store/landing-journal.ts'
import { landingLockFile } from '../../store/lock.ts'
import { galleyDirectory } from '../../store/open-store.ts'
import { namesIn } from '../../sys/directories.ts'
import { readHolder } from '../../sys/exclusive-file.ts'
import { diskUsage } from '../../sys/file-ages.ts'
import { standsAt } from '../../sys/plain-file.ts'
import { livenessOf } from '../../sys/process-identity.ts'
import type { World } from '../world.ts'

/** Landings that were cut off, who holds the landing lock, and what landings keep for a while. */
export async function examineLandings(world: World): Promise<readonly Finding[]> {
  const galleyDir = galleyDirectory(world.repository)
  const lock = examineLock(galleyDir)
  const cutOff: Finding[] = []
  for (const id of await namesIn(landRoot(galleyDir))) cutOff.push(await examineLanding(world, galleyDir, id))
  const kept = await namesIn(doneRoot(galleyDir))
  return [
    ...(lock === null ? [] : [lock]),
    ...cutOff,
    ...(lock === null && cutOff.length === 0 ? [good('landing', 'none was cut off, none is going on')] : []),
    ...(kept.length === 0
      ? []
      : [
          note(
            'landing',
            `the files that the last ${kept.length} landings replaced are kept for some hours in ${doneRoot(galleyDir)} (${Math.ceil(diskUsage(doneRoot(galleyDir)) / 1024)} KiB)`,
          ),
        ]),
  ]
}

/** Whether a process that is alive has the landing lock: what it is at work on is no wreck. */
export function isLanding({ repository }: World): boolean {
  const holder = readHolder(landingLockFile(galleyDirectory(repository)))
  return holder !== 'absent' && holder !== null && livenessOf(holder.process) === 'alive'
}

function examineLock(galleyDir: string): Finding | null {
  const file = landingLockFile(galleyDir)
  const holder = readHolder(file)
  if (holder === 'absent') return null
  if (holder === null)
    return problem(
      'landing',
      `${file} is not a lock that galley wrote: nothing lands (busy)`,
      '`galley recover` removes it once it is older than five minutes, unless it is a directory. Or look who wrote it, and remove it.',
    )
  const who = `process ${holder.process.pid} on ${quote(holder.process.host)}, for ${quote(holder.label)}, since ${quote(holder.since)}`
  switch (livenessOf(holder.process)) {
    case 'alive':
      return note('landing', `a landing is going on: ${who}`)
    case 'dead':
      return note('landing', `the lock of a process that has ended is taken over by the next landing: ${who}`)
    case 'unknown':
      return note(
        'landing',
        `the lock is held from another machine or boot: ${who}`,
        'It counts as left after five minutes of silence.',
      )
  }
}

async function examineLanding(world: World, galleyDir: string, id: string): Promise<Finding> {
  const directory = landDirectory(galleyDir, id)
  if (standsAt(directory) !== 'directory')
    return problem(
      'landing',
      `${quote(directory)} is no landing's folder`,
      'Look who put it there, and remove it.',
    )
  const found = findJournal(directory)
  if (found.kind === 'unreadable')
    return problem(
      'landing',
      `the journal in ${quote(directory)} is not used (io-error): ${found.reason}`,
      'The files that its landing displaced are in `old/` beside it: when you need nothing of them, remove the folder.',
    )
  if (found.kind === 'none' && isLanding(world)) return note('landing', `the landing ${id} is being prepared`)
  if (found.kind === 'none')
    return problem(
      'landing',
      `the landing ${id} was cut off before it had moved anything`,
      'Run `galley recover`: it removes what was prepared.',
    )
  const { label, ref, before, after, files, owner, startedAt } = found.journal
  const what = `the landing of ${quote(label)} on ${quote(ref)}, begun ${new Date(startedAt).toISOString()}`
  if (livenessOf(owner) === 'alive') return note('landing', `${what}, is going on in process ${owner.pid}`)
  const now = await refValue(world.repository.door, ref)
  const went =
    now === before
      ? `${ref} has not moved: its ${files.length} files go back to what they were`
      : now === after
        ? `${ref} has moved: its ${files.length} files are brought to the new commit`
        : `${ref} has moved on since: whether it holds the commit decides`
  return problem('landing', `${what}, was cut off; ${went}`, 'Run `galley recover`.')
}

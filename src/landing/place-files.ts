import { join } from 'node:path'
import {
  clearedDirectory,
  type FileKey,
  type LandingJournal,
  newFile,
  oldFile,
} from '../store/landing-journal.ts'
import { lookAt, type Standing, standingOf } from '../sys/file-key.ts'
import { exchange, filesBelow, type Move, moveAway, putInPlace } from '../sys/swap-file.ts'
import type { LandingPoint } from './request.ts'

/**
 * Somebody changed something between looking and acting. What was done is undone, and the landing may be
 * tried again.
 */
export class Raced extends Error {
  readonly path: string

  constructor(path: string, what: string) {
    super(`${path} ${what}`)
    this.name = 'Raced'
    this.path = path
  }
}

/** Whether a file is what a key says: the same kind of thing, and the same bytes. */
export function matches(standing: Standing, key: FileKey | null): boolean {
  if (key === null) return standing.kind === 'absent'
  if (standing.kind === 'symlink') return key.mode === '120000' && standing.id === key.id
  return standing.kind === 'file' && key.mode !== '120000' && standing.id === key.id
}

/** Whether a path looks as it did when the landing was planned, permissions too. */
export function isUnchanged(now: Standing, planned: Standing): boolean {
  if (now.kind !== planned.kind) return false
  if (now.kind === 'file' && planned.kind === 'file')
    return now.id === planned.id && now.permissions === planned.permissions
  if (now.kind === 'symlink' && planned.kind === 'symlink') return now.id === planned.id
  return true
}

/** Looks at every path again, by bytes. @throws Raced */
export function validateFiles(journal: LandingJournal, planned: readonly Standing[]): void {
  for (const [n, step] of journal.files.entries()) {
    const now = lookAt(journal.workTree, step.path, journal.objectFormat)
    if (!isUnchanged(now, planned[n] ?? { kind: 'absent' }))
      throw new Raced(step.path, 'changed while the change was landing')
  }
}

/**
 * Puts every file in place: deletions, then directories that make room, then new files, each by rename and
 * link. Only names move; no byte of a file of the user's is written.
 *
 * @throws Raced, when something else is found than was looked at; everything done so far is in the journal's
 * places.
 */
export function placeFiles(journal: LandingJournal, reach: (point: LandingPoint) => void): void {
  const { files, workTree } = journal
  for (const [n, step] of files.entries()) {
    if (step.kind !== 'delete') continue
    expectDone(moveAway(workTree, step.path, oldFile(step, n)), step.path)
    reach(`moved-away-${n}`)
  }
  for (const [n, { path, stage }] of journal.cleared.entries()) {
    expectDone(moveAway(workTree, path, clearedDirectory(stage, n)), path)
    if (filesBelow(clearedDirectory(stage, n)).length > 0)
      throw new Raced(path, 'got a new file while the change was landing')
  }
  for (const [n, step] of files.entries()) {
    if (step.kind === 'delete') continue
    const staged = newFile(step, n)
    const placed =
      step.kind === 'create'
        ? putInPlace(workTree, step.path, staged, true)
        : exchange(workTree, step.path, staged, oldFile(step, n), () => reach(`moved-away-${n}`))
    expectDone(placed, step.path)
    reach(`placed-${n}`)
  }
}

function expectDone(move: Move, path: string): void {
  if (move.kind === 'done') return
  const seen =
    move.kind === 'exists'
      ? 'appeared'
      : move.kind === 'absent' || move.kind === 'missing'
        ? 'went away'
        : 'got a link or a file above it'
  throw new Raced(path, `${seen} while the change was landing`)
}

/**
 * Looks at what was moved away: other bytes than before mean that somebody saved in between. @throws Raced
 */
export function checkDisplaced(journal: LandingJournal): void {
  for (const { path } of lateSaves(journal))
    throw new Raced(path, 'was saved by another program while the change was landing')
}

/** Something of somebody's that is in galley's folder alone. */
export interface LateSave {
  /** Where it was meant to be. */
  readonly path: string
  readonly file: string
  /** The landing's directory that holds it. */
  readonly stage: string
  /** A new file, and not a save to an old one. */
  readonly isNew: boolean
}

/**
 * Displaced files that hold other bytes than were expected, saved by programs that had them open; and files that were made in a
 * directory when it had made way for a file.
 */
export function lateSaves(journal: LandingJournal): readonly LateSave[] {
  const saved = journal.files.flatMap((step, n) => {
    if (step.kind === 'create') return []
    const file = oldFile(step, n)
    const standing = standingOf(file, journal.objectFormat)
    if (standing.kind === 'absent' || matches(standing, step.old)) return []
    return [{ path: step.path, file, stage: step.stage, isNew: false }]
  })
  const made = journal.cleared.flatMap(({ path, stage }, n) => {
    const directory = clearedDirectory(stage, n)
    return filesBelow(directory).map((name) => {
      return { path: `${path}/${name}`, file: join(directory, name), stage, isNew: true }
    })
  })
  return [...saved, ...made]
}

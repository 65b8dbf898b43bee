import { assertNever } from '../model/error.ts'
import {
  type RecoveryDirection,
  recoveryAction,
  type StepAction,
  type StepFacts,
} from '../policy/recovery-decision.ts'
import {
  clearedDirectory,
  type FileStep,
  goneFile,
  type LandingJournal,
  newFile,
  oldFile,
} from '../store/landing-journal.ts'
import { lookAt, type Standing, standingOf } from '../sys/file-key.ts'
import { ownIdentity } from '../sys/process-identity.ts'
import {
  exchange,
  filesBelow,
  moveAway,
  moveDirectoryBack,
  putInPlace,
  removeEmptyDirectory,
} from '../sys/swap-file.ts'
import { matches } from './place-files.ts'

/** What was left as somebody else made it. */
export interface LeftAlone {
  readonly path: string
  /** Where the bytes are that the path had before the landing; null = there were none. */
  readonly old: string | null
}

/**
 * Brings every file of a landing to one side, all alike, by looking at what is there. Used when a landing is
 * called off and when a later process finds one that was cut off; may be repeated any number of times.
 *
 * A file that somebody changed meanwhile is left as it is.
 */
export function settleFiles(journal: LandingJournal, direction: RecoveryDirection): readonly LeftAlone[] {
  const left: LeftAlone[] = []
  const settle = (kinds: readonly FileStep['kind'][]) => {
    for (const [n, step] of journal.files.entries()) {
      if (!kinds.includes(step.kind)) continue
      if (!settleOne(journal, step, n, direction))
        left.push({ path: step.path, old: asideOrNull(journal, step, n) })
    }
  }
  if (direction === 'forward') {
    settle(['delete', 'write', 'create'])
    return left
  }
  settle(['write', 'create'])
  for (const directory of [...journal.made].reverse()) removeEmptyDirectory(journal.workTree, directory)
  for (const [n, { path, stage }] of journal.cleared.entries()) {
    // Where something has taken the name meanwhile, an empty directory is not missed.
    const directory = clearedDirectory(stage, n)
    moveDirectoryBack(journal.workTree, path, directory)
    if (filesBelow(directory).length > 0) left.push({ path, old: directory })
  }
  settle(['delete'])
  return left
}

/** False when the path was left to somebody else. */
function settleOne(
  journal: LandingJournal,
  step: FileStep,
  n: number,
  direction: RecoveryDirection,
): boolean {
  const action = recoveryAction(direction, factsOf(journal, step, n, direction))
  return perform(journal, step, n, action)
}

/** Steps whose new file has to be written aside once more before the landing can go forward. */
export function stepsToRestage(
  journal: LandingJournal,
): readonly { readonly step: FileStep; readonly n: number }[] {
  return journal.files.flatMap((step, n) => {
    const facts = factsOf(journal, step, n, 'forward')
    const action = recoveryAction('forward', facts)
    return facts.staged === 'gone' && (action === 'put-new' || action === 'exchange-new') ? [{ step, n }] : []
  })
}

function factsOf(
  journal: LandingJournal,
  step: FileStep,
  n: number,
  direction: RecoveryDirection,
): StepFacts {
  const hash = journal.objectFormat
  const now = lookAt(journal.workTree, step.path, hash)
  const staged = standingOf(newFile(step, n), hash)
  const isLinked = identityIn(now) !== null && identityIn(now) === identityIn(staged)
  return {
    kind: step.kind,
    standing: standingFor(step, now, direction),
    isOldAside: standingOf(oldFile(step, n), hash).kind !== 'absent',
    staged: staged.kind === 'absent' ? 'gone' : isLinked ? 'linked' : 'waiting',
    hasRestarted: journal.owner.boot !== ownIdentity().boot,
  }
}

const identityIn = (standing: Standing): string | null => ('identity' in standing ? standing.identity : null)

function standingFor(step: FileStep, now: Standing, direction: RecoveryDirection): StepFacts['standing'] {
  if (now.kind === 'absent') return 'absent'
  if (step.next !== null && matches(now, step.next)) return 'next'
  if (step.old !== null && matches(now, step.old)) return 'old'
  // A deleted file may have made room for a directory of its name, or its directory for a file or a link.
  const madeRoomFor = ['directory', 'file-above', 'link-above']
  const hasMadeRoom = step.kind === 'delete' && madeRoomFor.includes(now.kind)
  return hasMadeRoom && direction === 'forward' ? 'absent' : 'other'
}

function perform(journal: LandingJournal, step: FileStep, n: number, action: StepAction): boolean {
  const { workTree } = journal
  switch (action) {
    case 'nothing':
      return true
    case 'leave':
      return false
    case 'put-back':
      return putInPlace(workTree, step.path, oldFile(step, n), true).kind === 'done'
    case 'exchange-back':
      return exchangeBack(journal, step, n)
    case 'take-away':
      return takeAway(journal, step, n)
    case 'put-new':
    case 'exchange-new':
      return putNew(journal, step, n)
    case 'remove-old':
      return moveAway(workTree, step.path, oldFile(step, n)).kind === 'done'
    default:
      return assertNever(action)
  }
}

function putNew({ workTree, objectFormat }: LandingJournal, step: FileStep, n: number): boolean {
  const staged = newFile(step, n)
  // Bytes that are nowhere any more: the path stays as it was found.
  if (standingOf(staged, objectFormat).kind === 'absent') return false
  const isThere = lookAt(workTree, step.path, objectFormat).kind !== 'absent'
  const aside = oldFile(step, n)
  const move = isThere
    ? exchange(workTree, step.path, staged, aside, () => undefined)
    : putInPlace(workTree, step.path, staged, true)
  return move.kind === 'done'
}

/**
 * The new file makes way for the old one; if an editor saved to it at that very moment, it comes back
 * instead.
 */
function exchangeBack(journal: LandingJournal, step: FileStep, n: number): boolean {
  const gone = goneFile(step, n)
  const done = exchange(journal.workTree, step.path, oldFile(step, n), gone, () => undefined)
  if (done.kind !== 'done') return false
  if (matches(standingOf(gone, journal.objectFormat), step.next)) return true
  exchange(journal.workTree, step.path, gone, oldFile(step, n), () => undefined)
  return false
}

function takeAway(journal: LandingJournal, step: FileStep, n: number): boolean {
  const gone = goneFile(step, n)
  if (moveAway(journal.workTree, step.path, gone).kind !== 'done') return true
  if (matches(standingOf(gone, journal.objectFormat), step.next)) return true
  putInPlace(journal.workTree, step.path, gone, true)
  return false
}

function asideOrNull(journal: LandingJournal, step: FileStep, n: number): string | null {
  const file = oldFile(step, n)
  return standingOf(file, journal.objectFormat).kind === 'absent' ? null : file
}

/** Which way a landing that was cut off goes. */
export type RecoveryDirection = 'forward' | 'back'

/**
 * Decides the direction by the ref alone: it moves last, so a ref that held the landed commit proves that
 * everything before was done, and any other ref proves that nobody was promised anything.
 *
 * @param hasRefMoved - The ref holds the commit, or what only follows its move is done (somebody may have amended the commit since).
 */
export const recoveryDirection = (hasRefMoved: boolean): RecoveryDirection =>
  hasRefMoved ? 'forward' : 'back'

/** What is found for one file of the landing. */
export interface StepFacts {
  readonly kind: 'write' | 'create' | 'delete'
  /** `old` and `next`: by bytes; `other`: somebody else's. A deletion's `next` is `absent`. */
  readonly standing: 'old' | 'next' | 'absent' | 'other'
  /** The old file is in the landing's own folder. */
  readonly isOldAside: boolean
  /**
   * The staged new file: still waiting alone, waiting although the same inode stands at the path, or gone.
   */
  readonly staged: 'waiting' | 'linked' | 'gone'
  /** The system was started anew since: names that were not on the device yet may be lost. */
  readonly hasRestarted: boolean
}

export type StepAction =
  | 'nothing'
  /** The old file goes back to where it was; nothing stands there. */
  | 'put-back'
  /** The new file is taken away and the old one goes back. */
  | 'exchange-back'
  /** The new file is taken away; there was none before. */
  | 'take-away'
  /** The new file, whose name was lost, is put there again. */
  | 'put-new'
  /** The old file, which came back, is exchanged for the new one again. */
  | 'exchange-new'
  /** The old file, which came back, is taken away again. */
  | 'remove-old'
  /** Somebody changed the path since: theirs stays, and is told of. */
  | 'leave'

/** Decides what is done for one file. */
export function recoveryAction(direction: RecoveryDirection, facts: StepFacts): StepAction {
  return direction === 'back' ? actionBack(facts) : actionForward(facts)
}

function actionBack({ kind, standing, isOldAside, staged }: StepFacts): StepAction {
  if (kind === 'create') {
    // While the staged file still waits by itself, a file at the path is not ours, though its bytes may be
    // the same.
    if (staged === 'waiting' || standing === 'absent') return 'nothing'
    return standing === 'next' ? 'take-away' : 'leave'
  }
  if (!isOldAside) return 'nothing'
  if (standing === 'absent') return 'put-back'
  if (kind === 'write' && standing === 'next' && staged !== 'waiting') return 'exchange-back'
  return 'leave'
}

/**
 * By the time the ref moves every file has its place, so what is found otherwise came later. The exception is
 * a loss of power, after which the system may have kept the ref and lost names: then the path is as before,
 * or empty.
 */
function actionForward({ kind, standing, isOldAside, hasRestarted }: StepFacts): StepAction {
  if (kind === 'delete') {
    if (standing === 'absent') return 'nothing'
    return standing === 'old' && !isOldAside ? 'remove-old' : 'leave'
  }
  if (standing === 'next') return 'nothing'
  if (standing === 'absent' && hasRestarted) return 'put-new'
  if (kind === 'write' && standing === 'old' && !isOldAside) return 'exchange-new'
  return 'leave'
}

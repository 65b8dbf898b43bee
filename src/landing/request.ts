import type { GitDoor } from '../git/door.ts'
import type { ObjectReader } from '../git/objects.ts'
import type { Repository } from '../git/open-repository.ts'
import type { WorkingSides } from '../model/change.ts'
import type { CommitId, RefName } from '../model/ids.ts'
import type { Manifest } from '../model/manifest.ts'
import type { Clock } from '../sys/clock.ts'
import type { Version } from './decide-path.ts'

/** The index, locked by `withIndexHeld`. */
export interface HeldIndex {
  /** Of the landing that the lock belongs to. */
  readonly id: string
  readonly indexFile: string
  /** For when the landing is through: signals that ask the process to end need not wait any longer. */
  readonly obeySignals: () => void
}

/** One commit (or several, one after the other) that is to become the tip of a branch. */
export interface LandRequest {
  readonly repository: Repository
  /**
   * The private store: `after` and its objects can be read through it; its alternate is the user's object
   * store.
   */
  readonly store: GitDoor
  /** Reads objects of both; without it the landing starts one of its own. */
  readonly reader?: ObjectReader
  /** `<commonDir>/galley`; exists, for this account alone. */
  readonly galleyDir: string
  /** Id of the change: for the lock, the journal and the names of backups. */
  readonly label: string
  /** `refs/heads/…`, or `HEAD` when it is detached. */
  readonly ref: RefName
  /** null = the branch is unborn. */
  readonly before: CommitId | null
  readonly after: CommitId
  /** Every path that differs between `before` and `after`. */
  readonly manifest: Manifest
  /**
   * What the working file (no filter) is before and after, where that differs from the tree's; the new blob can be read in `store`.
   * Paths that are left out are converted by git where they have a conversion.
   */
  readonly working: ReadonlyMap<string, WorkingSides>
  /** New path to old path, of what the changes call a move. */
  readonly renames?: ReadonlyMap<string, string>
  /**
   * What must stand at a path, to the byte and the executable bit, where an approval holds for the file itself: mode and blob id of
   * the working file's bytes; null = nothing. No merge is made beneath other content then.
   */
  readonly bound?: ReadonlyMap<string, Version | null>
  /**
   * What else may stand at a path, in the index or as the working file, as if it were the version before: work that the change took over
   * and that its checks then rewrote. It is in the store.
   */
  readonly takenOver?: ReadonlyMap<string, readonly TakenOver[]>
  /**
   * Working files whose uncommitted work the change takes along: mode and blob id of their bytes; null = deleted. Where that very file
   * stands, the change takes its place and that of its index entry, and both are kept in a backup.
   */
  readonly along?: ReadonlyMap<string, Version | null>
  /** The lock is this landing's from the start. */
  readonly held?: HeldIndex
  /** Reflog message. */
  readonly reason: string
  readonly clock: Clock
  /** Called at every step, for tests that end or disturb a landing there. */
  readonly reach?: (point: LandingPoint) => void
}

/** One version that a change took over from the index or the work tree. */
export interface TakenOver {
  /** As the tree has it; null = it counts as a working file alone. */
  readonly entry: Version | null
  /** As the working file has it, where a conversion makes that differ; null = the file holds more than was taken over. */
  readonly file: Version | null
}

export interface LandReport {
  readonly remarks: readonly string[]
  /** Refs in the store that hold what the user had where the landing merged beneath it or took it along. */
  readonly backups: readonly string[]
  /** How long git's locks were held, in milliseconds. */
  readonly locksHeldMs: number
}

/** The steps of a landing, in order; those with a number come once for each file. */
export type LandingPoint =
  | 'planned'
  | 'objects-staged'
  | 'staged'
  | 'journaled'
  | 'index-locked'
  | 'ref-prepared'
  | 'validated'
  | `moved-away-${number}`
  | `placed-${number}`
  | 'all-placed'
  | 'checked'
  | 'index-completed'
  | 'objects-moved'
  | 'committed'
  | 'index-swapped'
  | 'unlocked'
  | 'closed'

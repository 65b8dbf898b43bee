import type { Agent } from '../../model/batch.ts'
import type { CommitId, TreeId } from '../../model/ids.ts'
import type { PermissionMode } from '../../model/policy.ts'
import type { Store } from '../../store/open-store.ts'
import type { ChangeView } from '../change-view.ts'
import type { FilesBefore } from '../collect/sort-tree.ts'
import type { HeldTree } from '../full-tree.ts'
import type { PolicyInForce } from '../read-policy.ts'
import type { Base } from '../select-base.ts'
import type { World } from '../world.ts'

/** A command to run, and how. */
export interface RunRequest {
  /** The program and its arguments. */
  readonly command: readonly string[]
  /** Of the one change. Default: the message of the command's last commit, or the command. Not with `keepsCommits`. */
  readonly title?: string
  readonly body?: string
  /** One change for each commit of the command's, stacked, instead of one for all. */
  readonly keepsCommits?: boolean
  /** Brings the user's uncommitted work into the tree; the change holds only what the command did to it. Default false. */
  readonly withUncommitted?: boolean
  /** Runs the policy's setup command first, where it has not been run for these lock files. Default true. */
  readonly usesSetup?: boolean
  /** What the caller allows; the stricter of it and the policy's counts. Default `full`. */
  readonly permissionMode?: PermissionMode
  /** Where the command starts: a directory of the repository. Default: its root. */
  readonly directory?: string
  /** Default `none`: it reads nothing, and what it prints is dropped. */
  readonly stdio?: 'inherit' | 'stderr' | 'none'
  /** Hands signals of this process on to the command. For programs that are nothing but the command. */
  readonly forwardsSignals?: boolean
}

/** What became of a run. */
export interface RunOutcome {
  /** Names the run: in the changes' `agent.session`, and in the refs of what was left. */
  readonly run: string
  /** As a shell has it: 128 and the signal's number, where a signal ended the command. */
  readonly exitCode: number
  readonly signal: string | null
  /** Oldest first. None = nothing changed. */
  readonly changes: readonly ChangeView[]
  /** What is to be known beside: what was left out or ended, each as a sentence. */
  readonly remarks: readonly string[]
  /** Refs of the store, and a folder, that hold what did not become part of a change. */
  readonly left: readonly string[]
}

/** What a command could reach beside its tree, as it was before it ran. */
export interface Marks {
  /** The store's configuration. */
  readonly storeConfig: Buffer | null
  /** The user's refs, HEAD and configuration, for telling whether they moved. */
  readonly user: ReadonlyMap<string, string>
}

/** One run, from the moment that its tree is there. */
export interface RunWork {
  readonly world: World
  readonly store: Store
  readonly id: string
  readonly base: Base
  readonly inForce: PolicyInForce
  /** What the tree was checked out at. */
  readonly commit: CommitId
  readonly tree: HeldTree
  /** The tree's files as they were before anything ran there. */
  readonly before: FilesBefore
  readonly agent: Agent
  readonly request: RunRequest
  /** The user's uncommitted work with all else, as the command found it; null = it was given none. */
  readonly given: TreeId | null
  /** What is to be said of the user's uncommitted work. */
  readonly notes: readonly string[]
  readonly marks: Marks
}

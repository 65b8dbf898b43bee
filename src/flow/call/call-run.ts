import type { ToolItem } from '../../model/batch.ts'
import type { CallKind, CallResult, NativeAnswers } from '../../model/call.ts'
import type { Dialect } from '../../model/dialect.ts'
import type { GalleyError, Refusal } from '../../model/error.ts'
import type { ErrorCode } from '../../model/error-codes.ts'
import type { PermissionMode } from '../../model/policy.ts'
import type { Failure } from '../../model/resolution.ts'
import type { Store } from '../../store/open-store.ts'
import type { CallJournal } from '../../store/turns.ts'
import type { ChangeView } from '../change-view.ts'
import type { World } from '../world.ts'

/** What a person is shown before they say yes to one call. */
export interface CallScreen {
  readonly change: ChangeView
  /** The system's own screen, where it has one; else the change's diff is what to show. */
  readonly native: { readonly text: string; readonly question: string } | null
}

/** How a call that no rule approves comes to its approval. */
export type CallApproval =
  /** Nobody is there to ask. */
  | { readonly kind: 'none' }
  /** In the user's name; refused where the environment shows an agent at work. */
  | { readonly kind: 'yes' }
  /** A person at a terminal. Anything but true is no. */
  | { readonly kind: 'ask'; readonly ask: (screen: CallScreen) => Promise<boolean> }
  /** Somebody else decides, through any surface. */
  | {
      readonly kind: 'wait'
      readonly timeoutMs: number
      readonly onWaiting?: (change: ChangeView) => void
    }

/** One call under way, its dialect known. */
export interface RunningCall {
  readonly world: World
  readonly store: Store
  readonly journal: CallJournal
  /** Its id in the journal. */
  readonly id: string
  readonly call: ToolItem
  readonly dialect: Dialect
  readonly answers: NativeAnswers
  readonly permissionMode: PermissionMode
  readonly approval: CallApproval
  readonly heldBack: () => string | null
  readonly root: string
}

/** What a call came to, before it is recorded. */
export interface CallEnd extends CallResult {
  readonly change: ChangeView | null
  /** What the journal keeps in place of the text, where that is long. */
  readonly keptText?: string
}

/** Refusals that have nothing to do with what was asked: the call itself was in order. */
const surroundings: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'in-progress',
  'unmerged',
  'locked',
  'busy',
  'branch-moved',
  'checked-out-elsewhere',
  'stale',
  'hook-refused',
  'io-error',
  'git-failed',
  'unsupported-repository',
  'not-a-repository',
  'git-too-old',
  'dubious-ownership',
  'no-identity',
  'invalid-policy',
  'digest-mismatch',
  'forged',
  'unknown-change',
  'wrong-state',
  'internal',
])

const forbidden: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'read-only',
  'denied',
  'not-approved',
  'agent-may-not-approve',
])

/** The kind of a refusal before a call has begun. */
export function kindOf({ code }: Refusal): CallKind {
  if (forbidden.has(code)) return 'denied'
  return surroundings.has(code) ? 'failed' : 'invalid_arguments'
}

/** The refusals that an error carries: every failing edit of a batch, each in its own words. */
export function refusalsOf(error: GalleyError): readonly Refusal[] {
  const { failures } = error.data
  return Array.isArray(failures) && failures.length > 0 ? (failures as readonly Failure[]) : [error]
}

/** A refused call in its system's own words. */
export function refusedEnd(
  run: Pick<RunningCall, 'answers' | 'call'>,
  error: GalleyError,
  kind: CallKind,
  change: ChangeView | null = null,
): CallEnd {
  return { kind, text: run.answers.refused(run.call, refusalsOf(error)), change }
}

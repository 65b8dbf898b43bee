import type { Verification } from '../model/verdict.ts'
import type { DiffFile } from '../review/diff-file.ts'
import { systemClock } from '../sys/clock.ts'
import { approve } from './approve.ts'
import { type CallAnswer, type CallRequest, callTool, unnamedSession } from './call/call.ts'
import type { CallApproval } from './call/call-run.ts'
import { acknowledgeCall } from './call/call-settle.ts'
import {
  type Captured,
  type CaptureListing,
  type CaptureRequest,
  capture,
  listCapture,
} from './capture/capture.ts'
import type { ChangeView } from './change-view.ts'
import { checkPolicyFile } from './check-policy.ts'
import { type CommentRequest, comment } from './comment.ts'
import { type DecideRequest, decideHunks } from './decide-hunks.ts'
import { type Fetched, type FetchRequest, fetchChanges } from './exchange/fetch.ts'
import { type Pushed, type PushRequest, pushChanges } from './exchange/push.ts'
import { type Collected, collectGarbage } from './gc/gc.ts'
import { type Purged, purge } from './gc/purge.ts'
import { type Applied, apply } from './land/apply.ts'
import { type Landed, land } from './land/land.ts'
import { type LandedAll, landAll } from './land/land-all.ts'
import { openTree } from './open-tree.ts'
import { type Proposed, type ProposeRequest, propose } from './propose.ts'
import { type ReadFile, type ReadRequest, readFile } from './read.ts'
import { recheck } from './recheck.ts'
import { finishInterrupted, type Recovered } from './recover.ts'
import { reject } from './reject.ts'
import { run } from './run/run.ts'
import type { RunOutcome, RunRequest } from './run/run-work.ts'
import { runVerb } from './run-verb.ts'
import { readPairs, type Shown, showChange } from './show.ts'
import { type LogFilter, listLog, type Status, status } from './status.ts'
import { previewRedo, type RedoRequest, redo } from './undo/redo.ts'
import { previewUndo, type Undone, type UndoPreview, type UndoRequest, undo } from './undo/undo.ts'
import { type VerifyRequest, verify } from './verify/verify.ts'
import { waitForDecision } from './wait.ts'
import { openWorld, type World } from './world.ts'

export interface OpenOptions {
  /** Default: the process's own. Read for agents' variables, the cache directory and git's configuration files. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Told what takes long and how far it is, in words for people; `''` = nothing does any more. */
  readonly onProgress?: (text: string) => void
}

type ChangeAnswer = Promise<{ readonly change: ChangeView }>

/** One repository, opened. Every method does what the verb of its name does, and throws `GalleyError` with the same codes. */
export interface Galley {
  readonly read: (request: ReadRequest) => Promise<ReadFile>
  /** `batch` may be the JSON's bytes, or the value itself. */
  readonly propose: (
    request: Omit<ProposeRequest, 'batch'> & { readonly batch: Uint8Array | object },
  ) => Promise<Proposed>
  /**
   * Runs one tool call, `{ tool, input }` as its JSON's bytes or the value itself. Without `approval` nobody but a rule
   * approves an edit. What came of it is in the answer; only what is no outcome of a call is thrown.
   */
  readonly call: (
    request: Omit<CallRequest, 'call' | 'approval'> & {
      readonly call: Uint8Array | object
      readonly approval?: CallApproval
    },
  ) => Promise<CallAnswer>
  /** Takes note that the outcome of a killed call is unknown, so that its session may go on. */
  readonly acknowledgeCall: (request: { readonly call: string; readonly session?: string }) => Promise<{
    readonly call: string
    readonly repeated: boolean
  }>
  /** Proposes, approves in your name, and lands: for a caller who has seen the batch itself. */
  readonly apply: (
    request: Omit<ProposeRequest, 'batch'> & { readonly batch: Uint8Array | object },
  ) => Promise<Applied>
  /** Runs the checks of a pending change again. */
  readonly check: (request: { readonly id: string }) => ChangeAnswer
  readonly show: (id: string) => Promise<Shown>
  readonly diff: (id: string, revision?: number) => Promise<readonly DiffFile[]>
  readonly approve: (request: { readonly id: string; readonly digest?: string }) => ChangeAnswer
  /** Says something of a pending change; no approval, and none is lost by it. Agents may, and it is noted as theirs. */
  readonly comment: (request: CommentRequest) => ChangeAnswer
  /** A reviewer's decisions by hunk: what is accepted becomes the next revision, the rest goes into the log with its reasons. */
  readonly decideHunks: (request: DecideRequest) => ChangeAnswer
  readonly reject: (request: { readonly id: string; readonly reason: string }) => ChangeAnswer
  readonly land: (request: { readonly id: string }) => Promise<Landed>
  /** Every approved change for the branch checked out, oldest first, as one queue. */
  readonly landAll: () => Promise<LandedAll>
  readonly undo: (request: UndoRequest) => Promise<Undone>
  /** What `undo` would stage; leaves nothing. */
  readonly previewUndo: (request: UndoRequest) => Promise<UndoPreview>
  readonly redo: (request: RedoRequest) => Promise<Undone>
  readonly previewRedo: (request: RedoRequest) => Promise<UndoPreview>
  /** Takes uncommitted work into a change; files, index and refs stay as they are. */
  readonly capture: (request?: CaptureRequest) => Promise<Captured>
  readonly listCapture: (request?: Pick<CaptureRequest, 'paths' | 'staged'>) => Promise<CaptureListing>
  /** Runs a command in a full scratch tree, and takes what it did into a change. */
  readonly run: (request: RunRequest) => Promise<RunOutcome>
  readonly gc: (request?: { readonly dryRun?: boolean }) => Promise<Collected>
  readonly wait: (request: { readonly id: string; readonly timeoutMs?: number }) => ChangeAnswer
  readonly status: () => Promise<Status>
  readonly log: (filter?: LogFilter) => ReturnType<typeof listLog>
  readonly openTree: (id: string) => ReturnType<typeof openTree>
  /** Gives changes, approvals and logs to a remote. */
  readonly push: (request?: PushRequest) => Promise<Pushed>
  /** What every commit of a range is; a failing one is told, not thrown. */
  readonly verify: (request: VerifyRequest) => Promise<Verification>
  /** Takes them from a remote. */
  readonly fetch: (request?: FetchRequest) => Promise<Fetched>
  /** Finishes or rolls back a landing that was cut off, as every method that writes does first; null = galley was never used here. */
  readonly recover: () => Promise<Recovered | null>
  /** The policy in the work tree that would be in force after a commit; with `ofHead` the one that is. */
  readonly checkPolicy: (request?: { readonly ofHead?: boolean }) => ReturnType<typeof checkPolicyFile>
  /** Removes galley from the repository. */
  readonly purge: (request?: { readonly force?: boolean; readonly dryRun?: boolean }) => Promise<Purged>
  readonly close: () => Promise<void>
}

/**
 * Opens the repository that holds `directory`.
 *
 * @throws GalleyError `not-a-repository`, `dubious-ownership`, `unsupported-repository`, `git-too-old`.
 */
export async function open(directory: string, options: OpenOptions = {}): Promise<Galley> {
  const world = await openWorld(directory, {
    ...options,
    env: options.env ?? process.env,
    clock: systemClock,
  })
  return withPublicCodes(world, {
    read: (request) => readFile(world, request),
    propose: ({ batch, ...rest }) => propose(world, { ...rest, batch: jsonBytes(batch) }),
    call: ({ call, approval = { kind: 'none' }, ...rest }) =>
      callTool(world, { ...rest, call: jsonBytes(call), approval }),
    acknowledgeCall: ({ call, session = unnamedSession }) => acknowledgeCall(world, { call, session }),
    apply: ({ batch, ...rest }) => apply(world, { ...rest, batch: jsonBytes(batch) }),
    check: ({ id }) => recheck(world, id),
    show: (id) => showChange(world, id),
    diff: (id, revision) => readPairs(world, id, revision),
    approve: (request) => approve(world, { ...request, via: 'cli' }),
    comment: (request) => comment(world, request),
    decideHunks: (request) => decideHunks(world, request),
    reject: (request) => reject(world, request),
    land: (request) => land(world, request),
    landAll: () => landAll(world),
    undo: (request) => undo(world, request),
    previewUndo: (request) => previewUndo(world, request),
    redo: (request) => redo(world, request),
    previewRedo: (request) => previewRedo(world, request),
    capture: (request = {}) => capture(world, request),
    listCapture: (request = {}) => listCapture(world, request),
    run: (request) => run(world, request),
    gc: (request = {}) => collectGarbage(world, { dryRun: request.dryRun === true }),
    wait: (request) => waitForDecision(world, request),
    status: () => status(world),
    log: (filter = {}) => listLog(world, filter),
    openTree: (id) => openTree(world, id),
    push: (request = {}) => pushChanges(world, request),
    verify: (request) => verify(world, request),
    fetch: (request = {}) => fetchChanges(world, request),
    recover: () => finishInterrupted(world),
    checkPolicy: (request = {}) => checkPolicyFile(world, request.ofHead === true),
    purge: ({ force = false, dryRun = false } = {}) => purge(world, { force, dryRun }),
    close: () => world.close(),
  })
}

function withPublicCodes(world: Pick<World, 'noteFailure' | 'whileRunning'>, galley: Galley): Galley {
  const named =
    (verb: (...args: readonly never[]) => Promise<unknown>) =>
    (...args: readonly never[]) =>
      runVerb(world, () => verb(...args))
  return Object.fromEntries(
    Object.entries(galley).map(([name, verb]) => [name, named(verb)]),
  ) as unknown as Galley
}

const jsonBytes = (value: Uint8Array | object): Uint8Array =>
  value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value), 'utf8')

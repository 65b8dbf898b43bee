/**
 * The library: open a repository, and do what the command line does, with the same values. Long-lived: one object reader is
 * kept running until `close`.
 *
 * @example
 * import { open } from 'git-galley'
 * const galley = await open('.')
 * const { change } = await galley.propose({ batch: { version: 1, title: 'Fix', edits: [ … ] } })
 * await galley.close()
 */

export type { CallAnswer } from './flow/call/call.ts'
export type { CallApproval, CallScreen } from './flow/call/call-run.ts'
export type { Captured, CaptureListing } from './flow/capture/capture.ts'
export type { ChangeView } from './flow/change-view.ts'
export type { Fetched } from './flow/exchange/fetch.ts'
export type { Pushed } from './flow/exchange/push.ts'
export { type Galley, type OpenOptions, open } from './flow/galley.ts'
export type { Collected } from './flow/gc/gc.ts'
export type { Purged } from './flow/gc/purge.ts'
export type { Landed } from './flow/land/land.ts'
export type { LandedAll } from './flow/land/land-all.ts'
export type { Proposed } from './flow/propose.ts'
export type { ReadFile } from './flow/read.ts'
export type { Recovered } from './flow/recover.ts'
export type { RunOutcome } from './flow/run/run-work.ts'
export type { Shown } from './flow/show.ts'
export type { Status } from './flow/status.ts'
export type { Undone, UndoPreview } from './flow/undo/undo.ts'
export type { CallKind } from './model/call.ts'
export { GalleyError, type Refusal } from './model/error.ts'
export { type ErrorCode, errorCodes, hintFor, meaningOf } from './model/error-codes.ts'
export type { CommitVerdict, Verdict, Verification } from './model/verdict.ts'
export { version } from './model/version.ts'

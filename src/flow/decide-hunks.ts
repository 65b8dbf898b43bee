import { blobIdOf } from '../git/blob-id.ts'
import { parseCommit } from '../git/commit.ts'
import type { FileChange } from '../git/fast-import.ts'
import { type ChangeEvent, isPending, type Revision } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import type { Manifest, Transition } from '../model/manifest.ts'
import { nameAndEmail } from '../model/person.ts'
import { renamesOf } from '../model/renames.ts'
import { judgeTransitions } from '../policy/judge.ts'
import type { DiffFile } from '../review/diff-file.ts'
import type { ReviewNote } from '../review/draft-notes.ts'
import {
  type Accepted,
  acceptPieces,
  findPieces,
  isEditable,
  type PieceName,
  partsOf,
  piecesOf,
  type Refused,
  type ReviewPiece,
} from '../review/pieces.ts'
import { quoteHunk } from '../review/quote-lines.ts'
import { appendEvents, type LoggedChange } from '../store/change-log.ts'
import { withLandingLock } from '../store/lock.ts'
import type { Store } from '../store/open-store.ts'
import { refuseAgents } from './approve.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { checkRevision, currentRevision } from './check.ts'
import { linesPlace, refuseOtherDigest } from './comment.ts'
import { confirmStored, loadChange, policyOf, refuseLostBase } from './logged-change.ts'
import { pairFiles } from './pair-files.ts'
import { finishRecorded } from './record-landing.ts'
import { finishInterrupted } from './recover.ts'
import { refuseBatch } from './refuse-batch.ts'
import { filesOf } from './rewritten.ts'
import { stageRevision } from './stage.ts'
import { storedChange } from './stored-changes.ts'
import type { World } from './world.ts'

/** Context of the hunks that `show` and `diff` number. */
const CONTEXT_LINES = 3

export interface DecideRequest {
  readonly id: string
  /** What the reviewer saw: refused where the change is another one by now. */
  readonly digest: string
  readonly notes: readonly ReviewNote[]
  /** Rejects the change, notes and all, in place of staging what is accepted. */
  readonly sendBack?: boolean
}

/**
 * Takes a reviewer's decisions on the hunks of the revision that they saw. What no note rejects is accepted: it becomes the next revision,
 * which is checked and waits for an approval. Where nothing is accepted, the change is rejected; where all is, only the notes are kept.
 * Each rejected hunk and its reason goes into the log, in the same step.
 *
 * @throws GalleyError `agent-may-not-approve`, `digest-mismatch`, `wrong-state`, `out-of-range` for a number that no hunk has,
 * `not-found` for a path, `exists` where an accepted file has no room beside a rejected one, `overlaps-uncommitted`, `busy`, and what the
 * policy says.
 */
export async function decideHunks(
  world: World,
  request: DecideRequest,
): Promise<{ readonly change: ChangeView }> {
  refuseAgents(world, { id: request.id })
  await finishInterrupted(world)
  const store = await world.store()
  const { logged, isNew } = await withLandingLock(store.galleyDir, world.clock, 'review', async () => {
    const found = await loadChange(world, store, request.id)
    const isLanded = (await finishRecorded(world, store, found)) !== null
    return decide(world, store, isLanded ? await loadChange(world, store, request.id) : found, request)
  })
  world.log.note('reviewed', { change: logged.change.id, notes: request.notes.length })
  if (!isNew) return { change: viewChange(logged.change) }
  const checked = await checkRevision(world, store, logged, await policyOf(world, logged))
  return { change: viewChange(checked.change) }
}

async function decide(world: World, store: Store, logged: LoggedChange, request: DecideRequest) {
  const { id, state } = logged.change
  if (!isPending(state))
    refuse('wrong-state', `${id} is ${state}; only a pending change is reviewed`, { id, state })
  refuseOtherDigest(logged, request.digest)
  await refuseLostBase(world, store, logged)
  await confirmStored(store, logged)
  const revision = currentRevision(logged)
  const files = await pairFiles(await world.reader(), revision.manifest, renamesOf([revision]))
  const pieces = wantedPieces(files, request.notes)
  const identity = await world.identity()
  const said = { at: world.now(), by: nameAndEmail(identity), revision: revision.number }
  const noted = notesOf(pieces, request.notes)
  const events = noted.events.map((words): ChangeEvent => ({ kind: 'commented', ...said, ...words }))
  const isNothing = noted.rejected.size === pieces.length
  if (isNothing || request.sendBack === true) {
    const reason = reasonOf(noted.rejected.size, pieces.length)
    const rejected: ChangeEvent = { kind: 'rejected', ...said, reason }
    const records = [...events, rejected].map((event) => ({ event }))
    return { logged: await appendEvents(store, logged, records, identity), isNew: false }
  }
  if (noted.rejected.size + noted.edited.size > 0) {
    const next = await composeRevision(world, logged, acceptPieces(pieces, noted))
    const staged = { ...next, before: events, committer: identity }
    const reason = stagedReason(noted, pieces.length)
    return { logged: await stageRevision(world, store, logged, staged, reason), isNew: true }
  }
  if (events.length === 0) return { logged, isNew: false }
  const records = events.map((event) => ({ event }))
  return { logged: await appendEvents(store, logged, records, identity), isNew: false }
}

const reasonOf = (rejected: number, all: number): string =>
  rejected === 0 ? 'see the comments' : `${rejected} of ${all} hunks rejected: see the comments`

function stagedReason({ rejected, edited }: Refused, all: number): string {
  const without =
    rejected.size === 0 ? [] : [`without the ${rejected.size} of ${all} hunks that were rejected`]
  const changed = edited.size === 0 ? [] : [`with ${edited.size} of ${all} hunks as the reviewer edited them`]
  return [...without, ...changed].join(', ')
}

/** The pieces of which notes speak: a hunk in parts where one of them names a part. */
function wantedPieces(files: readonly DiffFile[], notes: readonly ReviewNote[]): readonly ReviewPiece[] {
  const split = new Set(notes.flatMap(({ hunk, part }) => (part === undefined ? [] : [hunk])))
  return piecesOf(files, CONTEXT_LINES).flatMap((piece) => {
    const parts = split.has(piece.hunks[0]?.number) ? partsOf(piece) : []
    return parts.length === 0 ? [piece] : parts
  })
}

/** Notes as they stand in the log, with the lines that they are about, and which pieces are not taken as they are. */
function notesOf(pieces: readonly ReviewPiece[], notes: readonly ReviewNote[]) {
  const rejected = new Set<number>()
  const edited = new Map<number, Uint8Array>()
  const most = limits.commentsMax
  if (notes.length > most) refuse('too-large', `${notes.length} notes; ${most} are allowed`, { limit: most })
  const events = notes.flatMap((note) => {
    const { hunk, path, text, rejects, instead, line } = note
    if (text.length > limits.bodyMaxBytes)
      refuse('too-large', `a note has ${text.length} characters`, { limit: limits.bodyMaxBytes })
    if (hunk === undefined && path === undefined) return [{ text }]
    const named = findPieces(pieces, note)
    if (named.length === 0) refuseUnknown(pieces, note)
    if (rejects === true) for (const index of named) rejected.add(index)
    if (instead !== undefined) edited.set(editedPiece(pieces, named), Buffer.from(instead, 'utf8'))
    const mark = rejects === true ? { rejects } : instead === undefined ? {} : { edits: true as const }
    const [first = 0] = named
    const file = pieces[first]?.file
    if (line !== undefined && hunk === undefined && file !== undefined)
      return [{ text, ...linesPlace(file, line, note.toLine ?? line) }]
    // A comment on a file is one, whatever the number of its hunks.
    if (hunk === undefined && rejects !== true) return [{ text, ...mark, path: path ?? '' }]
    return named.flatMap((index) => {
      const piece = pieces[index]
      return piece === undefined ? [] : [{ text, ...mark, ...placeOf(piece) }]
    })
  })
  return { rejected, edited, events }
}

function editedPiece(pieces: readonly ReviewPiece[], [index = -1, ...others]: readonly number[]): number {
  const piece = pieces[index]
  if (piece !== undefined && others.length === 0 && isEditable(piece)) return index
  const path = piece?.file.path ?? ''
  const message = `${path}: only one hunk of a file with lines can be edited`
  refuse('usage', message, { path }, 'Accept it or reject it; comment with what you would have instead.')
}

function placeOf({ file, hunks }: ReviewPiece) {
  const [hunk] = hunks
  if (hunk === undefined) return { path: file.path }
  const [line, count] = hunk.newCount > 0 ? [hunk.newStart, hunk.newCount] : [hunk.oldStart, hunk.oldCount]
  const about = quoteHunk(hunks.flatMap((one) => one.lines))
  return { path: file.path, line, toLine: line + Math.max(count, 1) - 1, about }
}

function refuseUnknown(pieces: readonly ReviewPiece[], { hunk, path }: PieceName): never {
  const count = pieces.reduce((sum, piece) => sum + piece.hunks.length, 0)
  if (hunk !== undefined)
    refuse('out-of-range', `there is no hunk ${hunk}; there are ${count}`, { hunk, hunks: count })
  const paths = [...new Set(pieces.map((piece) => piece.file.path))].slice(0, 200)
  const shown = paths
    .slice(0, 5)
    .map((one) => JSON.stringify(one))
    .join(', ')
  refuse(
    'not-found',
    `the change does not touch ${JSON.stringify(path)}`,
    { path, paths },
    `It touches ${shown}.`,
  )
}

/** The next revision: transitions of accepted files, and the bytes of those accepted in part. */
async function composeRevision(world: World, logged: LoggedChange, accepted: readonly Accepted[]) {
  const revision = currentRevision(logged)
  refuseParted(logged, accepted)
  const format = world.repository.objectFormat
  const dropped = new Set(
    accepted
      .filter((one) => one.kind === 'nothing')
      .flatMap(({ file }) => [file.path, ...(file.renamedFrom === undefined ? [] : [file.renamedFrom])]),
  )
  const parts = new Map(
    accepted.flatMap((one) => (one.kind === 'part' ? [[one.file.path, one.bytes] as const] : [])),
  )
  const manifest: Transition[] = []
  const changes: FileChange[] = []
  for (const transition of revision.manifest) {
    if (dropped.has(transition.path)) continue
    const bytes = parts.get(transition.path)
    const next = bytes === undefined ? transition : { ...transition, newBlob: await blobIdOf(bytes, format) }
    const stored = storedChange(next)
    manifest.push(next)
    const isPart = bytes !== undefined && stored.kind === 'blob' && stored.mode !== '160000'
    changes.push(isPart ? { kind: 'bytes', path: next.path, mode: stored.mode, bytes } : stored)
  }
  refuseNoRoom(
    manifest,
    revision.manifest.filter((t) => dropped.has(t.path)),
  )
  const { policy } = await policyOf(world, logged)
  const denied = judgeTransitions(policy, manifest, () => 0)
  if (denied.length > 0) refuseBatch(denied)
  const reader = await world.reader()
  return {
    base: revision.base,
    content: { kind: 'changes', changes, manifest },
    files: await countAccepted(world, revision, manifest, parts),
    remarks: revision.remarks.filter((remark) => !dropped.has(remark.path)),
    reads: revision.reads,
    author: (await parseCommit(reader, revision.commit)).author,
  } as const
}

async function countAccepted(
  world: World,
  revision: Revision,
  manifest: Manifest,
  parts: ReadonlyMap<string, Uint8Array>,
) {
  const { keepBytes } = await import('../store/keep-objects.ts')
  for (const bytes of parts.values()) await keepBytes(await world.store(), bytes)
  return filesOf(await world.reader(), manifest, revision, new Set(parts.keys()))
}

/** Bytes that stand in the work tree, and are part of the change, cannot be told apart by its hunks. */
function refuseParted({ change }: LoggedChange, accepted: readonly Accepted[]): void {
  const facts = new Map(change.revisions.at(-1)?.files.map((file) => [file.path, file]))
  const path = accepted.find(
    (one) => one.kind === 'part' && (change.captured || facts.get(one.file.path)?.taken !== undefined),
  )?.file.path
  if (path === undefined) return
  const message = `${path} holds uncommitted work that the change takes along: it is accepted or rejected whole`
  refuse('overlaps-uncommitted', message, { path }, 'Decide on all hunks of that file alike.')
}

/** A file that stays because its deletion was rejected may stand where an accepted one was to go. */
function refuseNoRoom(kept: Manifest, dropped: Manifest): void {
  const staying = dropped.filter((t) => t.oldMode !== '000000').map((t) => t.path)
  for (const { path, newMode } of kept) {
    if (newMode === '000000') continue
    const folded = path.toLowerCase()
    const other = staying.find((one) => {
      const old = one.toLowerCase()
      return old === folded || old.startsWith(`${folded}/`) || folded.startsWith(`${old}/`)
    })
    if (other === undefined) continue
    const message = `${path} cannot be made: ${other} stays, because that part was rejected`
    refuse('exists', message, { path, other }, 'Accept both, or reject both.')
  }
}

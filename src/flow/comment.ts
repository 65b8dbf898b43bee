import { type ChangeEvent, type CommentWords, isPending, type QuotedLines } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { nameAndEmail } from '../model/person.ts'
import { renamesOf } from '../model/renames.ts'
import { type DiffFile, isBinaryFile } from '../review/diff-file.ts'
import { countLinesOf, quoteHunk, quoteLines } from '../review/quote-lines.ts'
import { numberHunks } from '../review/unified-diff.ts'
import { appendEvents, type LoggedChange } from '../store/change-log.ts'
import { withLandingLock } from '../store/lock.ts'
import { agentSign } from './agent-sign.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { currentRevision } from './check.ts'
import { loadChange } from './logged-change.ts'
import { pairFiles } from './pair-files.ts'
import { finishRecorded } from './record-landing.ts'
import { finishInterrupted } from './recover.ts'
import type { World } from './world.ts'

/** Context of the hunks that `show` and `diff` number. */
const CONTEXT_LINES = 3

export interface CommentRequest {
  readonly id: string
  readonly text: string
  /** A file of the change, from the root of the repository. Default: the comment is on the whole change. */
  readonly path?: string
  /** Lines of it as the change makes it, from 1; of a file that it deletes, as it was. */
  readonly line?: number
  readonly toLine?: number
  /** In place of path and lines: a hunk, by the number that `show` and `diff` print. */
  readonly hunk?: number
  /** The digest that was shown: refused where the change is another one by now. Default: whatever it is. */
  readonly digest?: string
}

/**
 * Notes a comment on a pending change, with the lines that it is about. Nothing is decided by it, and no approval is lost.
 *
 * @throws GalleyError `usage` for no text, `too-large`, `wrong-state`, `digest-mismatch`, `not-found` for a file that the change does
 * not touch, `binary`, `out-of-range`, `unknown-change`, `ambiguous-name`, `busy`, `no-identity`.
 */
export async function comment(
  world: World,
  request: CommentRequest,
): Promise<{ readonly change: ChangeView }> {
  const text = request.text.trim()
  if (text === '') refuse('usage', 'a comment needs a text', {}, 'Say it with -m.')
  if (text.length > limits.bodyMaxBytes) {
    const message = `the comment has ${text.length} characters; ${limits.bodyMaxBytes} are allowed`
    refuse('too-large', message, { limit: limits.bodyMaxBytes }, 'Say it in several comments.')
  }
  await finishInterrupted(world)
  const store = await world.store()
  return withLandingLock(store.galleyDir, world.clock, 'comment', async () => {
    const found = await loadChange(world, store, request.id)
    const isLanded = (await finishRecorded(world, store, found)) !== null
    const logged = isLanded ? await loadChange(world, store, request.id) : found
    refuseUnfit(logged, request.digest)
    const identity = await world.identity()
    const event: ChangeEvent = {
      kind: 'commented',
      at: world.now(),
      by: nameAndEmail(identity),
      revision: currentRevision(logged).number,
      text,
      ...(await placeOf(world, logged, request)),
      ...(agentSign(world) === null ? {} : { byAgent: true }),
    }
    const commented = await appendEvents(store, logged, [{ event }], identity)
    world.log.note('commented', { change: logged.change.id })
    return { change: viewChange(commented.change) }
  })
}

function refuseUnfit(logged: LoggedChange, digest: string | undefined): void {
  const { id, state, comments } = logged.change
  if (!isPending(state))
    refuse('wrong-state', `${id} is ${state}; only a pending change takes comments`, { id, state })
  refuseOtherDigest(logged, digest)
  if (comments.length < limits.commentsMax) return
  const message = `${id} has ${comments.length} comments; no more are taken`
  refuse('too-large', message, { id, limit: limits.commentsMax }, 'Decide on it: approve or reject.')
}

/** @throws GalleyError `digest-mismatch`, if what was shown is not what the change is now. */
export function refuseOtherDigest({ change }: LoggedChange, digest: string | undefined): void {
  const now = change.revisions.at(-1)?.digest
  if (digest === undefined || digest === now) return
  const given = digest.slice(0, 64)
  const data = { id: change.id, digest: now, given }
  refuse('digest-mismatch', `${change.id} has the digest ${now}, not ${given}`, data)
}

type Place = Pick<CommentWords, 'path' | 'line' | 'toLine' | 'about'>

async function placeOf(world: World, logged: LoggedChange, request: CommentRequest): Promise<Place> {
  const { path, line, hunk } = request
  if (hunk === undefined && path === undefined) return {}
  const revision = currentRevision(logged)
  const files = await pairFiles(await world.reader(), revision.manifest, renamesOf([revision]))
  if (hunk !== undefined) return hunkPlace(files, hunk)
  const file = files.find((one) => one.path === path)
  if (file === undefined) refuseStrange(logged, files, path ?? '')
  return line === undefined ? { path: file.path } : linesPlace(file, line, request.toLine ?? line)
}

function refuseStrange({ change }: LoggedChange, files: readonly DiffFile[], path: string): never {
  const paths = files.map((file) => file.path)
  const shown = paths.slice(0, 5).map((one) => JSON.stringify(one))
  const message = `${change.id} does not touch ${JSON.stringify(path.slice(0, limits.quoteMaxCharacters))}`
  const more = paths.length > shown.length ? ` and ${paths.length - shown.length} more` : ''
  const hint = `It touches ${shown.join(', ')}${more}. Name one from the root of the repository, or leave the place out.`
  refuse('not-found', message, { id: change.id, paths: paths.slice(0, 200) }, hint)
}

/** The lines of a hunk in the new file, where it has any there. */
function hunkPlace(files: readonly DiffFile[], number: number): Place {
  const hunks = numberHunks(files, CONTEXT_LINES)
  const hunk = hunks.find((one) => one.number === number)
  if (hunk === undefined) {
    const message = `there is no hunk ${number}; there are ${hunks.length}`
    refuse('out-of-range', message, { hunk: number, hunks: hunks.length })
  }
  const isNew = hunk.newCount > 0
  const [line, count] = isNew ? [hunk.newStart, hunk.newCount] : [hunk.oldStart, hunk.oldCount]
  return { path: hunk.path, line, toLine: line + Math.max(count, 1) - 1, about: quoteHunk(hunk.lines) }
}

/** @throws GalleyError `binary`, `out-of-range`. */
export function linesPlace(file: DiffFile, line: number, toLine: number): Place {
  const { path, before, after } = file
  if (isBinaryFile(file))
    refuse('binary', `${path} has no lines`, { path }, 'Comment on the file: leave the line out.')
  const side = after ?? before
  const about: QuotedLines | null =
    side === null ? null : quoteLines(side.bytes, after === null ? 'old' : 'new', { from: line, to: toLine })
  if (about !== null) return { path, line, toLine, about }
  const count = side === null ? 0 : countLinesOf(side.bytes)
  const message = `${path} has ${count} lines; found ${line}${toLine === line ? '' : `-${toLine}`}`
  refuse('out-of-range', message, { path, line, toLine, count }, 'Count in the file as the change makes it.')
}

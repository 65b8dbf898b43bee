import { requestPath } from '../../dialects/request-path.ts'
import { isPending } from '../../model/change.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import { absent, type FileState } from '../../model/file-state.ts'
import { blobId } from '../../model/ids.ts'
import type { ResolvedFile, ResolvedState } from '../../model/resolution.ts'
import type { DiffSide } from '../../review/diff-file.ts'
import { callsOf } from '../../store/turns.ts'
import { type ChangeView, viewChange } from '../change-view.ts'
import { loadChange } from '../logged-change.ts'
import { readPairs } from '../show.ts'
import { undo } from '../undo/undo.ts'
import { editDone, finishCall } from './call-edit.ts'
import { stableJson } from './call-replay.ts'
import type { CallEnd, RunningCall } from './call-run.ts'

/**
 * Runs the editor's `undo_edit`: stages the inverse of the last edit that this session landed in the file and has not
 * undone, and takes it through the gate as any other change.
 *
 * @throws GalleyError `not-found`, if the session has no such edit; else as `undo`.
 */
export async function runUndo(run: RunningCall): Promise<CallEnd> {
  const { world, call } = run
  const given = call.input['path']
  const mapped = requestPath(typeof given === 'string' ? given : '', run.root)
  if (mapped.kind === 'refused') throw new GalleyError(mapped.refusal)
  const change = (await stagedBefore(run)) ?? (await stageUndo(run, mapped.path))
  const pairs = await readPairs(world, change.id)
  const files = pairs.map(
    ({ path, before, after }): ResolvedFile => ({
      path,
      before: stateOf(before),
      after: resolvedOf(after),
      tier: 'exact',
    }),
  )
  // The answer shows the file as a whole, as after a write of it.
  const edits = files.flatMap(({ path, after }) =>
    after.kind === 'file'
      ? [{ op: 'write', item: 0, step: 0, path, content: after.bytes, mode: 'either', isText: true } as const]
      : [],
  )
  return finishCall(run, { change, asked: 1 }, await editDone(run, edits, { files, results: [] }))
}

async function stageUndo(run: RunningCall, path: string): Promise<ChangeView> {
  const target = await lastEdit(run, path)
  if (target === null) {
    refuse('unknown-change', `No edit history found for ${path} in this session.`, { path })
  }
  return (await undo(run.world, { target })).change
}

/** The undo that the same call has staged before and that still waits, or has been approved since. */
async function stagedBefore({ world, store, journal, call }: RunningCall): Promise<ChangeView | null> {
  const asked = stableJson(call.input)
  for (const { entry, outcome } of callsOf(journal.entries()).calls.toReversed()) {
    if (outcome === null || outcome.change === null) continue
    if (!('text' in entry.arguments) || entry.arguments.text !== asked) return null
    const { change } = await loadChange(world, store, outcome.change)
    return isPending(change.state) ? viewChange(change) : null
  }
  return null
}

/** The change of the session's last edit of the file that still stands. */
async function lastEdit({ world, store, journal }: RunningCall, path: string): Promise<string | null> {
  for (const { start, outcome } of callsOf(journal.entries()).calls.toReversed()) {
    if (outcome?.outcome !== 'completed' || start === null || start.change === null) continue
    if (!start.files.some((file) => file.path === path)) continue
    const { change } = await loadChange(world, store, start.change)
    if (change.state === 'landed' && change.undoes.length === 0) return change.id
  }
  return null
}

const stateOf = (side: DiffSide | null): FileState =>
  side === null
    ? absent
    : { kind: 'file', bytes: side.bytes, executable: side.mode === '100755', blob: blobId(side.blob) }

const resolvedOf = (side: DiffSide | null): ResolvedState =>
  side === null ? { kind: 'absent' } : { kind: 'file', bytes: side.bytes, executable: side.mode === '100755' }

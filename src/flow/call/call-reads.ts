import type { Edit } from '../../model/edit.ts'
import type { Refusal } from '../../model/error.ts'
import type { ReadRecord } from '../../model/file-state.ts'
import { blobId } from '../../model/ids.ts'
import type { ResolvedFile } from '../../model/resolution.ts'
import { keepBytes } from '../../store/keep-objects.ts'
import { type ReadEntry, readJournal, readsOf } from '../../store/sessions.ts'
import { callsOf } from '../../store/turns.ts'
import type { ChangeView } from '../change-view.ts'
import { callFiles } from './call-files.ts'
import type { RunningCall } from './call-run.ts'

/** No line was shown. */
const noLines = { from: 1, to: 0 } as const

/**
 * Renews the session's reads after a call has landed, on top of what every landing does for its session: the blob that
 * the working file really has (beneath uncommitted work it is not the tree's), every line of a file that the call wrote
 * as a whole, and Agent Zero's rule, by which numbered lines stay known only where each edit keeps their number.
 */
export async function renewReads(
  run: RunningCall,
  change: ChangeView,
  edits: readonly Edit[],
  files: readonly ResolvedFile[],
): Promise<void> {
  const ids = await callFiles(run.world, files)
  const known = readsOf(await readJournal(run.store, run.journal.session))
  const entries: ReadEntry[] = []
  for (const [index, file] of files.entries()) {
    const after = ids[index]?.after ?? null
    const read = known.find(({ path }) => path === file.path)
    const entryFor = (
      lines: ReadEntry['lines'],
      keepsLines: boolean,
      blob: string | null = after,
    ): ReadEntry => ({
      kind: 'read',
      at: run.world.now(),
      path: file.path,
      blob: blob === null ? null : blobId(blob),
      lines,
      keepsLines,
    })
    if (file.after.kind === 'file' && after !== read?.blob) await keepBytes(run.store, file.after.bytes)
    if (edits.some((edit) => edit.op === 'write' && edit.path === file.path))
      entries.push(entryFor(null, false))
    else if (read !== undefined && losesLines(run, edits, file, change))
      // Another blob in between: reads of one blob add up.
      entries.push(entryFor(noLines, false, null), entryFor(noLines, false))
    else if (read !== undefined && read.blob !== after) entries.push(entryFor(null, true))
  }
  await run.journal.append(...entries)
}

function losesLines(
  run: RunningCall,
  edits: readonly Edit[],
  file: ResolvedFile,
  change: ChangeView,
): boolean {
  if (run.dialect.name === 'agent-zero') return !edits.every(keepsLineCount)
  const facts = change.files.find(({ path }) => path === file.path)
  return facts === undefined || facts.added === null || facts.added !== facts.removed
}

/** Agent Zero's rule: a range replaced by as many lines. */
function keepsLineCount(edit: Edit): boolean {
  if (edit.op !== 'lines' || edit.to === null) return false
  const content = edit.content ?? ''
  const newlines = content.split('\n').length - 1
  return newlines + (content === '' || content.endsWith('\n') ? 0 : 1) === edit.to - edit.from + 1
}

/**
 * Tells Agent Zero's two reasons for which a numbered edit finds no read apart: the session never read the file, or its
 * own edit moved the lines since. The second is a stale read there.
 */
export function agentZeroFreshness(run: RunningCall, refusals: readonly Refusal[]): readonly Refusal[] {
  const entries = run.journal.entries()
  return refusals.map((refusal) => {
    const path = 'path' in refusal ? String(refusal.path) : String(refusal.data['path'] ?? '')
    if (refusal.code !== 'not-read' || !movedByOwnEdit(entries, path)) return refusal
    const message = `${refusal.message}; an edit of this session has moved its lines since`
    return { ...refusal, code: 'stale-read', message }
  })
}

function movedByOwnEdit(entries: Parameters<typeof readsOf>[0], path: string): boolean {
  const read: ReadRecord | undefined = readsOf(entries).find((record) => record.path === path)
  if (read !== undefined) return read.lines?.every(({ from, to }) => to < from) === true
  return callsOf(entries).calls.some(
    ({ start, outcome }) =>
      outcome?.outcome === 'completed' && start?.files.some((file) => file.path === path) === true,
  )
}

import type { Change, Revision } from '../model/change.ts'
import { blobId } from '../model/ids.ts'
import type { Store } from '../store/open-store.ts'
import { type JournalEntry, readJournal, readsOf, recordInSession } from '../store/sessions.ts'
import type { World } from './world.ts'

/**
 * An agent's own landed change renews its session's reads (DESIGN.md section 6): the new blob is known for text edits; the
 * lines shown stay known only where the number of lines is kept.
 */
export async function refreshSession(world: World, store: Store, change: Change): Promise<void> {
  const session = change.agent?.session
  const revision = change.revisions.at(-1)
  if (session === undefined || revision === undefined) return
  const known = new Set(readsOf(await readJournal(store, session)).map((read) => read.path))
  const own = new Map(ownRevision(change)?.manifest.map((t) => [t.path, t.newBlob]))
  const facts = new Map(revision.files.map((f) => [f.path, f]))
  const entries = revision.manifest
    .filter((t) => known.has(t.path))
    .map((t): JournalEntry => {
      const fact = facts.get(t.path)
      const isCounted = fact !== undefined && fact.added !== null && fact.added === fact.removed
      // What a check, or a merge, made of the lines the session has not been shown.
      const keepsLines = isCounted && own.get(t.path) === t.newBlob
      const working = fact?.working?.new ?? t.newBlob
      const blob = t.newMode === '000000' ? null : blobId(working)
      return { kind: 'read', at: world.now(), path: t.path, blob, lines: null, keepsLines }
    })
  // Without the lines kept, the session knows the bytes but was shown none of their lines.
  await recordInSession(
    store,
    session,
    entries.map((e) => (e.kind === 'read' && !e.keepsLines ? { ...e, lines: { from: 1, to: 0 } } : e)),
  )
}

/** The last one that its author wrote: others were made of it by checks and merges. */
function ownRevision(change: Change): Revision | undefined {
  const staged = change.log.flatMap((e) => (e.kind === 'staged' || e.kind === 'restaged' ? [e] : []))
  return staged.findLast(({ reason }) => reason === 'proposed' || reason === 'revised')?.revision
}

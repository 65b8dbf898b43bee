import type { Change } from '../model/change.ts'
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
  const rewritten = new Set(revision.remarks.flatMap((r) => (r.kind === 'rewritten' ? [r.path] : [])))
  const facts = new Map(revision.files.map((f) => [f.path, f]))
  const entries = revision.manifest
    .filter((t) => known.has(t.path))
    .map((t): JournalEntry => {
      const fact = facts.get(t.path)
      const isCounted = fact !== undefined && fact.added !== null && fact.added === fact.removed
      // What a check made of the lines the session has not been shown.
      const keepsLines = isCounted && !rewritten.has(t.path)
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

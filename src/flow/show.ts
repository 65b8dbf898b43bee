import type { ChangeEvent, CheckResult } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import type { FileMode } from '../model/manifest.ts'
import type { DiffFile, DiffSide } from '../review/diff-file.ts'
import { readAttachment } from '../store/change-log.ts'
import { loadChange } from './approve.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { currentRevision } from './check.ts'
import type { World } from './world.ts'

export interface Shown {
  readonly change: ChangeView
  readonly log: readonly ChangeEvent[]
  readonly outputs: readonly { readonly check: CheckResult; readonly output: string }[]
}

/** Shows a change: its current revision, checks with their output, approvals, comments and log. */
export async function showChange(world: World, id: string): Promise<Shown> {
  const store = await world.store()
  const logged = await loadChange(world, store, id)
  const reader = await world.reader()
  const outputs = await Promise.all(
    logged.change.checks.map(async (check, i) => {
      const bytes = await readAttachment(reader, logged.tip, `output/${i + 1}.txt`)
      return { check, output: bytes?.toString('utf8') ?? '' }
    }),
  )
  return { change: viewChange(logged.change), log: logged.change.log, outputs }
}

/**
 * The bytes of every file of one revision, both sides. A rename is one pair.
 *
 * @throws GalleyError `unknown-change`, `out-of-range` for a revision that does not exist.
 */
export async function readPairs(world: World, id: string, number?: number): Promise<readonly DiffFile[]> {
  const store = await world.store()
  const logged = await loadChange(world, store, id)
  const revision = number === undefined ? currentRevision(logged) : logged.change.revisions[number - 1]
  if (revision === undefined) {
    refuse(
      'out-of-range',
      `${logged.change.id} has ${logged.change.revisions.length} revisions, not ${number}`,
      { revision: number },
    )
  }
  const reader = await world.reader()
  const sideOf = async (mode: FileMode, blob: string): Promise<DiffSide | null> => {
    if (mode === '000000') return null
    const found = await reader.contents(blob)
    if (found === null) refuse('stale', `the blob ${blob} is not in the repository any more`, { blob })
    return { mode, blob, bytes: found.bytes }
  }
  const origins = new Map(
    revision.files.flatMap((f) => (f.renamedFrom === undefined ? [] : [[f.path, f.renamedFrom] as const])),
  )
  const moved = new Set(origins.values())
  const byPath = new Map(revision.manifest.map((t) => [t.path, t]))
  const pairs: DiffFile[] = []
  for (const t of revision.manifest) {
    if (t.newMode === '000000' && moved.has(t.path)) continue
    const origin = origins.get(t.path)
    const source = origin === undefined ? t : (byPath.get(origin) ?? t)
    const sides = {
      before: await sideOf(source.oldMode, source.oldBlob),
      after: await sideOf(t.newMode, t.newBlob),
    }
    pairs.push({ path: t.path, ...sides, ...(origin === undefined ? {} : { renamedFrom: origin }) })
  }
  return pairs
}

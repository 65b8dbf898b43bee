import type { ChangeEvent, CheckResult } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import { renamesOf } from '../model/renames.ts'
import type { DiffFile } from '../review/diff-file.ts'
import { readAttachment } from '../store/change-log.ts'
import type { ChangeView } from './change-view.ts'
import { currentRevision, outputPath } from './check.ts'
import { lookAtChange } from './logged-change.ts'
import { pairFiles } from './pair-files.ts'
import { viewWithPlaces } from './place-comments.ts'
import type { World } from './world.ts'

export interface Shown {
  readonly change: ChangeView
  readonly log: readonly ChangeEvent[]
  readonly outputs: readonly { readonly check: CheckResult; readonly output: string }[]
}

/** Shows a change: its current revision, checks with their output, approvals, comments and log. */
export async function showChange(world: World, id: string): Promise<Shown> {
  const store = await world.store()
  const logged = await lookAtChange(world, store, id)
  const reader = await world.reader()
  const outputs = await Promise.all(
    logged.change.checks.map(async (check) => {
      const bytes = await readAttachment(reader, logged.tip, outputPath(check.name))
      return { check, output: bytes?.toString('utf8') ?? '' }
    }),
  )
  return { change: await viewWithPlaces(world, logged.change), log: logged.change.log, outputs }
}

/**
 * The bytes of every file of one revision, both sides. A rename is one pair.
 *
 * @throws GalleyError `unknown-change`, `out-of-range` for a revision that does not exist.
 */
export async function readPairs(world: World, id: string, number?: number): Promise<readonly DiffFile[]> {
  const store = await world.store()
  const logged = await lookAtChange(world, store, id)
  const revision = number === undefined ? currentRevision(logged) : logged.change.revisions[number - 1]
  if (revision === undefined) {
    refuse(
      'out-of-range',
      `${logged.change.id} has ${logged.change.revisions.length} revisions, not ${number}`,
      { revision: number },
    )
  }
  return pairFiles(await world.reader(), revision.manifest, renamesOf([revision]))
}

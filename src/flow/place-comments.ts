import type { Change } from '../model/change.ts'
import { GalleyError } from '../model/error.ts'
import { renamesOf } from '../model/renames.ts'
import { commentPlace } from '../review/comment-place.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { pairFiles } from './pair-files.ts'
import type { World } from './world.ts'

/**
 * A change with the place of each comment's lines in its newest revision. Costs a look at the files where a comment is about lines.
 *
 * Where the files are not in the repository any more, the comments stand as they were said.
 */
export async function viewWithPlaces(world: World, change: Change): Promise<ChangeView> {
  const view = viewChange(change)
  const about = new Set(change.comments.flatMap(({ path }) => path ?? []))
  const revision = change.revisions.at(-1)
  if (about.size === 0 || revision === undefined) return view
  const renames = renamesOf([revision])
  const origins = new Set([...about].flatMap((path) => renames.get(path) ?? []))
  const wanted = revision.manifest.filter(
    ({ path }) => about.has(path) || origins.has(path) || about.has(renames.get(path) ?? ''),
  )
  try {
    const files = await pairFiles(await world.reader(), wanted, renames)
    return { ...view, comments: view.comments.map((one) => ({ ...one, now: commentPlace(one, files) })) }
  } catch (error) {
    if (error instanceof GalleyError && error.code === 'stale') return view
    throw error
  }
}

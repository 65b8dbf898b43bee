import type { Revision } from './change.ts'

/** New path to old path, of all moves in some revisions. */
export const renamesOf = (revisions: readonly Revision[]): ReadonlyMap<string, string> =>
  new Map(
    revisions.flatMap(({ files }) =>
      files.flatMap(({ path, renamedFrom }) =>
        renamedFrom === undefined ? [] : [[path, renamedFrom] as const],
      ),
    ),
  )

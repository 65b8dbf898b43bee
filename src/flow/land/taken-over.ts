import type { TakenOver } from '../../landing/request.ts'
import type { Revision } from '../../model/change.ts'

/**
 * What the files of the last revision were before checks rewrote them. Where a change was captured, index and work tree hold that
 * still: it is what the change is made of, and no work beside it. Every version is in the store, as that of an earlier revision.
 *
 * @param revisions - All of a change, oldest first.
 */
export function takenOverBy(revisions: readonly Revision[]): ReadonlyMap<string, readonly TakenOver[]> {
  const found = new Map<string, TakenOver[]>()
  for (let n = revisions.length - 1; n > 0; n--) {
    const rewritten = rewrittenIn(revisions[n])
    if (rewritten.size === 0) break
    for (const [path, version] of versionsOf(revisions[n - 1])) {
      const isUnbroken = n === revisions.length - 1 || found.has(path)
      if (rewritten.has(path) && isUnbroken) found.set(path, [...(found.get(path) ?? []), version])
    }
  }
  const last = versionsOf(revisions.at(-1))
  // Nobody's file is taken away for what it was before.
  return new Map([...found].filter(([path]) => last.has(path)))
}

const rewrittenIn = (revision: Revision | undefined): ReadonlySet<string> =>
  new Set(revision?.remarks.flatMap((remark) => (remark.kind === 'rewritten' ? [remark.path] : [])))

/** The files that a revision writes, as the tree and as the work tree have them. */
function versionsOf(revision: Revision | undefined): ReadonlyMap<string, TakenOver> {
  const working = new Map(revision?.files.map((file) => [file.path, file.working]))
  const written = revision?.manifest.filter((t) => t.newMode !== '000000') ?? []
  return new Map(
    written.map(({ path, newMode: mode, newBlob }) => {
      const ids = working.get(path)
      // A file that landing leaves as it is (part of it was captured) holds work that is in no revision.
      const holdsMore = ids !== undefined && ids.old === ids.new
      const file = holdsMore ? null : { mode, id: ids?.new ?? newBlob }
      return [path, { entry: { mode, id: newBlob }, file }]
    }),
  )
}

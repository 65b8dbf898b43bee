import type { StandingFile } from '../sys/file-key.ts'
import type { PathFacts } from './decide-path.ts'

/**
 * Where a new path's file stands now, for those that the same change takes away elsewhere: by the names that the change was made with,
 * else by equal content. A file keeps its owner and permissions when it moves, as with `git mv`.
 *
 * Of several with equal content the one that fewest may use: nobody gets a right that they did not have.
 *
 * @param renames - New path to old path; of several changes at once, a file may have gone through more than one name.
 */
export function movedFiles(
  all: readonly PathFacts[],
  renames: ReadonlyMap<string, string>,
): ReadonlyMap<string, StandingFile> {
  const leaving = all.flatMap(({ path, base, next, standing }) =>
    base !== null && next === null && standing.kind === 'file' ? [{ path, id: base.id, standing }] : [],
  )
  const byPath = new Map(leaving.map((one) => [one.path, one.standing]))
  const byContent = new Map(
    [...leaving]
      .sort((a, b) => rightsOfOthers(b.standing) - rightsOfOthers(a.standing))
      .map((one) => [one.id, one.standing]),
  )
  const found = new Map<string, StandingFile>()
  for (const { path, base, next } of all) {
    if (base !== null || next === null) continue
    const origin = byPath.get(firstName(path, renames, byPath)) ?? byContent.get(next.id)
    if (origin !== undefined) found.set(path, origin)
  }
  return found
}

const rightsOfOthers = ({ permissions }: StandingFile): number => permissions & 0o077

function firstName(
  path: string,
  renames: ReadonlyMap<string, string>,
  leaving: ReadonlyMap<string, StandingFile>,
): string {
  let name = path
  for (let hops = renames.size; hops > 0 && !leaving.has(name); hops--) name = renames.get(name) ?? name
  return name
}

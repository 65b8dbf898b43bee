import type { IndexView } from '../git/index-file.ts'
import type { Manifest } from '../model/manifest.ts'
import type { Problem } from './decide-path.ts'

/** Paths that a change makes: none of them can be a directory, or below a file. */
export const createdPaths = (manifest: Manifest): readonly string[] =>
  manifest.filter((t) => t.oldMode === '000000').map((t) => t.path)

/** Every directory that a path which the change makes lies in. */
export function parentsOfCreated(manifest: Manifest): readonly string[] {
  const parents = new Set<string>()
  for (const path of createdPaths(manifest)) {
    for (let end = path.lastIndexOf('/'); end !== -1; end = path.lastIndexOf('/', end - 1))
      parents.add(path.slice(0, end))
  }
  return [...parents]
}

/**
 * Index entries that git would drop without a word, where the change makes a file of their directory or a directory of them: staged
 * files that no commit has, and that may stand nowhere else.
 */
export function displacedEntries(manifest: Manifest, view: IndexView): readonly Problem[] {
  const known = new Set(manifest.map((t) => t.path))
  const problem = (path: string, why: string): Problem => ({
    code: 'overlaps-uncommitted',
    path,
    message: `${path} is staged, and ${why}`,
  })
  const below = [...view.beneath].flatMap(([file, entries]) =>
    entries
      .filter((path) => !known.has(path))
      .map((path) => problem(path, `the change makes a file of ${file}`)),
  )
  const above = parentsOfCreated(manifest)
    .filter((path) => view.entries.has(path) && !known.has(path))
    .map((path) => problem(path, 'the change makes a directory of it'))
  return [...below, ...above]
}

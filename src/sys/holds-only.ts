import { namesAt } from './file-key.ts'

/** Whether a directory of the work tree holds nothing but the given files, and directories of which the same is true. */
export function holdsOnly(root: string, directory: string, paths: ReadonlySet<string>): boolean {
  const names = namesAt(root, directory)
  if (names === null) return false
  return names.every((name) => {
    const path = `${directory}/${name}`
    return paths.has(path) || holdsOnly(root, path, paths)
  })
}

/**
 * A path as typed counts from the current directory, as with git; the library's count from the root. `''` is the root itself.
 *
 * An absolute one counts from the root where it leads below it.
 *
 * @param place.prefix - The current directory's path from the root, with a `/` at its end; `''` at the root.
 */
export function fromRoot(
  { workTree, prefix }: { readonly workTree: string | null; readonly prefix: string },
  path: string,
): string {
  if (path.startsWith('/')) {
    const root = `${workTree}/`
    return workTree !== null && path.startsWith(root) ? path.slice(root.length) : path
  }
  const parts = prefix.split('/').slice(0, -1)
  const words = path.split('/')
  while (words[0] === '..' || words[0] === '.') {
    if (words.shift() === '..' && parts.pop() === undefined) return path
  }
  return [...parts, ...words].join('/')
}

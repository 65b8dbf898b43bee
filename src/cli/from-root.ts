/**
 * A path as typed counts from the current directory, as with git; the library's count from the root. `''` is the root itself.
 *
 * @param prefix - The current directory's path from the root, with a `/` at its end; `''` at the root.
 */
export function fromRoot(prefix: string, path: string): string {
  if (path.startsWith('/')) return path
  const parts = prefix.split('/').slice(0, -1)
  const words = path.split('/')
  while (words[0] === '..' || words[0] === '.') {
    if (words.shift() === '..' && parts.pop() === undefined) return path
  }
  return [...parts, ...words].join('/')
}

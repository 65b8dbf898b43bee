import { type MappedPath, mapAbsolutePath } from '../policy/absolute-path.ts'

/**
 * Reads a path of a request: an absolute one below the work tree's root is mapped to the repository, `.` parts are
 * taken out, and the path rules of the repository are checked.
 *
 * @param base - Directory that a relative path starts from, itself absolute or relative to the root; then `..` is
 * taken out by text too, and one that climbs above the root is refused. Empty = the root, where `..` is refused.
 */
export function requestPath(text: string, root: string, base = ''): MappedPath {
  if (isAbsolute(text)) return mapAbsolutePath(text, root)
  if (base === '') return mapAbsolutePath(withoutDots(text), root)
  return mapAbsolutePath(collapsed(`${base}/${text}`), root)
}

const isAbsolute = (path: string): boolean => /^(?:[/\\]|[A-Za-z]:)/.test(path)

function withoutDots(path: string): string {
  if (!path.startsWith('./') && !path.includes('/./')) return path
  const kept = path.split('/').filter((part) => part !== '.')
  return kept.join('/')
}

/** Takes `.`, `..` and empty parts out. A relative path that climbs above its start keeps the `..`, to be refused. */
function collapsed(path: string): string {
  const isRooted = path.startsWith('/')
  const kept: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    const last = kept.at(-1)
    if (part !== '..' || last === '..' || (last === undefined && !isRooted)) kept.push(part)
    else kept.pop()
  }
  return `${isRooted ? '/' : ''}${kept.join('/')}`
}

import type { MappedPath } from '../policy/absolute-path.ts'
import { quote } from '../policy/quote.ts'
import { requestPath } from './request-path.ts'

/**
 * Reads a path as Agent Zero's host does: trimmed, `\` as `/`, relative to the work tree's root, `.` and `..` taken
 * out by text alone. Nothing outside the root can be named: an absolute path elsewhere, a `..` that climbs out and
 * `~` are `outside-repository`, as in the host's later versions.
 */
export function hostPath(text: string, root: string): MappedPath {
  const slashed = text.trim().replaceAll('\\', () => '/')
  if (slashed.startsWith('~')) {
    const message = `path ${quote(text)}: "~" leads to a home directory, outside the work tree`
    return { kind: 'refused', refusal: { code: 'outside-repository', message, data: { path: text } } }
  }
  // With a base, `..` is taken out of the path before it is checked.
  return slashed.startsWith('/') ? requestPath(slashed.slice(1), root, '/') : requestPath(slashed, root, '.')
}

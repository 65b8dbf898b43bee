import type { Refusal } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { checkPlace } from './paths.ts'
import { quote } from './quote.ts'

export type MappedPath =
  | { readonly kind: 'mapped'; readonly path: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Maps the path of a system that sends absolute paths to a path of the repository; a relative path is only checked.
 *
 * The mapping is by text alone: `root` is expected as the request's system spells it, nothing is resolved, and `.` or
 * `..` are refused as everywhere. Where `root` begins with a drive letter, backslashes separate and the drive's
 * letter case does not count. Refusals do not name the root, which a remote requester may not know:
 * `outside-repository`, and whatever `checkPlace` finds.
 *
 * @param root - Absolute path of the work tree's root.
 */
export function mapAbsolutePath(path: string, root: string): MappedPath {
  const onWindows = hasDrive(root)
  const asked = onWindows ? windowsForm(path) : path
  if (!asked.startsWith('/') && !hasDrive(asked)) return checked(asked)
  const prefix = withSlash(onWindows ? windowsForm(root) : root)
  const isRoot = withSlash(asked) === prefix
  // Several slashes in a row separate like one.
  if (asked.startsWith(prefix) && !isRoot) return checked(asked.slice(prefix.length).replace(/^\/+/, ''))
  // The slash at the prefix's end keeps a sibling out whose name only begins like the root's.
  const fault = isRoot
    ? 'it is the root of the repository itself'
    : 'it is not below the root of the repository'
  const code = isRoot ? 'path-invalid' : 'outside-repository'
  return {
    kind: 'refused',
    refusal: {
      code,
      message: `path ${quote(path)}: ${fault}`,
      data: { path: path.slice(0, limits.pathMaxBytes) },
    },
  }
}

function checked(path: string): MappedPath {
  const refusal = checkPlace(path)
  return refusal === null ? { kind: 'mapped', path } : { kind: 'refused', refusal }
}

const hasDrive = (path: string): boolean => /^[A-Za-z]:/.test(path)
const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`)

/** Slashes between the parts and a small drive letter: the form in which two Windows paths compare. */
function windowsForm(path: string): string {
  const slashed = path.replaceAll('\\', () => '/')
  return hasDrive(slashed) ? slashed.slice(0, 1).toLowerCase() + slashed.slice(1) : slashed
}

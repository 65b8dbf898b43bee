import type { Refusal } from '../model/error.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import { limits } from '../model/limits.ts'
import { foldPath } from './fold.ts'
import { codePointName, firstUnseen, isWellFormed, quote } from './quote.ts'

const encoder = new TextEncoder()

/** What Windows opens instead of a file, whatever extension follows: the list of git's own check, superscripts included. */
const DEVICE = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$)$/

/** Characters that HFS+ drops from a name, and all others that no reader sees. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu

/**
 * Checks a path from outside for use in a repository. The rules are the same on every system, so that a change made
 * on one can be checked out on all, and no spelling reaches into a `.git` anywhere (GIT.md section 7).
 *
 * They are for names that galley makes. A repository may hold others (with `:`, a backslash, in decomposed form) from before: whoever
 * does not know the base asks {@link checkPlace}, and whoever does asks for the rest where the base lacks the path. Names with spaces
 * inside, a leading `-`, glob characters or non-ASCII letters in composed form (NFC) are fine.
 *
 * @returns null, or the refusal: `outside-repository` where the path is absolute or climbs out, else `path-invalid`.
 * `data` holds `path`, and `segment` and `codePoint` where one is to blame.
 */
export function checkPath(path: string): Refusal | null {
  return checkPlace(path) ?? checkPortability(path)
}

/** What no path may be, tracked or not: empty, too long, absolute, climbing out, into a `.git`, or with a NUL, which no file has. */
export function checkPlace(path: string): Refusal | null {
  if (path === '') return refusal(path, 'path-invalid', 'the path is empty')
  if (path.length > limits.pathMaxBytes) return tooLong(path, path.length)
  return (
    checkEscape(path) ??
    checkDotGit(path) ??
    checkNul(path) ??
    checkSegments(path, placeFault) ??
    checkSize(path)
  )
}

/** What other systems cannot check out, and what no reader sees: names that galley makes have none of it. */
function checkPortability(path: string): Refusal | null {
  return checkCharacters(path) ?? checkSegments(path, portableFault) ?? checkComposition(path)
}

export type CheckedPath =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Checks a path given as bytes, as quoted paths of diffs are: it must be UTF-8, and lead to no place that none may lead to.
 */
export function checkPathBytes(bytes: Uint8Array): CheckedPath {
  const lenient = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, limits.pathMaxBytes))
  if (bytes.length > limits.pathMaxBytes) return { kind: 'refused', refusal: tooLong(lenient, bytes.length) }
  if (!sameBytes(encoder.encode(lenient), bytes)) {
    return { kind: 'refused', refusal: refusal(lenient, 'path-invalid', 'its bytes are not UTF-8') }
  }
  const found = checkPlace(lenient)
  return found === null ? { kind: 'path', path: lenient } : { kind: 'refused', refusal: found }
}

/** Whether this name of a file or directory is `.git` under any spelling that some file system takes for it. */
export function isDotGit(segment: string): boolean {
  // HFS+ drops ignorable characters; Windows drops a stream's name and then dots and spaces at the end.
  // Compatibility forms (NFKC: full-width letters) are folded too: Windows' narrow interfaces map them to ASCII.
  const name = foldPath(withoutTail(segment.normalize('NFKC').replace(IGNORABLE, () => '')))
  return name === '.git' || isShortName(name)
}

/** `git~1` is what NTFS calls `.git` for old programs; another digit where that name was taken. */
function isShortName(name: string): boolean {
  return name.startsWith('git~') && name.length > 4 && /^[0-9]+$/.test(name.slice(4))
}

/** Cuts an NTFS stream (`:…`) off a name, then the dots and spaces at its end. */
function withoutTail(name: string): string {
  const colon = name.indexOf(':')
  let end = colon === -1 ? name.length : colon
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end--
  return name.slice(0, end)
}

function checkEscape(path: string): Refusal | null {
  if (/^(?:[/\\]|[A-Za-z]:)/.test(path)) {
    return refusal(
      path,
      'outside-repository',
      'it is absolute; paths are relative to the root of the repository',
    )
  }
  let depth = 0
  // A backslash separates on Windows: `a\..\..\x` climbs out there.
  for (const segment of path.split(/[/\\]/)) {
    if (segment === '..') depth--
    else if (segment !== '' && segment !== '.') depth++
    if (depth < 0)
      return refusal(path, 'outside-repository', 'its ".." climbs above the root of the repository')
  }
  return null
}

function checkDotGit(path: string): Refusal | null {
  if (!isWellFormed(path))
    return refusal(path, 'path-invalid', 'it holds half of a surrogate pair and has no UTF-8')
  const dotGit = path.split(/[/\\]/).find(isDotGit)
  if (dotGit === undefined) return null
  return refusal(path, 'path-invalid', `its part ${quote(dotGit)} is a spelling of .git`, {
    data: { segment: dotGit },
    hint: 'No request may reach into a .git directory.',
  })
}

function checkNul(path: string): Refusal | null {
  if (!path.includes('\0')) return null
  return refusal(path, 'path-invalid', 'it holds U+0000, which no name of a file has', {
    data: { codePoint: 'U+0000' },
  })
}

function checkCharacters(path: string): Refusal | null {
  if (path.includes('\\')) {
    return refusal(path, 'path-invalid', 'it holds a backslash, which separates names on Windows', {
      hint: `Use "/" between the parts of a path. ${existingToo}`,
    })
  }
  const unseen = firstUnseen(path)
  if (unseen !== null) {
    const codePoint = codePointName(unseen)
    return refusal(path, 'path-invalid', `it holds ${codePoint}, which is a control or invisible character`, {
      data: { codePoint },
      hint: existingToo,
    })
  }
  if (path.includes(':')) {
    return refusal(path, 'path-invalid', 'it holds a colon, which names a drive or a stream on Windows', {
      hint: existingToo,
    })
  }
  return null
}

const existingToo = 'A file of such a name is edited where the commit has it; galley makes none.'

function checkSegments(path: string, faultOf: (segment: string) => string | null): Refusal | null {
  const segments = path.split('/')
  if (segments.length > limits.pathMaxDepth) {
    return refusal(path, 'path-invalid', `it has ${segments.length} parts, more than ${limits.pathMaxDepth}`)
  }
  for (const segment of segments) {
    const fault = faultOf(segment)
    if (fault !== null)
      return refusal(path, 'path-invalid', fault, { data: { segment }, hint: plainHint(segments) })
  }
  return null
}

function placeFault(segment: string): string | null {
  if (segment === '') return 'it has an empty part (two slashes in a row, or one at the end)'
  return segment === '.' || segment === '..' ? `it has a "${segment}" part` : null
}

function portableFault(segment: string): string | null {
  if (segment.endsWith('.') || segment.endsWith(' ')) {
    return `its part ${quote(segment)} ends in a dot or space, which Windows drops`
  }
  const base = withoutTail(segment.split('.', 1)[0] ?? '')
  if (DEVICE.test(foldPath(base))) return `its part ${quote(segment)} is the name of a device on Windows`
  return null
}

/** Offers the path with its `.`, `..` and empty parts taken out, where that is all that is wrong with it. */
function plainHint(segments: readonly string[]): string {
  const kept: string[] = []
  for (const segment of segments) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  if (kept.length === 0 || kept.length === segments.length) return existingToo
  return `Write it as ${quote(kept.join('/'))}.`
}

function checkComposition(path: string): Refusal | null {
  const composed = path.normalize('NFC')
  if (composed === path) return null
  return refusal(path, 'path-invalid', 'its letters are not in composed form (NFC)', {
    data: { composed },
    hint: `Write it as ${quote(composed)}. ${existingToo}`,
  })
}

function checkSize(path: string): Refusal | null {
  const bytes = encoder.encode(path).length
  if (bytes > limits.pathMaxBytes) return tooLong(path, bytes)
  for (const segment of path.split('/')) {
    const length = encoder.encode(segment).length
    if (length <= limits.segmentMaxBytes) continue
    return refusal(
      path,
      'path-invalid',
      `its part ${quote(segment)} has ${length} bytes, more than ${limits.segmentMaxBytes}`,
      {
        data: { segment },
      },
    )
  }
  return null
}

const tooLong = (path: string, length: number): Refusal =>
  refusal(path, 'path-invalid', `it has at least ${length} bytes, more than ${limits.pathMaxBytes}`)

function refusal(
  path: string,
  code: ErrorCode,
  fault: string,
  more: { readonly data?: Readonly<Record<string, string>>; readonly hint?: string } = {},
): Refusal {
  const message = `path ${quote(path)}: ${fault}`
  const data = { path: path.slice(0, limits.pathMaxBytes), ...more.data }
  return more.hint === undefined ? { code, message, data } : { code, message, data, hint: more.hint }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

export { collisionFinder, findCollision, foldPath } from './fold.ts'

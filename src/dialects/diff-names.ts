import { quote } from '../policy/quote.ts'
import type { GitHeader, HeaderName, PlainHeader } from './diff-header.ts'
import { fault, type ParseFault } from './parse-fault.ts'
import { nameBytes, stripName, unquoteName } from './quoted-path.ts'

/** The two names of a file change, their prefixes taken off; null = the side is absent. Byte strings. */
interface NamePair {
  readonly kind: 'names'
  readonly old: string | null
  readonly new: string | null
}

/** First components that git (`diff.mnemonicPrefix` too) and people put before names. */
const PREFIXES: ReadonlySet<string> = new Set(['a', 'b', 'c', 'i', 'o', 'w', '1', '2', 'old', 'new', 'orig'])

/** What people put behind the name of the other version. */
const COPY_ENDING = /^(?:~|[.-](?:orig|old|new|bak|mod|modified|patched))$/i

const shownName = (name: string): string => quote(Buffer.from(nameBytes(name)).toString('utf8'))

const stripHint =
  'Say how many leading parts of the names are a prefix: "strip": 1 for a/ and b/, 0 for none.'

/**
 * How many leading components of the names to take off: as the request says, else 1, or 0 where no name has a slash.
 * Names without a prefix, and with a slash, are refused: git would take their first directory for the prefix.
 */
export function stripOf(header: GitHeader | PlainHeader, asked: number | undefined): number | ParseFault {
  if (asked !== undefined) return asked
  const [first, second] =
    header.kind === 'git' ? (halves(header.names) ?? [header.names]) : [header.minus, header.plus]
  const names = [first, second, header.minus, header.plus].filter((name) => typeof name === 'string')
  if (names.every((name) => !name.includes('/'))) return 0
  if (typeof first !== 'string' || first !== second || PREFIXES.has(first.split('/', 1)[0] ?? '')) return 1
  return fault(header.line, `both names are ${shownName(first)}: they have no prefix to take off`, {
    hint: stripHint,
  })
}

/** The names of a `diff --git` line that are the same text, prefix included. */
function halves(names: string): readonly [string, string] | null {
  const half = (names.length - 1) / 2
  const isDouble =
    Number.isInteger(half) && names[half] === ' ' && names.slice(0, half) === names.slice(half + 1)
  return isDouble ? [names.slice(0, half), names.slice(half + 1)] : null
}

/**
 * The names of a plain diff. Where they differ, one must be the other with something behind it (`x.orig`, `x.new`),
 * and the shorter is the file, as in git; other pairs name two files, of which git would take one.
 */
export function plainNames(header: PlainHeader, strip: number): NamePair | ParseFault {
  const minus = stripped(header.minus, strip)
  const plus = stripped(header.plus, strip)
  if (minus === undefined || plus === undefined) return tooShort(header.line, strip)
  if (minus === null && plus === null) return fault(header.line, 'both sides of the file are /dev/null')
  const name = commonName(minus ?? plus ?? '', plus ?? minus ?? '')
  if (name === null) {
    return fault(header.line, `the names differ: ${shownName(minus ?? '')} and ${shownName(plus ?? '')}`, {
      hint: 'Send a rename as git writes it, with "rename from" and "rename to".',
    })
  }
  const isCreated = minus === null || header.minusIsEpoch
  const isDeleted = plus === null || header.plusIsEpoch
  return { kind: 'names', old: isCreated ? null : name, new: isDeleted ? null : name }
}

function commonName(minus: string, plus: string): string | null {
  const [shorter, longer] = minus.length <= plus.length ? [minus, plus] : [plus, minus]
  const isSame =
    longer.startsWith(shorter) && (longer === shorter || COPY_ENDING.test(longer.slice(shorter.length)))
  return isSame ? shorter : null
}

/** undefined = the name has too few components. */
function stripped(name: HeaderName, strip: number): string | null | undefined {
  return name === null ? null : (stripName(name, strip) ?? undefined)
}

const tooShort = (line: number, strip: number): ParseFault =>
  fault(line, `a name has no more than the ${strip} leading part${strip === 1 ? '' : 's'} to take off`, {
    hint: stripHint,
  })

/** What a git header does to its file; null where its lines contradict one another. */
export function gitKind(header: GitHeader): 'modify' | 'create' | 'delete' | 'rename' | 'copy' | null {
  const isCreated = header.createdMode !== undefined || header.minus === null
  const isDeleted = header.deletedMode !== undefined || header.plus === null
  const isRenamed = header.renameFrom !== undefined || header.renameTo !== undefined
  const isCopied = header.copyFrom !== undefined || header.copyTo !== undefined
  if ([isCreated, isDeleted, isRenamed, isCopied].filter(Boolean).length > 1) return null
  if (isCreated) return header.minus === undefined || header.minus === null ? 'create' : null
  if (isDeleted) return header.plus === undefined || header.plus === null ? 'delete' : null
  if (isRenamed) return header.renameFrom !== undefined && header.renameTo !== undefined ? 'rename' : null
  if (isCopied) return header.copyFrom !== undefined && header.copyTo !== undefined ? 'copy' : null
  return 'modify'
}

/** The names of a git header. All its lines that name a file must agree, the `diff --git` line too. */
export function gitNames(
  header: GitHeader,
  kind: NonNullable<ReturnType<typeof gitKind>>,
  strip: number,
): NamePair | ParseFault {
  const minus = stripped(header.minus ?? null, strip)
  const plus = stripped(header.plus ?? null, strip)
  if (minus === undefined || plus === undefined) return tooShort(header.line, strip)
  const isPair = kind === 'rename' || kind === 'copy'
  const line = isPair ? null : gitLineName(header.names, strip)
  const old = isPair ? movedName(header.renameFrom ?? header.copyFrom, strip) : (minus ?? plus ?? line)
  const after = isPair ? movedName(header.renameTo ?? header.copyTo, strip) : (plus ?? minus ?? line)
  if (old === null || after === null) {
    const message = `the names of the "diff --git" line cannot be told apart with ${strip} leading parts taken off`
    return fault(header.line, message, { hint: stripHint })
  }
  const agrees =
    (minus === null || minus === old) && (plus === null || plus === after) && (isPair || old === after)
  if (!agrees || !gitLineHas(header.names, strip, old, after)) {
    const hint = 'A rename needs its "rename from" and "rename to" lines.'
    return fault(header.line, 'the header names different files in its lines', { hint })
  }
  return { kind: 'names', old: kind === 'create' ? null : old, new: kind === 'delete' ? null : after }
}

/** Names of `rename` and `copy` lines have no prefix; git takes one component less off them. */
const movedName = (name: string | undefined, strip: number): string | null =>
  name === undefined ? null : stripName(name, Math.max(strip - 1, 0))

/** The name that both halves of a `diff --git` line come to, prefixes taken off; null where there is none. */
function gitLineName(names: string, strip: number): string | null {
  const quoted = quotedPair(names)
  if (quoted !== null) {
    const [first, second] = quoted.map((name) => stripName(name, strip))
    return first !== undefined && first === second ? first : null
  }
  return equalHalves(names, strip)
}

/**
 * Divides at the one space that leaves equally long names. Behind it the second name begins, the further right the
 * further right the space is, and must begin the further left: so one comparison of text at most.
 */
function equalHalves(names: string, strip: number): string | null {
  const start = startAfterSlashes(names, 0, strip)
  if (start === null) return null
  const slashes: number[] = []
  for (let at = names.indexOf('/', start); at !== -1; at = names.indexOf('/', at + 1)) slashes.push(at)
  let behind = 0
  for (let space = names.indexOf(' ', start); space !== -1; space = names.indexOf(' ', space + 1)) {
    while (behind < slashes.length && (slashes[behind] ?? 0) < space) behind++
    const second = strip === 0 ? space : slashes[behind + strip - 1]
    if (second === undefined) return null
    const name = names.slice(second + 1)
    if (name.length === space - start) return name !== '' && names.startsWith(name, start) ? name : null
  }
  return null
}

/** Index behind the given number of slashes from an index on; null where there are fewer. */
function startAfterSlashes(text: string, from: number, slashes: number): number | null {
  let start = from
  for (let count = 0; count < slashes; count++) {
    const slash = text.indexOf('/', start)
    if (slash === -1) return null
    start = slash + 1
  }
  return start
}

/** Whether a `diff --git` line names these two, prefixes taken off. */
function gitLineHas(names: string, strip: number, old: string, after: string): boolean {
  const quoted = quotedPair(names)
  if (quoted !== null) return stripName(quoted[0], strip) === old && stripName(quoted[1], strip) === after
  const start = startAfterSlashes(names, 0, strip)
  if (start === null || !names.startsWith(`${old} `, start)) return false
  return stripName(names.slice(start + old.length + 1), strip) === after
}

/** The two names of a line in which at least one is quoted; null where none is or the quoting is broken. */
function quotedPair(names: string): readonly [string, string] | null {
  if (names.startsWith('"')) {
    const first = unquoteName(names, 0)
    if (first === null || names[first.end] !== ' ') return null
    const second = wholeName(names.slice(first.end + 1))
    return second === null ? null : [first.name, second]
  }
  const space = names.endsWith('"') ? names.indexOf(' "') : -1
  const second = space === -1 ? null : wholeName(names.slice(space + 1))
  return second === null ? null : [names.slice(0, space), second]
}

function wholeName(text: string): string | null {
  if (!text.startsWith('"')) return text
  const quoted = unquoteName(text, 0)
  return quoted !== null && quoted.end === text.length ? quoted.name : null
}

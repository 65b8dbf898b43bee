import { quote } from '../policy/quote.ts'
import type { LineCursor } from './line-cursor.ts'
import { fault, isFault, type ParseFault } from './parse-fault.ts'
import { unquoteName } from './quoted-path.ts'

/** A name as a header gives it, prefix included: a byte string; null = `/dev/null`. */
export type HeaderName = string | null

/** What the lines below `diff --git` say. A field is undefined where its line is absent. */
export interface GitHeader {
  readonly kind: 'git'
  readonly line: number
  /** The two names of the `diff --git` line, not yet told apart. */
  readonly names: string
  readonly minus?: HeaderName
  readonly plus?: HeaderName
  readonly oldMode?: number
  readonly newMode?: number
  readonly createdMode?: number
  readonly deletedMode?: number
  readonly renameFrom?: string
  readonly renameTo?: string
  readonly copyFrom?: string
  readonly copyTo?: string
  readonly index?: IndexLine
}

interface IndexLine {
  readonly old: string
  readonly new: string
  readonly mode: number | null
}

/** The `---` and `+++` lines of a diff that git did not make. */
export interface PlainHeader {
  readonly kind: 'plain'
  readonly line: number
  readonly minus: HeaderName
  readonly plus: HeaderName
  /** The side's time is the beginning of 1970: diff's way to say that the file is not there. */
  readonly minusIsEpoch: boolean
  readonly plusIsEpoch: boolean
}

type Draft = { -readonly [K in keyof GitHeader]: GitHeader[K] }
type Field = Exclude<keyof GitHeader, 'kind' | 'line' | 'names'>

/** Extended header lines: how each begins, and what it is. As in git's apply.c; `rename old` is of git 1.4. */
const LINES: readonly (readonly [start: string, field: Field | null])[] = [
  ['--- ', 'minus'],
  ['+++ ', 'plus'],
  ['old mode ', 'oldMode'],
  ['new mode ', 'newMode'],
  ['deleted file mode ', 'deletedMode'],
  ['new file mode ', 'createdMode'],
  ['copy from ', 'copyFrom'],
  ['copy to ', 'copyTo'],
  ['rename old ', 'renameFrom'],
  ['rename new ', 'renameTo'],
  ['rename from ', 'renameFrom'],
  ['rename to ', 'renameTo'],
  ['similarity index ', null],
  ['dissimilarity index ', null],
  ['index ', 'index'],
]

const GIT_LINE = 'diff --git '

/** Whether a `diff --git` header begins here. */
export const isGitHeader = (cursor: LineCursor): boolean => cursor.startsWith(GIT_LINE)

/** Whether the two name lines of a plain diff begin here. */
export const isPlainHeader = (cursor: LineCursor): boolean =>
  cursor.startsWith('--- ') && cursor.nextStartsWith('+++ ')

/** Reads a `diff --git` header and leaves the cursor at the first line that is not of it. */
export function readGitHeader(cursor: LineCursor): GitHeader | ParseFault {
  const header: Draft = { kind: 'git', line: cursor.line, names: cursor.text(GIT_LINE.length) }
  for (cursor.advance(); !cursor.isDone; cursor.advance()) {
    const known = LINES.find(([start]) => cursor.startsWith(start))
    if (known === undefined) break
    const [start, field] = known
    if (field === null) continue
    if (header[field] !== undefined) {
      return fault(cursor.line, `a second ${quote(start.trim())} line in one header`)
    }
    const found = readField(header, field, cursor, start)
    if (found !== null) return found
  }
  if ((header.minus === undefined) !== (header.plus === undefined)) {
    return fault(cursor.line, 'the header has only one of the "---" and "+++" lines')
  }
  return header
}

function readField(header: Draft, field: Field, cursor: LineCursor, start: string): ParseFault | null {
  switch (field) {
    case 'index': {
      const index = indexLine(cursor.text(start.length, 200))
      // git passes over an index line that it cannot read.
      if (index !== null) header.index = index
      return null
    }
    case 'oldMode':
    case 'newMode':
    case 'createdMode':
    case 'deletedMode': {
      const text = cursor.text(start.length, 80).trimEnd()
      if (!/^[0-7]{5,6}$/.test(text)) return fault(cursor.line, `${quote(text)} is not an octal mode`)
      header[field] = Number.parseInt(text, 8)
      return null
    }
    case 'minus':
    case 'plus': {
      const name = readName(cursor, start.length, true)
      if (isFault(name)) return name
      header[field] = name.name
      return null
    }
    case 'renameFrom':
    case 'renameTo':
    case 'copyFrom':
    case 'copyTo': {
      const name = readName(cursor, start.length, false)
      if (isFault(name)) return name
      if (name.name === null) return fault(cursor.line, '"/dev/null" is not the name of a file')
      header[field] = name.name
      return null
    }
  }
}

function indexLine(text: string): IndexLine | null {
  const found = /^([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{5,6}))?[ \t]*$/.exec(text)
  const [, old, after, mode] = found ?? []
  if (old === undefined || after === undefined) return null
  return { old, new: after, mode: mode === undefined ? null : Number.parseInt(mode, 8) }
}

/** Reads the `---` and `+++` lines at the cursor and leaves it behind them. */
export function readPlainHeader(cursor: LineCursor): PlainHeader | ParseFault {
  const line = cursor.line
  const minus = readName(cursor, 4, true)
  if (isFault(minus)) return minus
  cursor.advance()
  const plus = readName(cursor, 4, true)
  if (isFault(plus)) return plus
  cursor.advance()
  const times = { minusIsEpoch: isEpoch(minus.rest), plusIsEpoch: isEpoch(plus.rest) }
  return { kind: 'plain', line, minus: minus.name, plus: plus.name, ...times }
}

interface ReadName {
  readonly kind: 'name'
  readonly name: HeaderName
  /** What stands behind a tab: a time. */
  readonly rest: string
}

function readName(cursor: LineCursor, from: number, endsAtTab: boolean): ReadName | ParseFault {
  const text = cursor.text(from)
  if (text.startsWith('"')) {
    const quoted = unquoteName(text, 0)
    const rest = quoted === null ? '' : text.slice(quoted.end)
    if (quoted === null || (rest !== '' && !(endsAtTab && rest.startsWith('\t')))) {
      return fault(cursor.line, `${quote(text)} is not quoted as git quotes names`)
    }
    return { kind: 'name', name: quoted.name, rest: rest.slice(1) }
  }
  const tab = endsAtTab ? text.indexOf('\t') : -1
  const name = tab === -1 ? text : text.slice(0, tab)
  if (name === '') return fault(cursor.line, 'the line names no file')
  return {
    kind: 'name',
    name: name === '/dev/null' ? null : name,
    rest: tab === -1 ? '' : text.slice(tab + 1),
  }
}

/** Whether a time, in any zone, is 1970-01-01 00:00:00 UTC. */
function isEpoch(time: string): boolean {
  const found =
    /^(1969-12-31|1970-01-01) ([0-2][0-9]):([0-5][0-9]):00(?:\.0{1,9})? ([-+])([0-2][0-9]):?([0-5][0-9])$/.exec(
      time.slice(0, 64).trimEnd(),
    )
  if (found === null) return false
  const [, day, hours, minutes, sign, zoneHours, zoneMinutes] = found
  const zone = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1)
  const ofDay = Number(hours) * 60 + Number(minutes) - (day === '1970-01-01' ? 0 : 24 * 60)
  return ofDay === zone
}

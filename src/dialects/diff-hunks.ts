import type { HunkLine } from '../model/edit.ts'
import { quote } from '../policy/quote.ts'
import type { LineCursor } from './line-cursor.ts'
import { fault, isFault, type ParseFault } from './parse-fault.ts'

/** One hunk as its header and body say. */
export interface DiffHunk {
  /** Line of its header in the request, from 1. */
  readonly line: number
  readonly oldStart: number
  readonly oldCount: number
  readonly newStart: number
  readonly newCount: number
  readonly lines: readonly HunkLine[]
}

/** Nine digits: more lines than any input has. */
const HEADER = /^@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@/
const HEADER_MAX_BYTES = 64

const SPACE = 0x20
const PLUS = 0x2b
const MINUS = 0x2d
const BACKSLASH = 0x5c
const CARRIAGE_RETURN = 0x0d
const AT = 0x40

/** What a line of a hunk, or the header of one, begins with. */
const BODY_SIGNS: ReadonlySet<number> = new Set([SPACE, PLUS, MINUS, BACKSLASH, AT])

const countsHint = 'The counts in "@@ -start,old +start,new @@" must be those of the lines below.'

/** Whether a complete hunk header stands here. */
export const isHunkHeader = (cursor: LineCursor): boolean =>
  cursor.startsWith('@@ -') && HEADER.test(cursor.text(0, HEADER_MAX_BYTES))

/**
 * Reads the hunks that begin at the current line, and leaves the cursor behind them.
 *
 * Each hunk's counts must agree with its body: a body cut short, or one that goes on, is a fault that names the line.
 * git ignores lines that a hunk's counts leave out; here they are refused, since a change would be lost.
 */
export function readHunks(cursor: LineCursor): readonly DiffHunk[] | ParseFault {
  const hunks: DiffHunk[] = []
  while (cursor.startsWith('@@ -')) {
    const hunk = readHunk(cursor)
    if (isFault(hunk)) return hunk
    hunks.push(hunk)
  }
  return strayLine(cursor) ?? hunks
}

function readHunk(cursor: LineCursor): DiffHunk | ParseFault {
  const line = cursor.line
  const header = HEADER.exec(cursor.text(0, HEADER_MAX_BYTES))
  if (header === null)
    return fault(line, `${quote(cursor.seen())} is not a hunk header`, { hint: countsHint })
  const [, oldStart, oldCount = '1', newStart, newCount = '1'] = header
  const counts = { old: Number(oldCount), new: Number(newCount) }
  cursor.advance()
  const body = new HunkBody(cursor, line, counts)
  const lines = body.read()
  if (isFault(lines)) return lines
  const numbers = { oldStart: Number(oldStart), newStart: Number(newStart) }
  return { line, ...numbers, oldCount: counts.old, newCount: counts.new, lines }
}

class HunkBody {
  readonly #cursor: LineCursor
  readonly #header: number
  readonly #lines: HunkLine[] = []
  #old: number
  #new: number
  /** Sides of which a line without newline was the last. */
  #oldEnded = false
  #newEnded = false

  constructor(cursor: LineCursor, header: number, counts: { readonly old: number; readonly new: number }) {
    this.#cursor = cursor
    this.#header = header
    this.#old = counts.old
    this.#new = counts.new
  }

  read(): readonly HunkLine[] | ParseFault {
    const cursor = this.#cursor
    while (this.#old > 0 || this.#new > 0) {
      if (cursor.isDone) return this.#missing('the diff ends')
      const found = this.#line()
      if (found !== null) return found
      cursor.advance()
    }
    // The marker of the hunk's last line stands behind what the counts cover.
    if (isEndMarker(cursor)) {
      const found = this.#endMarker()
      if (found !== null) return found
      cursor.advance()
    }
    if (this.#lines.some(({ kind }) => kind !== 'context')) return this.#lines
    return fault(this.#header, 'the hunk changes no line')
  }

  #line(): ParseFault | null {
    const cursor = this.#cursor
    switch (cursor.first) {
      case null:
        return this.#add('context', cursor.content())
      // The empty line of a file with CRLF lines, its leading space trimmed.
      case CARRIAGE_RETURN:
        return cursor.is('') ? this.#add('context', cursor.content()) : this.#missing(this.#seen())
      case SPACE:
        return this.#add('context', cursor.content(1))
      case PLUS:
        return this.#add('add', cursor.content(1))
      case MINUS:
        return this.#add('remove', cursor.content(1))
      case BACKSLASH:
        return isEndMarker(cursor) ? this.#endMarker() : this.#missing(this.#seen())
      default:
        return this.#missing(this.#seen())
    }
  }

  #add(kind: HunkLine['kind'], text: Uint8Array): ParseFault | null {
    const onOld = kind !== 'add'
    const onNew = kind !== 'remove'
    if ((onOld && this.#old === 0) || (onNew && this.#new === 0)) return this.#missing(this.#seen())
    if ((onOld && this.#oldEnded) || (onNew && this.#newEnded)) {
      return fault(this.#cursor.line, 'a line follows one that is marked as the end of the file')
    }
    if (onOld) this.#old--
    if (onNew) this.#new--
    this.#lines.push({ kind, text })
    return null
  }

  #endMarker(): ParseFault | null {
    const last = this.#lines.at(-1)
    if (last === undefined || last.unterminated === true) {
      return fault(this.#cursor.line, 'the marker for a missing newline follows no line of the hunk')
    }
    this.#lines[this.#lines.length - 1] = { ...last, unterminated: true }
    if (last.kind !== 'add') this.#oldEnded = true
    if (last.kind !== 'remove') this.#newEnded = true
    return null
  }

  #seen(): string {
    return `found ${quote(this.#cursor.seen())}`
  }

  #missing(seen: string): ParseFault {
    const message = `${seen}; the hunk of line ${this.#header} still has ${this.#old} old and ${this.#new} new lines to come`
    return fault(this.#cursor.line, message, { hint: countsHint })
  }
}

/** `\ No newline at end of file`, in any language. */
const isEndMarker = (cursor: LineCursor): boolean => cursor.startsWith('\\ ')

/** A line behind the last hunk, empty lines aside, that reads like one of its body. */
function strayLine(cursor: LineCursor): ParseFault | null {
  while (!cursor.isDone && cursor.is('')) cursor.advance()
  const { first } = cursor
  if (cursor.isDone || first === null) return null
  if (!BODY_SIGNS.has(first)) return null
  // A mail's signature, or the header of the next file.
  if (cursor.is('-- ') || cursor.is('--')) return null
  if (cursor.startsWith('--- ') && cursor.nextStartsWith('+++ ')) return null
  const message = `${quote(cursor.seen())} follows a hunk whose counts leave it out`
  return fault(cursor.line, message, { hint: countsHint })
}

import { limits } from '../model/limits.ts'
import { quote } from '../policy/quote.ts'
import {
  type GitHeader,
  isGitHeader,
  isPlainHeader,
  type PlainHeader,
  readGitHeader,
  readPlainHeader,
} from './diff-header.ts'
import { type DiffHunk, isHunkHeader, readHunks } from './diff-hunks.ts'
import { type BinaryPatch, isBinaryPatch, Room, readBinaryPatch } from './git-binary.ts'
import { LineCursor } from './line-cursor.ts'
import { fault, isFault, type ParseFault } from './parse-fault.ts'

/** One file of a diff. */
export interface DiffSection {
  readonly header: GitHeader | PlainHeader
  readonly hunks: readonly DiffHunk[]
  /** `no-data`: the diff says only that binary files differ. */
  readonly binary: BinaryPatch | 'no-data' | null
}

interface ParsedDiff {
  readonly kind: 'diff'
  readonly sections: readonly DiffSection[]
}

const NEWLINE = 0x0a

/**
 * Reads a unified diff, git's or plain. What stands between the files (a mail's message, its signature, a log) is
 * passed over as git does; a hunk without a header, a combined diff, and a note that binary files differ are faults
 * wherever they stand. Linear in the size of the input.
 */
export function parseDiff(bytes: Uint8Array): ParsedDiff | ParseFault {
  if (bytes.every((byte) => byte === NEWLINE)) return fault(1, 'the diff is empty', { code: 'empty-batch' })
  if (hasTooManyLines(bytes)) {
    const message = `the diff has more than ${limits.patchMaxLines} lines`
    return fault(limits.patchMaxLines + 1, message, { code: 'too-large' })
  }
  const cursor = new LineCursor(bytes)
  const room = new Room(limits.binaryPatchMaxBytes)
  const sections: DiffSection[] = []
  while (!cursor.isDone) {
    const section = readNext(cursor, room)
    if (isFault(section)) return section
    if (section !== null) sections.push(section)
  }
  if (sections.length > 0) return { kind: 'diff', sections }
  return fault(1, 'no file is named: the text has no "diff --git" line and no "---" and "+++" lines')
}

function hasTooManyLines(bytes: Uint8Array): boolean {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) {
    if (++count > limits.patchMaxLines) return true
  }
  return false
}

/** Reads the section at the cursor, or passes over one line. */
function readNext(cursor: LineCursor, room: Room): DiffSection | ParseFault | null {
  if (isGitHeader(cursor)) return readGitSection(cursor, room)
  if (isPlainHeader(cursor)) return readPlainSection(cursor)
  if (
    cursor.startsWith('diff --cc ') ||
    cursor.startsWith('diff --combined ') ||
    cursor.startsWith('@@@ -')
  ) {
    return fault(cursor.line, 'a combined diff, of a merge, cannot be applied', {
      hint: 'Make a diff against one parent: `git diff <parent> <commit>`.',
    })
  }
  if (isHunkHeader(cursor)) return fault(cursor.line, 'no file is named above this hunk')
  // `diff -r` says so between files; passing over it would lose a file.
  if (cursor.startsWith('Binary files ') && saysBinary(cursor)) {
    const message = `${quote(cursor.seen())}: the diff holds no data for it`
    return fault(cursor.line, message, { hint: binaryHint })
  }
  cursor.advance()
  return null
}

/** What to do about a diff without the data of a binary file. */
export const binaryHint =
  'Make the diff with `git diff --binary`, or send the whole file with `write` and base64.'

const saysBinary = (cursor: LineCursor): boolean =>
  (cursor.startsWith('Binary files ') || cursor.startsWith('Files ')) && cursor.endsWith(' differ')

function readGitSection(cursor: LineCursor, room: Room): DiffSection | ParseFault {
  const header = readGitHeader(cursor)
  if (isFault(header)) return header
  if (isBinaryPatch(cursor)) {
    const binary = readBinaryPatch(cursor, room)
    return isFault(binary) ? binary : { header, hunks: [], binary }
  }
  if (saysBinary(cursor)) {
    cursor.advance()
    return { header, hunks: [], binary: 'no-data' }
  }
  if (header.minus !== undefined && !cursor.startsWith('@@ -')) return noHunk(cursor)
  if (!cursor.startsWith('@@ -')) return { header, hunks: [], binary: null }
  if (header.minus === undefined) return fault(cursor.line, 'the hunk has no "---" and "+++" lines above it')
  const hunks = readHunks(cursor)
  return isFault(hunks) ? hunks : { header, hunks, binary: null }
}

function readPlainSection(cursor: LineCursor): DiffSection | ParseFault {
  const header = readPlainHeader(cursor)
  if (isFault(header)) return header
  if (!cursor.startsWith('@@ -')) return noHunk(cursor)
  const hunks = readHunks(cursor)
  return isFault(hunks) ? hunks : { header, hunks, binary: null }
}

function noHunk(cursor: LineCursor): ParseFault {
  const seen = cursor.isDone ? 'the diff ends' : `found ${quote(cursor.seen())}`
  return fault(cursor.line, `${seen}; expected a hunk, "@@ -start,count +start,count @@"`)
}

import { type LineHunk, lineHunks } from '../editing/diff-lines.ts'
import type { HunkLine } from '../model/edit.ts'
import { type Paint, paintFor } from './colour.ts'
import { type DiffFile, type DiffSide, isBinaryFile, splitTypeChange } from './diff-file.ts'
import { quotePath } from './quote-path.ts'
import { visibleParts } from './visible.ts'

export interface RenderOptions {
  /** Lines of context around each hunk; git's own default is 3. */
  readonly contextLines: number
  readonly isColoured: boolean
  /** Ends each hunk's `@@` line with its number in the whole diff, as `--hunk` takes it. */
  readonly numbersHunks: boolean
}

/** A hunk with its number: 1 for the first of the first file, counting on through all files. */
export interface NumberedHunk extends LineHunk {
  readonly number: number
  readonly path: string
}

/** One line of the diff's text, before it is either drawn or written out. */
type DiffLine =
  | { readonly kind: 'header'; readonly text: string }
  | { readonly kind: 'hunk'; readonly text: string; readonly number: number }
  | { readonly kind: HunkLine['kind']; readonly bytes: Uint8Array }
  | { readonly kind: 'no-newline' }

const NO_NEWLINE = '\\ No newline at end of file'
const SIGNS = { context: ' ', add: '+', remove: '-' } as const
/** Digits of an id that are shown; the whole id stands in `--json` and in the written-out diff. */
const SHORT_ID = 7

/**
 * Draws the diff for a reader: git's unified form, with every unseen character and every byte that is not UTF-8
 * written out. The CR of a CRLF is written out too, unless all lines of both sides end so.
 *
 * The text is safe for a terminal. It is no input for `git apply`; `encodeDiff` gives that.
 */
export function renderDiff(files: readonly DiffFile[], options: RenderOptions): string {
  const paint = paintFor(options.isColoured)
  const counter = { hunks: 0 }
  const lines: string[] = []
  for (const file of files.flatMap(splitTypeChange)) {
    const hidesCr = isCrlfThroughout(file)
    for (const line of linesOfFile(file, options.contextLines, counter, SHORT_ID)) {
      lines.push(drawLine(line, paint, hidesCr, options.numbersHunks))
    }
  }
  return lines.map((line) => `${line}\n`).join('')
}

/** One file of the diff as `renderDiff` draws it, its hunks apart. A file that becomes a link is drawn as two, headers among the hunks. */
export function drawFile(
  file: DiffFile,
  options: RenderOptions,
  firstNumber: number,
): { readonly header: string; readonly hunks: readonly string[] } {
  const paint = paintFor(options.isColoured)
  const counter = { hunks: firstNumber - 1 }
  const hunks: string[] = []
  let header = ''
  for (const part of splitTypeChange(file)) {
    const hidesCr = isCrlfThroughout(part)
    for (const line of linesOfFile(part, options.contextLines, counter, SHORT_ID)) {
      const text = `${drawLine(line, paint, hidesCr, options.numbersHunks)}\n`
      if (line.kind === 'hunk') hunks.push(text)
      else if (hunks.length === 0) header += text
      else hunks.push(`${hunks.pop() ?? ''}${text}`)
    }
  }
  return { header, hunks }
}

/**
 * Writes the diff out byte for byte, with whole blob ids: `git apply` makes the same change of it. Of a binary file it
 * holds the ids alone, which is enough where both blobs are at hand.
 */
export function encodeDiff(files: readonly DiffFile[], options: { readonly contextLines: number }): Buffer {
  const chunks: Uint8Array[] = []
  const counter = { hunks: 0 }
  for (const file of files.flatMap(splitTypeChange)) {
    for (const line of linesOfFile(file, options.contextLines, counter, Number.POSITIVE_INFINITY)) {
      if (line.kind === 'header' || line.kind === 'hunk') chunks.push(Buffer.from(`${line.text}\n`, 'utf8'))
      else if (line.kind === 'no-newline') chunks.push(Buffer.from(`${NO_NEWLINE}\n`))
      else chunks.push(Buffer.from(SIGNS[line.kind]), line.bytes, Buffer.from('\n'))
    }
  }
  return Buffer.concat(chunks)
}

/** The hunks of all files, with the numbers that `renderDiff` shows. */
export function numberHunks(files: readonly DiffFile[], contextLines: number): readonly NumberedHunk[] {
  return files
    .flatMap(splitTypeChange)
    .flatMap((file) => hunksOf(file, contextLines).map((hunk) => ({ ...hunk, path: file.path })))
    .map((hunk, index) => ({ ...hunk, number: index + 1 }))
}

const nothing = new Uint8Array(0)

const hunksOf = (file: DiffFile, contextLines: number): readonly LineHunk[] =>
  isBinaryFile(file) || file.before?.blob === file.after?.blob
    ? []
    : lineHunks(file.before?.bytes ?? nothing, file.after?.bytes ?? nothing, contextLines)

function* linesOfFile(
  file: DiffFile,
  contextLines: number,
  counter: { hunks: number },
  idLength: number,
): Generator<DiffLine> {
  const hunks = hunksOf(file, contextLines)
  for (const text of headersOf(file, hunks, idLength)) yield { kind: 'header', text }
  for (const hunk of hunks) {
    counter.hunks += 1
    const text = `@@ -${rangeOf(hunk.oldStart, hunk.oldCount)} +${rangeOf(hunk.newStart, hunk.newCount)} @@`
    yield { kind: 'hunk', text, number: counter.hunks }
    for (const line of hunk.lines) {
      yield { kind: line.kind, bytes: line.text }
      if (line.unterminated === true) yield { kind: 'no-newline' }
    }
  }
}

const rangeOf = (start: number, count: number): string => (count === 1 ? `${start}` : `${start},${count}`)

function* headersOf(file: DiffFile, hunks: readonly LineHunk[], idLength: number): Generator<string> {
  const { before, after } = file
  const oldName = quotePath(`a/${file.renamedFrom ?? file.path}`)
  const newName = quotePath(`b/${file.path}`)
  yield `diff --git ${oldName} ${newName}`
  yield* modeHeaders(before, after)
  if (file.renamedFrom !== undefined) yield* renameHeaders(file, file.renamedFrom, hunks)
  if (before?.blob === after?.blob) return
  yield indexHeader(before, after, idLength)
  const oldSide = before === null ? '/dev/null' : oldName
  const newSide = after === null ? '/dev/null' : newName
  if (isBinaryFile(file)) yield `Binary files ${oldSide} and ${newSide} differ`
  else if (hunks.length > 0) {
    yield `--- ${withTab(oldSide)}`
    yield `+++ ${withTab(newSide)}`
  }
}

function* modeHeaders(before: DiffSide | null, after: DiffSide | null): Generator<string> {
  if (before === null && after !== null) yield `new file mode ${after.mode}`
  if (before !== null && after === null) yield `deleted file mode ${before.mode}`
  if (before !== null && after !== null && before.mode !== after.mode) {
    yield `old mode ${before.mode}`
    yield `new mode ${after.mode}`
  }
}

function* renameHeaders(file: DiffFile, from: string, hunks: readonly LineHunk[]): Generator<string> {
  yield `similarity index ${similarity(file, hunks)}%`
  yield `rename from ${quotePath(from)}`
  yield `rename to ${quotePath(file.path)}`
}

/** Share of the bytes that both sides have, in percent: what git's own figure approximates. */
function similarity(file: DiffFile, hunks: readonly LineHunk[]): number {
  if (file.before?.blob === file.after?.blob) return 100
  const oldBytes = file.before?.bytes.length ?? 0
  const larger = Math.max(oldBytes, file.after?.bytes.length ?? 0, 1)
  const removed = hunks
    .flatMap((hunk) => hunk.lines)
    .reduce((sum, line) => sum + (line.kind === 'remove' ? line.text.length + 1 : 0), 0)
  const kept = isBinaryFile(file) ? 0 : Math.max(0, oldBytes - removed)
  return Math.min(99, Math.floor((100 * kept) / larger))
}

/** The mode stands here only where no other line gives it. */
function indexHeader(before: DiffSide | null, after: DiffSide | null, idLength: number): string {
  const zeros = '0'.repeat((before ?? after)?.blob.length ?? 0)
  const ids = [before, after].map((side) => (side?.blob ?? zeros).slice(0, idLength)).join('..')
  return before !== null && before.mode === after?.mode ? `index ${ids} ${before.mode}` : `index ${ids}`
}

/** A tab ends a name that holds a blank, or a reader would look for a date after it. */
const withTab = (name: string): string => (name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name)

function drawLine(line: DiffLine, paint: Paint, hidesCr: boolean, numbersHunks: boolean): string {
  switch (line.kind) {
    case 'header':
      return paint.header(line.text)
    case 'hunk':
      return paint.hunk(numbersHunks ? `${line.text} hunk ${line.number}` : line.text)
    case 'no-newline':
      return NO_NEWLINE
    case 'context':
      return ` ${drawContent(line.bytes, paint, hidesCr, false)}`
    case 'add':
      return paint.added(`+${drawContent(line.bytes, paint, hidesCr, true)}`)
    case 'remove':
      return paint.removed(`-${drawContent(line.bytes, paint, hidesCr, false)}`)
  }
}

function drawContent(bytes: Uint8Array, paint: Paint, hidesCr: boolean, showsBlanks: boolean): string {
  const shown = hidesCr && bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes
  return visibleParts(shown)
    .map(({ kind, text }) => {
      if (kind === 'mark') return paint.mark(text)
      return kind === 'trailing-blank' && showsBlanks ? paint.trailingBlank(text) : text
    })
    .join('')
}

const CR = 13
const LF = 10

/** Whether all lines of both sides end in CRLF, so that showing each CR would tell the reader nothing. */
export const isCrlfThroughout = ({ before, after }: DiffFile): boolean =>
  before !== null && hasOnlyCrlf(before.bytes) && (after === null || hasOnlyCrlf(after.bytes))

function hasOnlyCrlf(bytes: Uint8Array): boolean {
  if (bytes.length === 0 || bytes.at(-1) !== LF) return false
  for (let lf = bytes.indexOf(LF); lf !== -1; lf = bytes.indexOf(LF, lf + 1)) {
    if (bytes[lf - 1] !== CR) return false
  }
  return true
}

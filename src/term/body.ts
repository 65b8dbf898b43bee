import type { ChangeComment } from '../model/change.ts'
import { commentPlace, placeWords } from '../review/comment-place.ts'
import type { DiffFile } from '../review/diff-file.ts'
import type { DraftComment } from '../review/draft.ts'
import { fileWords } from '../review/file-words.ts'
import type { KeyedPiece } from '../review/piece-keys.ts'

/** One line of the scroll of all pieces, before it is drawn. */
export interface BodyLine {
  readonly kind: 'file' | 'hunk' | 'words' | 'context' | 'add' | 'remove' | 'no-newline' | 'comment' | 'blank'
  /** Its place in the list of pieces. */
  readonly piece: number
  readonly text: Uint8Array | string
  /** Line numbers, where it has them. */
  readonly old?: number
  readonly fresh?: number
}

/** What the scroll is made of. */
export interface BodySource {
  readonly pieces: readonly KeyedPiece[]
  readonly comments: readonly ChangeComment[]
  readonly drafts: readonly DraftComment[]
  /** Lines of context beyond a hunk's own, by the file's key. */
  readonly context: ReadonlyMap<string, number>
}

export interface Body {
  readonly lines: readonly BodyLine[]
  /** Where each piece begins. */
  readonly starts: readonly number[]
}

/** The scroll: each file's name, what is said of it as a whole, its hunks and the comments on them. */
export function bodyOf(source: BodySource): Body {
  const lines: BodyLine[] = []
  const starts: number[] = []
  const said = commentsByFile(source)
  let last: DiffFile | null = null
  for (const [index, one] of source.pieces.entries()) {
    const { file } = one.piece
    starts.push(lines.length)
    if (file !== last) {
      lines.push({ kind: 'file', piece: index, text: file.path })
      for (const text of fileWords(file)) lines.push({ kind: 'words', piece: index, text })
      for (const text of said.ofFile(file)) lines.push({ kind: 'comment', piece: index, text })
    }
    last = file
    pushPiece(lines, source, index, said)
    lines.push({ kind: 'blank', piece: index, text: '' })
  }
  return { lines, starts }
}

function pushPiece(lines: BodyLine[], source: BodySource, index: number, said: Said): void {
  const one = source.pieces[index]
  if (one === undefined) return
  const { piece, key, wholeKey } = one
  const more = moreContext(source, index)
  for (const hunk of piece.hunks) {
    lines.push({ kind: 'hunk', piece: index, text: '' })
    let [old, fresh] = [firstOf(hunk.oldStart, hunk.oldCount), firstOf(hunk.newStart, hunk.newCount)]
    lines.push(...unchanged(piece.file, index, { old, fresh, from: fresh - more.before, to: fresh - 1 }))
    for (const line of hunk.lines) {
      const numbers = {
        ...(line.kind === 'add' ? {} : { old: old++ }),
        ...(line.kind === 'remove' ? {} : { fresh: fresh++ }),
      }
      lines.push({ kind: line.kind, piece: index, text: line.text, ...numbers })
      if (line.unterminated === true)
        lines.push({ kind: 'no-newline', piece: index, text: 'no line feed at the end of the file' })
      if (numbers.fresh !== undefined)
        for (const text of said.ofLine(piece.file, numbers.fresh))
          lines.push({ kind: 'comment', piece: index, text })
    }
    lines.push(...unchanged(piece.file, index, { old, fresh, from: fresh, to: fresh + more.after - 1 }))
  }
  for (const text of [...said.ofKey(key), ...(key === wholeKey ? [] : said.ofKey(wholeKey))])
    lines.push({ kind: 'comment', piece: index, text })
}

/** How many lines around a piece are shown beyond its own: as far as the next piece of its file, each line once. */
function moreContext({ pieces, context }: BodySource, index: number) {
  const more = context.get(pieces[index]?.fileKey ?? '') ?? 0
  const own = pieces[index]?.piece.hunks[0]
  const gapTo = (other: KeyedPiece | undefined, isBefore: boolean): number => {
    const near = other?.piece.hunks[0]
    if (own === undefined || near === undefined || other?.piece.file !== pieces[index]?.piece.file)
      return Number.POSITIVE_INFINITY
    const [first, second] = isBefore ? [near, own] : [own, near]
    return (
      firstOf(second.newStart, second.newCount) - firstOf(first.newStart, first.newCount) - first.newCount
    )
  }
  const after = gapTo(pieces[index + 1], false)
  return {
    before: Math.min(more, gapTo(pieces[index - 1], true)),
    after: after === Number.POSITIVE_INFINITY ? more : Math.min(more, after - Math.min(more, after)),
  }
}

const firstOf = (start: number, count: number): number => (count > 0 ? start : start + 1)

/** Lines of the new file that the change leaves, beside a place where both files' numbers are known. */
function unchanged(
  file: DiffFile,
  piece: number,
  place: { readonly old: number; readonly fresh: number; readonly from: number; readonly to: number },
): readonly BodyLine[] {
  if (place.to < place.from || file.after === null || file.before === null) return []
  const all = linesOf(file.after.bytes)
  const from = Math.max(1, place.from)
  return all.slice(from - 1, Math.max(0, place.to)).map((text, i) => ({
    kind: 'context',
    piece,
    text,
    old: from + i + place.old - place.fresh,
    fresh: from + i,
  }))
}

const split = new WeakMap<Uint8Array, readonly Uint8Array[]>()

function linesOf(bytes: Uint8Array): readonly Uint8Array[] {
  const known = split.get(bytes)
  if (known !== undefined) return known
  const lines: Uint8Array[] = []
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(10, from)
    lines.push(bytes.subarray(from, end === -1 ? bytes.length : end))
    from = end === -1 ? bytes.length : end + 1
  }
  split.set(bytes, lines)
  return lines
}

interface Said {
  readonly ofFile: (file: DiffFile) => readonly string[]
  readonly ofLine: (file: DiffFile, line: number) => readonly string[]
  readonly ofKey: (key: string) => readonly string[]
}

/** Comments by where they stand: what was sent by its lines as they are now, drafts by what they name. */
function commentsByFile({ pieces, comments, drafts }: BodySource): Said {
  const places = new Map<string, string[]>()
  const put = (name: string, text: string) => places.set(name, [...(places.get(name) ?? []), text])
  const files = [...new Set(pieces.map(({ piece }) => piece.file))]
  const keys = new Set(pieces.flatMap(({ key, wholeKey }) => [key, wholeKey]))
  for (const comment of comments) {
    if (comment.path === undefined) continue
    const place = commentPlace(comment, files)
    const isNew = comment.about?.side !== 'old' && 'line' in place
    const at = isNew ? `line ${place.toLine} ${comment.path}` : `file ${comment.path}`
    const words = placeWords(place)
    const gone = words === '' ? '' : ` [of revision ${comment.revision}: ${words}]`
    put(at, `${comment.by}: ${comment.rejects === true ? '(rejected) ' : ''}${comment.text}${gone}`)
  }
  for (const draft of drafts) {
    const text = `you: ${draft.text} (draft)`
    if (draft.key !== undefined && keys.has(draft.key)) put(`key ${draft.key}`, text)
    else if (draft.key === undefined && draft.line !== undefined)
      put(`line ${draft.line} ${draft.path}`, text)
    else if (draft.path !== undefined && draft.key === undefined) put(`file ${draft.path}`, text)
    else if (draft.path !== undefined) put(`file ${draft.path}`, `${text} [its lines are gone]`)
  }
  const of = (name: string): readonly string[] => places.get(name) ?? []
  return {
    ofFile: ({ path }) => of(`file ${path}`),
    ofLine: ({ path }, line) => of(`line ${line} ${path}`),
    ofKey: (key) => of(`key ${key}`),
  }
}

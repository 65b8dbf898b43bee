import type { ReviewInHand } from '../flow/review/open-review.ts'
import type { HunkLine } from '../model/edit.ts'
import type { PageChange, PageComment, PageFile, PageLine, PagePiece, PageText } from '../page/page-values.ts'
import { commentPlace, placeWords } from '../review/comment-place.ts'
import type { DiffFile, DiffSide } from '../review/diff-file.ts'
import { fileWords } from '../review/file-words.ts'
import { type KeyedPiece, splitPieces } from '../review/piece-keys.ts'
import { isEditable, partsOf } from '../review/pieces.ts'
import { visible, visibleParts } from '../review/visible.ts'

/**
 * A change as the page shows it. Every foreign text has its unseen characters written out here: the page only puts text into text nodes.
 */
export function pageChange({ change, files, pieces, draft, reviewer }: ReviewInHand): PageChange {
  const shown = splitPieces(pieces, draft.split)
  return {
    id: change.id,
    revision: change.revision,
    state: change.state,
    digest: change.digest,
    title: visible(change.title),
    body: visible(change.body),
    agent: visible(change.agent?.name ?? ''),
    target: visible(change.onto.replace(/^refs\/heads\//, () => '')),
    base: (change.base ?? '').slice(0, 7),
    checks: change.checks.map(({ name, outcome, required, durationMs }) => ({
      name: visible(name),
      outcome,
      required,
      seconds: Math.round(durationMs / 100) / 10,
    })),
    approvals: change.approvals.map(({ by, via }) => `${visible(by)}, ${via}`),
    comments: change.comments.map((comment): PageComment => {
      const place = commentPlace(comment, files)
      const line = 'line' in place && comment.about?.side !== 'old' ? place.toLine : null
      return {
        by: `${visible(comment.by)}${comment.byAgent === true ? ' (an agent)' : ''}`,
        text: visible(comment.text),
        path: comment.path ?? null,
        line,
        note: placeWords(place),
        rejects: comment.rejects === true,
        revision: comment.revision,
      }
    }),
    files: pageFiles(pieces),
    pieces: shown.map(pagePiece),
    reviewer: visible(reviewer),
    draft,
  }
}

function pageFiles(pieces: readonly KeyedPiece[]): readonly PageFile[] {
  const files = new Map<string, { file: DiffFile; added: number; removed: number }>()
  for (const { piece, fileKey } of pieces) {
    const facts = files.get(fileKey) ?? { file: piece.file, added: 0, removed: 0 }
    files.set(fileKey, facts)
    for (const { lines } of piece.hunks)
      for (const { kind } of lines) {
        if (kind === 'add') facts.added++
        if (kind === 'remove') facts.removed++
      }
  }
  return [...files].map(([key, { file, added, removed }]) => ({
    key,
    path: visible(file.path).replaceAll('\n', '\\u{A}'),
    name: file.path,
    words: fileWords(file),
    added,
    removed,
    image: imageType(file) !== null,
    sides: [file.before !== null, file.after !== null],
  }))
}

function pagePiece(keyed: KeyedPiece): PagePiece {
  const { piece, key, wholeKey, fileKey } = keyed
  const lines: PageLine[] = []
  for (const hunk of piece.hunks) {
    let old = hunk.oldCount > 0 ? hunk.oldStart : hunk.oldStart + 1
    let fresh = hunk.newCount > 0 ? hunk.newStart : hunk.newStart + 1
    for (const line of hunk.lines) {
      lines.push({
        kind: line.kind,
        old: line.kind === 'add' ? null : old++,
        new: line.kind === 'remove' ? null : fresh++,
        text: pageText(line.text),
      })
      if (line.unterminated === true)
        lines.push({ kind: 'note', old: null, new: null, text: 'no line feed at the end of the file' })
    }
  }
  const [first] = piece.hunks
  return {
    key,
    wholeKey,
    fileKey,
    number: first?.number ?? null,
    part: piece.part ?? null,
    canSplit: piece.part === undefined && partsOf(piece).length > 1,
    newText: isEditable(piece) && first !== undefined ? newText(first.lines) : null,
    lines,
  }
}

/** The lines that a hunk makes, to be edited, each with its line feed; null where they are no text. */
function newText(lines: readonly HunkLine[]): string | null {
  const own = lines.filter(({ kind }) => kind !== 'remove')
  try {
    return own
      .map(({ text, unterminated }) => `${decoder.decode(text)}${unterminated === true ? '' : '\n'}`)
      .join('')
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function pageText(line: Uint8Array): PageText {
  const parts = visibleParts(line)
  const [only] = parts
  if (parts.length === 0) return ''
  if (parts.length === 1 && only?.kind === 'text') return only.text
  return parts.map(({ kind, text }) => [kind === 'text' ? 't' : kind === 'mark' ? 'm' : 'b', text] as const)
}

const IMAGES: readonly (readonly [string, readonly number[]])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
]

/** The type of an image by its own bytes, never by its name; null = it is none that is shown. A drawing with code in it (SVG) is text. */
export function imageTypeOf(side: DiffSide | null): string | null {
  if (side === null || !side.mode.startsWith('100')) return null
  const found = IMAGES.find(([, start]) => start.every((byte, index) => side.bytes[index] === byte))
  if (found !== undefined) return found[0]
  const head = new TextDecoder('latin1').decode(side.bytes.subarray(0, 12))
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : null
}

const imageType = ({ before, after }: DiffFile): string | null => imageTypeOf(after) ?? imageTypeOf(before)

import type { CommentWords } from '../model/change.ts'
import type { DiffFile } from './diff-file.ts'

/** Where the lines stand now that a comment is about. */
export type CommentPlace =
  /** It is about the change, or a file as a whole that the change still touches. */
  | { readonly kind: 'whole' }
  | { readonly kind: 'here' | 'moved'; readonly line: number; readonly toLine: number }
  /** The change has these lines no more: they were taken out, or the file was. */
  | { readonly kind: 'gone' }

type Words = Pick<CommentWords, 'path' | 'line' | 'toLine' | 'about'>

/**
 * Looks for the lines that a comment carries in a revision of its change. Of several places the nearest to where it was counts.
 *
 * @param files - Of the revision that is looked at.
 */
export function commentPlace({ path, line, about }: Words, files: readonly DiffFile[]): CommentPlace {
  if (path === undefined) return { kind: 'whole' }
  const file = files.find((one) => one.path === path) ?? files.find((one) => one.renamedFrom === path)
  if (file === undefined) return { kind: 'gone' }
  if (about === undefined || line === undefined) return { kind: 'whole' }
  const wanted = wantedLines(about.side, about.lines)
  const side = wanted.side === 'old' ? file.before : file.after
  const lines = side === null ? [] : linesOf(side.bytes)
  if (wanted.lines.length === 0) return { kind: 'gone' }
  const isCut = about.isCut === true
  const found = nearest(lines, wanted.lines, line - 1, isCut)
  if (found === null) return { kind: 'gone' }
  const from = found + 1
  return { kind: from === line ? 'here' : 'moved', line: from, toLine: found + wanted.lines.length }
}

/** Of a hunk, the lines that it makes; of one that only takes away, those that it took. */
function wantedLines(
  side: 'new' | 'old' | 'diff',
  lines: readonly string[],
): { readonly side: 'new' | 'old'; readonly lines: readonly string[] } {
  if (side !== 'diff') return { side, lines }
  const isNew = lines.some((line) => line.startsWith('+'))
  const passed = isNew ? '-' : '+'
  const kept = lines.filter((line) => !line.startsWith(passed))
  return { side: isNew ? 'new' : 'old', lines: kept.map((line) => line.slice(1)) }
}

const known = new WeakMap<Uint8Array, readonly string[]>()

/** Many comments may be on one file. */
function linesOf(bytes: Uint8Array): readonly string[] {
  const text = known.has(bytes) ? '' : new TextDecoder().decode(bytes)
  const lines = known.get(bytes) ?? (text === '' ? [] : text.replace(/\n$/, '').split('\n'))
  known.set(bytes, lines)
  return lines
}

function nearest(
  lines: readonly string[],
  wanted: readonly string[],
  at: number,
  isCut: boolean,
): number | null {
  const isAt = (index: number): boolean =>
    wanted.every((text, i) => {
      const line = lines[index + i]
      return line === text || (isCut && line?.startsWith(text) === true)
    })
  const last = lines.length - wanted.length
  for (let away = 0; away <= lines.length; away++) {
    for (const index of [at - away, at + away]) if (index >= 0 && index <= last && isAt(index)) return index
  }
  return null
}

/** The place in words, for a line beside the comment; `''` where it stands as it was said. */
export function placeWords(place: CommentPlace): string {
  if (place.kind === 'moved')
    return `now at line ${place.line}${place.toLine === place.line ? '' : `-${place.toLine}`}`
  return place.kind === 'gone' ? 'these lines are not there any more' : ''
}

import type { QuotedLines } from '../model/change.ts'
import type { HunkLine } from '../model/edit.ts'
import { limits } from '../model/limits.ts'

/** Lines of a file as a comment keeps them, from 1, both ends included; null where the file has not so many. */
export function quoteLines(
  bytes: Uint8Array,
  side: 'new' | 'old',
  { from, to }: { readonly from: number; readonly to: number },
): QuotedLines | null {
  const lines = linesOf(bytes)
  return from < 1 || to < from || to > lines.length ? null : bounded(side, lines.slice(from - 1, to))
}

/** A hunk as a comment keeps it: the lines of both files, each with its sign. */
export const quoteHunk = (lines: readonly HunkLine[]): QuotedLines =>
  bounded(
    'diff',
    lines.map((line) => `${SIGNS[line.kind]}${decoder.decode(line.text)}`),
  )

export const countLinesOf = (bytes: Uint8Array): number => linesOf(bytes).length

const SIGNS = { context: ' ', add: '+', remove: '-' } as const
const decoder = new TextDecoder('utf-8')

function linesOf(bytes: Uint8Array): readonly string[] {
  const text = decoder.decode(bytes)
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

function bounded(side: QuotedLines['side'], lines: readonly string[]): QuotedLines {
  const most = limits.quotedLineMaxCharacters
  const kept = lines.slice(0, limits.quotedLinesMax)
  const isCut = kept.length < lines.length || kept.some((line) => line.length > most)
  return { side, lines: kept.map((line) => line.slice(0, most)), ...(isCut ? { isCut: true } : {}) }
}

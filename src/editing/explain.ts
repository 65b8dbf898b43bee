import type { ReplaceEdit, Tier } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import { encode } from './bytes.ts'
import type { FileText } from './file-text.ts'
import { findMatch } from './match.ts'
import { type Nearest, nearestPlace } from './nearest.ts'
import { refusal } from './outcome.ts'
import { splitPieces } from './pieces.ts'
import { rankOf, stricter } from './tiers.ts'

/** Why a text edit found no place: done already, beyond the cap on leniency, or simply not there. */
export function explainNoMatch(file: FileText, edit: ReplaceEdit, maxTier: Tier): Refusal {
  const what = `replace in ${edit.path}`
  const done = resultLine(file, edit, maxTier)
  if (done !== null) {
    return refusal(
      'already-applied',
      `${what}: the old text does not stand in the file, the new one does at line ${done}`,
      {
        line: done,
        blob: file.blob,
      },
    )
  }
  const isNarrow = edit.startLine !== undefined
  const where = isNarrow ? `at line ${edit.startLine}` : 'in the file'
  if (!file.work.mayExplain())
    return refusal('no-match', `${what}: the old text does not stand ${where}`, { blob: file.blob })
  const looser = looserMatch(file, edit, maxTier)
  const nearest = looser === null ? nearestPlace(file, edit.old) : null
  const data = {
    blob: file.blob,
    ...(nearest === null ? {} : { nearest }),
    ...(looser === null ? {} : { looser }),
  }
  const message = `${what}: the old text does not stand ${where}${nearestClause(nearest)}`
  return refusal('no-match', message, data, looser === null ? hintOf(nearest) : looserHint(looser, maxTier))
}

/** Adds to a message what comes nearest. */
export function nearestClause(nearest: Nearest | null): string {
  if (nearest === null) return ''
  const found = nearest.found === null ? 'the file ends there' : `the file has "${nearest.found}"`
  return `; nearest is line ${nearest.line}, where line ${nearest.firstDifferingLine} differs: expected "${nearest.expected}", ${found}`
}

/** Advice where the difference has a name. */
export const hintOf = (nearest: Nearest | null): string | undefined =>
  nearest === null || nearest.difference === null
    ? undefined
    : `Line ${nearest.firstDifferingLine} differs in ${nearest.difference}. Copy the text from the file as it stands.`

interface Looser {
  readonly tier: Tier
  readonly lines: readonly number[]
}

function looserMatch(file: FileText, edit: ReplaceEdit, maxTier: Tier): Looser | null {
  if (maxTier === 'indent') return null
  const match = findMatch(file, {
    old: edit.old,
    new: edit.new,
    wholeLines: edit.wholeLines === true,
    startLine: edit.startLine ?? null,
    maxTier: 'indent',
    limit: 3,
  })
  if (match === null || rankOf(match.tier) <= rankOf(maxTier)) return null
  return { tier: match.tier, lines: match.places.map(({ start }) => file.lines.lineAt(start) + 1) }
}

const looserHint = ({ tier, lines }: Looser, maxTier: Tier): string =>
  `It stands at line ${lines.join(', ')} if matched at tier "${tier}"; this edit may go as far as "${maxTier}". Copy the text from the file as it stands.`

/** Shorter texts stand in many a file by chance. */
const TELLING_CHARACTERS = 4

/** The line at which the edit's result stands, alone, and as a whole line or word; null where it does not. */
function resultLine(file: FileText, edit: ReplaceEdit, maxTier: Tier): number | null {
  if (edit.new.trim() === '') return null
  const mustBeLine = edit.new.trim().length < TELLING_CHARACTERS
  if (mustBeLine && !beginsLine(file, edit.new)) return null
  const match = findMatch(file, {
    old: edit.new,
    new: '',
    wholeLines: edit.wholeLines === true,
    startLine: edit.startLine ?? null,
    maxTier: stricter(maxTier, 'eol'),
    limit: 2,
  })
  const [place] = match?.places ?? []
  if (match === null || place === undefined || match.places.length > 1) return null
  const { bytes, lines } = file
  const isWhole = lines.isLineStart(place.start) && lines.isLineEnd(place.end)
  if (!isWhole && mustBeLine) return null
  if (isWord(bytes[place.start - 1]) && isWord(bytes[place.start])) return null
  if (isWord(bytes[place.end - 1]) && isWord(bytes[place.end])) return null
  return file.lines.lineAt(place.start) + 1
}

/** Whether the first line of the text is one of the file: found without a pass over the file for each text. */
function beginsLine(file: FileText, text: string): boolean {
  const first = splitPieces(text, file.lines.usesCr)[0]?.text ?? ''
  return file.wholeLines(null).linesWith(encode(first), 1).length > 0
}

/** Letters, digits, the underscore and everything beyond ASCII. */
const isWord = (byte: number | undefined): boolean =>
  byte !== undefined &&
  (byte >= 0x80 ||
    byte === 0x5f ||
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x61 && byte <= 0x7a))

import type { ReplaceEdit, Tier } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { encode } from './bytes.ts'
import { explainNoMatch } from './explain.ts'
import type { FileText } from './file-text.ts'
import { findMatch, type Match } from './match.ts'
import type { Place } from './match-request.ts'
import { type Claim, failed, type Outcome } from './outcome.ts'
import { joinPieces, splitPieces } from './pieces.ts'
import { buildReplacement } from './replacement.ts'

/** Places that one edit may replace. */
const PLACES_MAX = 1_000_000
/** What one place of a "replace all" is charged: it takes memory until the step is done. */
const PLACE_COST = 4096
/** The same where all places together are one claim. */
const STRETCH_PLACE_COST = 512

/** Resolves a search-and-replace edit against one file. */
export function resolveReplace(file: FileText, edit: ReplaceEdit, maxTier: Tier): Outcome {
  const what = `replace in ${edit.path}`
  if (edit.old === '') return failed('no-match', `${what}: the old text is empty`)
  if (edit.old === edit.new) return failed('no-change', `${what}: the old and the new text are the same`)
  const match = findMatch(file, {
    old: edit.old,
    new: edit.new,
    wholeLines: edit.wholeLines === true,
    startLine: edit.startLine ?? null,
    maxTier,
    limit: edit.all ? PLACES_MAX + 1 : limits.candidatesShown + 1,
  })
  if (match === null) return { kind: 'failed', refusal: missing(file, edit, maxTier) }
  return edit.all ? replaceAll(file, edit, match) : replaceOne(file, edit, match)
}

function missing(file: FileText, edit: ReplaceEdit, maxTier: Tier): Refusal {
  const refused = explainNoMatch(file, edit, maxTier)
  if (edit.count === undefined) return refused
  return {
    ...refused,
    message: `${refused.message}; ${edit.count} places are expected`,
    data: { ...refused.data, expectedCount: edit.count, count: 0 },
  }
}

function replaceOne(file: FileText, edit: ReplaceEdit, match: Match): Outcome {
  const [only] = match.places
  if (match.places.length > 1) return ambiguous(file, edit, match)
  if (only !== undefined && standsAround(file, edit, only)) {
    const line = file.lines.lineAt(only.start) + 1
    return failed(
      'already-applied',
      `replace in ${edit.path}: the new text stands around line ${line} already`,
      { line, blob: file.blob },
    )
  }
  return claimed(
    match,
    match.places.map((place) => claimFor(file, edit, match.tier, place)),
  )
}

function replaceAll(file: FileText, edit: ReplaceEdit, match: Match): Outcome {
  const what = `replace in ${edit.path}`
  if (match.places.length > PLACES_MAX) {
    return failed('too-large', `${what}: the old text stands in more than ${PLACES_MAX} places`)
  }
  const places = withoutOverlaps(match.places)
  if (edit.count !== undefined && places.length !== edit.count)
    return miscounted(file, edit, match.tier, places)
  const bytes = places.length * Buffer.byteLength(edit.new)
  if (bytes > limits.fileMaxBytes) {
    return failed(
      'too-large',
      `${what}: the new text in ${places.length} places has ${bytes} bytes, ${limits.fileMaxBytes} are allowed`,
      { bytes, maxBytes: limits.fileMaxBytes },
    )
  }
  return { ...claimed(match, claimAll(file, edit, match.tier, places)), places: places.length }
}

const claimed = ({ tier }: Match, claims: readonly Claim[]): Extract<Outcome, { kind: 'claims' }> => ({
  kind: 'claims',
  claims,
  tier,
  carried: false,
  remarks: [],
})

/**
 * Whether an edit that adds lines beside the old text has been applied already: the whole new text stands there.
 * Only whole added lines with something in them tell; a repeated brace or word does not.
 */
function standsAround(file: FileText, edit: ReplaceEdit, place: Place): boolean {
  const at = edit.new.indexOf(edit.old)
  if (at === -1 || edit.new.indexOf(edit.old, at + 1) !== -1) return false
  const before = edit.new.slice(0, at)
  const after = edit.new.slice(at + edit.old.length)
  if (!hasNewline(before + after) || (before + after).trim() === '') return false
  const ending = file.lines.endingNear(file.lines.lineAt(place.start))
  const bytesOf = (text: string): Buffer =>
    encode(joinPieces(splitPieces(text, file.lines.usesCr), () => ending, true))
  const start = place.start - bytesOf(before).length
  const whole = Buffer.concat([bytesOf(before), file.bytes.subarray(place.start, place.end), bytesOf(after)])
  return start >= 0 && file.bytes.subarray(start, start + whole.length).equals(whole)
}

function ambiguous(file: FileText, edit: ReplaceEdit, match: Match): Outcome {
  const { lines, more } = linesOf(file, match.places)
  return failed(
    'ambiguous-match',
    `replace in ${edit.path}: the old text stands in ${more ? 'more than ' : ''}${lines.length} places, lines ${lines.join(', ')}`,
    { lines, more, tier: match.tier, blob: file.blob },
  )
}

/** More places or fewer than the request says. */
function miscounted(file: FileText, edit: ReplaceEdit, tier: Tier, places: readonly Place[]): Outcome {
  const { lines, more } = linesOf(file, places)
  const count = places.length
  const expected = edit.count ?? 0
  return failed(
    count > expected ? 'ambiguous-match' : 'no-match',
    `replace in ${edit.path}: the old text stands in ${count} ${count === 1 ? 'place' : 'places'}, lines ${lines.join(', ')}${more ? ' and more' : ''}; ${expected} are expected`,
    { lines, more, tier, blob: file.blob, expectedCount: expected, count },
    'Give the number of places as it is, or text that stands in just those that are meant.',
  )
}

function linesOf(
  file: FileText,
  places: readonly Place[],
): { readonly lines: readonly number[]; readonly more: boolean } {
  const shown = places.slice(0, limits.candidatesShown)
  return {
    lines: shown.map(({ start }) => file.lines.lineAt(start) + 1),
    more: places.length > shown.length,
  }
}

function withoutOverlaps(places: readonly Place[]): readonly Place[] {
  let end = 0
  return places.filter((place) => {
    if (place.start < end) return false
    end = place.end
    return true
  })
}

/** More places than this are claimed as one stretch, with all that lies between them. */
const CLAIMS_MAX = 100_000

function claimAll(file: FileText, edit: ReplaceEdit, tier: Tier, places: readonly Place[]): readonly Claim[] {
  const isUniform = !hasNewline(edit.old) && !hasNewline(edit.new) && tier !== 'indent'
  const isStretch = isUniform && places.length > CLAIMS_MAX
  file.work.spend(places.length * (isStretch ? STRETCH_PLACE_COST : PLACE_COST))
  if (isStretch) return [claimStretch(file, edit, tier, places)]
  if (isUniform) return sameClaims(edit, tier, places)
  return places.map((place) => claimFor(file, edit, tier, place))
}

/** One claim from the first place to the last, for the same replacement at each. */
function claimStretch(file: FileText, edit: ReplaceEdit, tier: Tier, places: readonly Place[]): Claim {
  const start = places[0]?.start ?? 0
  const end = places[places.length - 1]?.end ?? start
  const replacement = encode(edit.new)
  const removed = places.reduce((sum, place) => sum + place.end - place.start, 0)
  const output = Buffer.allocUnsafe(end - start - removed + places.length * replacement.length)
  let at = start
  let out = 0
  for (const place of places) {
    out += file.bytes.copy(output, out, at, place.start)
    out += replacement.copy(output, out)
    at = place.end
  }
  return {
    item: edit.item,
    offset: start,
    length: end - start,
    replacement: output,
    tier,
    claimStart: start,
    claimEnd: end,
    ownLine: null,
  }
}

const hasNewline = (text: string): boolean => text.includes('\n') || text.includes('\r')

/** Without newlines the replacement is the same everywhere. */
function sameClaims(edit: ReplaceEdit, tier: Tier, places: readonly Place[]): readonly Claim[] {
  const replacement = encode(edit.new)
  return places.map(({ start, end }) => ({
    item: edit.item,
    offset: start,
    length: end - start,
    replacement,
    tier,
    claimStart: start,
    claimEnd: end,
    ownLine: null,
  }))
}

function claimFor(file: FileText, edit: ReplaceEdit, tier: Tier, place: Place): Claim {
  const texts = place.lacksNewline
    ? { old: withoutNewline(edit.old), new: withoutNewline(edit.new) }
    : { old: edit.old, new: edit.new }
  const replacement = buildReplacement({
    table: file.lines,
    span: place,
    ...texts,
    adapt: tier !== 'exact' && edit.old.includes('\r\n'),
    ...(place.reindent === null ? {} : { reindent: place.reindent }),
  })
  return {
    item: edit.item,
    offset: replacement.span.start,
    length: replacement.span.end - replacement.span.start,
    replacement: encode(replacement.text),
    tier,
    claimStart: place.start,
    claimEnd: place.end,
    ownLine: null,
  }
}

/** The end of the file stands for this newline, and goes on doing so. */
function withoutNewline(text: string): string {
  if (text.endsWith('\r\n')) return text.slice(0, -2)
  return text.endsWith('\n') || text.endsWith('\r') ? text.slice(0, -1) : text
}

import type { Edit, WriteEdit } from '../model/edit.ts'
import type { ItemResult, Remark } from '../model/resolution.ts'
import type { DraftState } from './draft.ts'
import type { FileText } from './file-text.ts'
import type { Claim } from './outcome.ts'
import { rankOf } from './tiers.ts'

/** Places of one edit that are looked at; further ones of a "replace all" bring nothing new. */
const CLAIMS_MAX = 1000
/** Characters named in one remark. */
const CHARACTERS_MAX = 8

/** What the reviewer of a text edit should see although it was taken. */
export function textRemarks(
  file: FileText,
  edit: Edit,
  taken: { readonly claims: readonly Claim[]; readonly result: ItemResult },
): readonly Remark[] {
  const { claims, result } = taken
  const remark = (kind: Remark['kind'], text: string): Remark => ({
    kind,
    item: edit.item,
    path: edit.path,
    text,
  })
  const pairs = claims.slice(0, CLAIMS_MAX).map((claim) => ({
    removed: file.bytes.toString('utf8', claim.offset, claim.offset + claim.length),
    added: Buffer.from(claim.replacement).toString('utf8'),
  }))
  const remarks: Remark[] = []
  if (rankOf(result.tier) >= rankOf('trailing-space')) {
    const lines = result.oldLines
    const where = lines === undefined ? '' : ` (line ${lines.from})`
    remarks.push(remark('tier', `the old text matched only at tier "${result.tier}"${where}`))
  }
  const quotes = pairs.map(({ removed, added }) => quoteChange(removed, added)).find((text) => text !== null)
  if (quotes !== undefined && quotes !== null) remarks.push(remark('quote-class', quotes))
  const unseen = unseenRemark(pairs)
  return unseen === null ? remarks : [...remarks, remark('invisible', unseen)]
}

/** What the reviewer of a whole-file write should see. */
export function writeRemarks(before: DraftState, edit: WriteEdit): readonly Remark[] {
  const remark = (kind: Remark['kind'], text: string): Remark => ({
    kind,
    item: edit.item,
    path: edit.path,
    text,
  })
  const remarks: Remark[] = []
  if (edit.mode === 'either') {
    remarks.push(
      remark('created-or-overwrote', before.kind === 'absent' ? 'created the file' : 'overwrote the file'),
    )
  }
  if (!edit.isText) return remarks
  const removed = before.kind === 'absent' ? '' : before.text.bytes.toString('utf8')
  const unseen = unseenRemark([{ removed, added: Buffer.from(edit.content).toString('utf8') }])
  return unseen === null ? remarks : [...remarks, remark('invisible', unseen)]
}

/** Straight quotes that became curly, or the other way round. */
function quoteChange(removed: string, added: string): string | null {
  const curly = countOf(added, /[\u2018-\u201f]/g) - countOf(removed, /[\u2018-\u201f]/g)
  const straight = countOf(added, /['"]/g) - countOf(removed, /['"]/g)
  if (curly > 0 && straight < 0) return 'straight quotes became curly ones'
  return curly < 0 && straight > 0 ? 'curly quotes became straight ones' : null
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Characters that have no shape or reorder the line; emoji's joiners and selectors are taken as they come. */
const UNSEEN =
  /(?!\t|\n|\r|\u200c|\u200d|[\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u2800]/gu

function unseenRemark(pairs: readonly { readonly removed: string; readonly added: string }[]): string | null {
  const found = new Set<string>()
  for (const { removed, added } of pairs) {
    const known = new Set(removed.match(UNSEEN) ?? [])
    for (const character of added.match(UNSEEN) ?? []) if (!known.has(character)) found.add(character)
    if (found.size > CHARACTERS_MAX) break
  }
  if (found.size === 0) return null
  const names = [...found].slice(0, CHARACTERS_MAX).map(nameOf)
  return `the new text brings characters that cannot be seen: ${names.join(', ')}${found.size > CHARACTERS_MAX ? ' and more' : ''}`
}

const nameOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

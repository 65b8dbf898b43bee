import type { PageChange, PageLine } from './page-values.ts'

/** One line of the page's scroll. Rows of one kind have one height, so that where each stands is known without drawing it. */
export type Row =
  | { readonly kind: 'file'; readonly file: number; readonly piece: number }
  | { readonly kind: 'words' | 'comment' | 'space'; readonly piece: number; readonly text: string }
  | { readonly kind: 'image'; readonly file: number; readonly piece: number }
  | { readonly kind: 'hunk'; readonly piece: number }
  | {
      readonly kind: 'line'
      readonly piece: number
      readonly left: PageLine | null
      readonly right: PageLine | null
    }

const HEIGHTS: Readonly<Record<Row['kind'], number>> = {
  file: 40,
  words: 20,
  comment: 20,
  space: 16,
  image: 260,
  hunk: 36,
  line: 20,
}

export const heightOf = ({ kind }: Row): number => HEIGHTS[kind]

/**
 * The scroll of a change: each file's name, what is said of it as a whole, its hunks, and the comments where they stand.
 *
 * @param isSplit - Old and new side by side; else `left` is the only line of a row.
 */
export function rowsOf(change: PageChange, isSplit: boolean): readonly Row[] {
  const rows: Row[] = []
  const fileAt = new Map(change.files.map(({ key }, index) => [key, index]))
  let last = ''
  for (const [piece, { fileKey, lines, key, wholeKey }] of change.pieces.entries()) {
    const file = fileAt.get(fileKey) ?? 0
    if (fileKey !== last) pushFile(rows, change, { file, piece })
    last = fileKey
    rows.push({ kind: 'hunk', piece })
    const said = commentsAt(change, file)
    for (const [left, right] of isSplit ? sideBySide(lines) : lines.map((line) => [line, null] as const)) {
      rows.push({ kind: 'line', piece, left, right })
      const fresh = (right ?? left)?.new ?? null
      for (const text of fresh === null ? [] : (said.get(fresh) ?? []))
        rows.push({ kind: 'comment', piece, text })
    }
    for (const comment of change.draft.comments)
      if (comment.key === key || comment.key === wholeKey)
        pushText(rows, piece, `you, not sent: ${comment.text}`)
    rows.push({ kind: 'space', piece, text: '' })
  }
  return rows
}

function pushFile(
  rows: Row[],
  change: PageChange,
  { file, piece }: { readonly file: number; readonly piece: number },
): void {
  const facts = change.files[file]
  if (facts === undefined) return
  rows.push({ kind: 'file', file, piece })
  for (const text of facts.words) rows.push({ kind: 'words', piece, text })
  if (facts.image) rows.push({ kind: 'image', file, piece })
  for (const { by, text, path, line, note, rejects, revision } of change.comments) {
    if (path !== facts.name || line !== null) continue
    const place = note === '' ? '' : ` [of revision ${revision}: ${note}]`
    pushText(rows, piece, `${by}: ${rejects ? '(rejected) ' : ''}${text}${place}`)
  }
}

function commentsAt(change: PageChange, file: number): ReadonlyMap<number, readonly string[]> {
  const said = new Map<number, string[]>()
  for (const { by, text, path, line, rejects } of change.comments) {
    if (line === null || path !== change.files[file]?.name) continue
    const words = `${by}: ${rejects ? '(rejected) ' : ''}${text}`
    said.set(line, [...(said.get(line) ?? []), ...words.split('\n')])
  }
  return said
}

function pushText(rows: Row[], piece: number, text: string): void {
  for (const line of text.split('\n')) rows.push({ kind: 'comment', piece, text: line })
}

/** Pairs what a run takes away with what it brings. */
function sideBySide(lines: readonly PageLine[]): readonly (readonly [PageLine | null, PageLine | null])[] {
  const pairs: [PageLine | null, PageLine | null][] = []
  let removed: PageLine[] = []
  let added: PageLine[] = []
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++)
      pairs.push([removed[i] ?? null, added[i] ?? null])
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'remove') {
      if (added.length > 0) flush()
      removed.push(line)
    } else if (line.kind === 'add') added.push(line)
    else {
      flush()
      pairs.push([line, line])
    }
  }
  flush()
  return pairs
}

/** Where each row begins; the last number is the height of all. */
export function offsetsOf(rows: readonly Row[]): Float64Array {
  const offsets = new Float64Array(rows.length + 1)
  for (const [index, row] of rows.entries()) offsets[index + 1] = (offsets[index] ?? 0) + heightOf(row)
  return offsets
}

/** The first row that ends below `top`: by halving. */
export function rowAt(offsets: Float64Array, top: number): number {
  let [low, high] = [0, Math.max(0, offsets.length - 2)]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((offsets[middle + 1] ?? 0) <= top) low = middle + 1
    else high = middle
  }
  return low
}

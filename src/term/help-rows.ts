import { type Row, span, styles } from './spans.ts'

const KEYS: readonly (readonly [keys: string, meaning: string])[] = [
  ['y n', 'accept, reject this hunk (with a reason)'],
  ['Y N', 'the same for the rest of the file'],
  ['e', 'edit it in $EDITOR, and accept it so'],
  ['s', 'split it in parts; again: join them'],
  ['c', 'comment on the line, or on the hunk'],
  ['u', 'take the last decision back'],
  ['v', 'mark the file as viewed'],
  ['Space J K', 'next, previous undecided hunk'],
  ['j k ↓ ↑', 'line; PgDn PgUp: screen; g G: ends'],
  ['] [ Tab', 'next, previous file; next hunk'],
  ['/ > <', 'search; next, previous place'],
  ['→ ← w', 'scroll long lines; wrap them'],
  ['o t', 'more lines around it; the whole file'],
  ['x', 'show blanks'],
  ['d', 'difference to what you saw last'],
  ['l L', 'next, previous change that waits'],
  ['f', 'finish: says what it will do first'],
  ['q Ctrl-C', 'leave; everything is kept'],
]

export function helpRows(columns: number): readonly Row[] {
  const rows = KEYS.map(([keys, meaning]): Row => [span(` ${keys.padEnd(11)}`, styles.bold), span(meaning)])
  if (columns < 100) return rows
  // Two columns where there is room.
  const half = Math.ceil(rows.length / 2)
  return rows.slice(0, half).map((row, i) => {
    const width = KEYS[i]?.[1].length ?? 0
    return [...row, span(' '.repeat(Math.max(2, 46 - width))), ...(rows[half + i] ?? [])]
  })
}

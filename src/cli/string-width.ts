/**
 * Columns that a text takes on a terminal: stands in for the package `string-width` when yargs is bundled.
 *
 * Only galley's own help texts go through it: letters, signs and colour codes. The package costs 50 ms at start for
 * emoji clusters that those do not hold.
 */
export function stringWidth(text: string): number {
  let columns = 0
  for (const character of text.replaceAll(COLOUR_CODE, '')) columns += widthOf(character.codePointAt(0) ?? 0)
  return columns
}

/**
 * The name under which `string-width` is imported; the build puts this file in its place.
 * @public
 */
export { stringWidth as default }

const COLOUR_CODE = /\u001b\[[0-9;]*m/g

/** First and last code point of what is drawn two columns wide. */
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
]

function widthOf(codePoint: number): number {
  if (codePoint < 0x20 || (codePoint >= 0x7f && codePoint < 0xa0)) return 0
  if (codePoint >= 0x300 && codePoint <= 0x36f) return 0
  if (codePoint === 0x200b || codePoint === 0x200d || (codePoint >= 0xfe00 && codePoint <= 0xfe0f)) return 0
  return WIDE.some(([first, last]) => codePoint >= first && codePoint <= last) ? 2 : 1
}

/** What stands where a block's file name may stand. */
export type BlockName =
  | { readonly kind: 'none' }
  | { readonly kind: 'name'; readonly name: string; readonly index: number; readonly isCertain: boolean }
  | { readonly kind: 'prose'; readonly index: number }

const FENCE = /^[ \t]*(`{3,}|~{3,})/

/**
 * Finds the file name of the block whose SEARCH marker is at `marker`: alone on the line above it or above its fence,
 * behind the fence's sign, or on the first line inside a fence of its own above. Decoration (backticks, bold, a heading
 * or comment sign, a colon at the end) is taken off. The rules are aider's; what reads like prose is no name.
 *
 * @param floor - Index of the first line that may be looked at: below the block before.
 */
export function nameAbove(lines: readonly string[], marker: number, floor: number): BlockName {
  // aider looks at three lines: its own fence, then a name between two fences of their own.
  const lowest = Math.max(floor, marker - 3)
  for (let index = marker - 1; index >= lowest; index--) {
    const line = (lines[index] ?? '').trim()
    if (line === '') return aboveBlank(lines, index, floor)
    if (!FENCE.test(line)) return nameOf(line, index)
    const behind = line.replace(FENCE, () => '').trim()
    if (isPathLike(behind)) return { kind: 'name', name: behind, index, isCertain: true }
  }
  return { kind: 'none' }
}

/** Nothing but an unmistakable path may have one empty line below it. */
function aboveBlank(lines: readonly string[], blank: number, floor: number): BlockName {
  const index = blank - 1
  const { name } = undecorated(index < floor ? '' : (lines[index] ?? '').trim())
  return isPathLike(name) ? { kind: 'name', name, index, isCertain: true } : { kind: 'none' }
}

function nameOf(line: string, index: number): BlockName {
  if (line === '...') return { kind: 'none' }
  const plain = undecorated(line)
  if (plain.name === '') return { kind: 'none' }
  if (!/\s/.test(plain.name)) return { kind: 'name', name: plain.name, index, isCertain: true }
  // With a space inside, only quoting shows that it is a name; without quoting the end must look like a file's.
  if (plain.isQuoted) return { kind: 'name', name: plain.name, index, isCertain: true }
  const end = plain.name.split(/\s/).at(-1) ?? ''
  return isPathLike(end)
    ? { kind: 'name', name: plain.name, index, isCertain: false }
    : { kind: 'prose', index }
}

/** A slash inside, or a dot that has something behind it. */
const isPathLike = (text: string): boolean =>
  text !== '' && !/\s/.test(text) && (/\//.test(text) || /\.\w/.test(text))

/** What is taken off a name, outermost first: signs of headings and comments, then bold, colons and backticks. */
const WRAPPINGS: readonly (readonly [start: RegExp, end: string])[] = [
  [/^#{1,6} /, ''],
  [/^\/\/ /, ''],
  [/^<!-- /, ' -->'],
  [/^\/\* /, ' */'],
]

function undecorated(line: string): { readonly name: string; readonly isQuoted: boolean } {
  let name = line
  for (const [start, end] of WRAPPINGS) {
    const opening = start.exec(name)
    if (opening === null || !name.endsWith(end)) continue
    name = name.slice(opening[0].length, name.length - end.length).trim()
    break
  }
  name = withoutColon(withoutPair(withoutColon(name), '**'))
  const unquoted = withoutPair(name, '`')
  return { name: withoutColon(unquoted).trim(), isQuoted: unquoted !== name }
}

const withoutColon = (text: string): string => (text.endsWith(':') ? text.slice(0, -1).trimEnd() : text)

function withoutPair(text: string, sign: string): string {
  const isWrapped = text.length > 2 * sign.length && text.startsWith(sign) && text.endsWith(sign)
  return isWrapped ? text.slice(sign.length, -sign.length) : text
}

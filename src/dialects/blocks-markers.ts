/**
 * What a line of a block list is, by its form alone.
 *
 * aider, Cline's first form and Roo write `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`; Cline now writes
 * `------- SEARCH`, `=======`, `+++++++ REPLACE`. aider takes 5 to 9 signs; here the three markers of a block must have
 * the same number, so that a heading's underline of another length is content.
 */
export type BlockLine =
  | { readonly kind: 'search' | 'divider' | 'replace'; readonly sign: string; readonly length: number }
  /** Looks like a marker and is none: never skipped, or an edit would be lost without a word. */
  | { readonly kind: 'near-marker' }
  | { readonly kind: 'text' }

const SEARCH = /^(<{5,9}|-{5,9}) SEARCH[ \t]*$/
const DIVIDER = /^={5,9}[ \t]*$/
const REPLACE = /^(>{5,9}|\+{5,9}) REPLACE[ \t]*$/

/** A marker of another length, indented or with something behind it; also what git leaves of a conflict. */
const NEAR_MARKER = /^[ \t]*(?:[<-]{3,}[ \t]?SEARCH\b|[>+]{3,}[ \t]?REPLACE\b|<{7}|>{7})/

/** Content is escaped by a backslash where it would be a marker: Roo's rule. */
const ESCAPED = /^\\(?:<{7}|={7}|>{7}|-{7}|\+{7}|:start_line:|:end_line:)/

const LINE_MAX = 200

/** Classifies one line. */
export function blockLine(line: string): BlockLine {
  // A marker is short; a pattern never sees more than this of a line.
  const start = line.length > LINE_MAX ? line.slice(0, LINE_MAX) : line
  if (line.length <= LINE_MAX) {
    const marker = SEARCH.exec(start) ?? DIVIDER.exec(start) ?? REPLACE.exec(start)
    if (marker !== null) return markerOf(start)
  }
  return NEAR_MARKER.test(start) ? { kind: 'near-marker' } : { kind: 'text' }
}

function markerOf(line: string): BlockLine {
  const sign = line.charAt(0)
  let length = 0
  while (line.charAt(length) === sign) length++
  const kind = sign === '=' ? 'divider' : sign === '<' || sign === '-' ? 'search' : 'replace'
  return { kind, sign, length }
}

/** The sign that ends a block which begins with this one. */
export const closingSign = (sign: string): string => (sign === '<' ? '>' : '+')

/** Takes off the backslash that keeps a content line from being a marker. */
export const unescaped = (line: string): string => (ESCAPED.test(line) ? line.slice(1) : line)

/** `:start_line:12` and `:end_line:14`. A line that begins so and has no number gives null for it. */
export function lineHint(
  line: string,
): { readonly name: 'start' | 'end'; readonly line: number | null } | null {
  const name = line.startsWith(':start_line:') ? 'start' : line.startsWith(':end_line:') ? 'end' : null
  if (name === null) return null
  const value = line.slice(name === 'start' ? 12 : 10).trim()
  const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : 0
  return { name, line: number >= 1 ? number : null }
}

/** Longer lines are no placeholders. */
const LINE_CHARACTERS_MAX = 200

const DOTS = '(?:\\.{3,}|…)'
const THINGS =
  '(?:code|contents?|files?|lines?|text|methods?|functions?|imports?|implementations?|logic|fields|properties|props|tests?|body|class(?:es)?|html|markup|styles?|rules?|section|sections|config(?:uration)?|declarations|definitions|statements|cases|entries|items|components?|module)'
const LEFT_OUT = `(?:(?:the )?(?:rest|remainder) of (?:the |this |your )?[\\w.-]+(?: [\\w.-]+)?|(?:the )?(?:existing|remaining|previous|unchanged|original|other|same) ${THINGS}|same as (?:before|above|previous(?:ly)?)|no changes?(?: here)?|omitted for brevity|unchanged)`
const KEPT =
  '(?:(?:remains?|stays?|is|are|goes|continues?|kept) )?(?:unchanged|the same|as before|as is|as it was|here|omitted(?: for brevity)?)'
const WORDS =
  '\\b(?:rest|existing|unchanged|remaining|remainder|previous|omitted|truncated|snip(?:ped)?|same as before|same as above|as before|stays? the same|remains? the same|no changes?)\\b'

/** What stands in a comment: dots alone, dots and a word for leaving out, or a sentence that says so. */
const ONLY_DOTS = new RegExp(`^${DOTS}$`)
const DOTS_THEN_WORD = new RegExp(`^${DOTS}.*${WORDS}`, 'i')
const PHRASE_THEN_DOTS = new RegExp(`^\\(?${LEFT_OUT}.{0,40}${DOTS}\\)?$`, 'i')
const SENTENCE = new RegExp(`^[([]?${LEFT_OUT} ${KEPT}[.)\\]]{0,2}$`, 'i')
const WHOLE_PHRASE = /^[([]?(?:same as before|omitted for brevity)[.)\]]{0,2}$/i
/** Without a comment around it a placeholder is spaced as prose: `...rest` and `[...existing, x]` are code. */
const BARE = new RegExp(
  `^[([{]?(?:${DOTS}\\s+.*${WORDS}|${DOTS}.*${WORDS}.*\\s*${DOTS}$|${LEFT_OUT} ${KEPT}[)\\]}.]{0,2}$)`,
  'i',
)

const openers = ['{/*', '/*', '//', '<!--', '--', '#', ';', '%'] as const
/** Comments that may follow code on its line. */
const inlineOpeners = ['{/*', '/*', '//', '<!--', '#'] as const
const closers = ['*/}', '*/', '-->'] as const

/** A line of new text that stands for text left out. */
export interface Placeholder {
  /** 1-based, in the new text. */
  readonly line: number
  readonly text: string
}

/**
 * Finds the first line that is a placeholder ("// ... rest of code unchanged ...") instead of text.
 *
 * @param isKnown - whether the file has this very line (without blanks around it) already: then it is text.
 */
export function findPlaceholder(text: string, isKnown: (line: string) => boolean): Placeholder | null {
  let start = 0
  for (let line = 1; start <= text.length; line++) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    if (end - start <= LINE_CHARACTERS_MAX) {
      const trimmed = text.slice(start, end).trim()
      if (isPlaceholder(trimmed) && !isKnown(trimmed)) return { line, text: trimmed }
    }
    start = end + 1
  }
  return null
}

/** Whether a line, without blanks around it, is a placeholder. */
export function isPlaceholder(line: string): boolean {
  if (line.length < 4) return false
  const comment = commentOf(line)
  if (comment !== null) return saysOmitted(comment) || ONLY_DOTS.test(comment)
  if (BARE.test(line)) return true
  const inline = inlineComment(line)
  return inline !== null && (DOTS_THEN_WORD.test(inline) || SENTENCE.test(inline))
}

const saysOmitted = (comment: string): boolean =>
  DOTS_THEN_WORD.test(comment) ||
  PHRASE_THEN_DOTS.test(comment) ||
  SENTENCE.test(comment) ||
  WHOLE_PHRASE.test(comment)

/** The text of a line that is a comment as a whole. */
function commentOf(line: string): string | null {
  const opener = openers.find((each) => line.startsWith(each))
  return opener === undefined ? null : inner(line.slice(opener.length), opener)
}

/** The text of a comment behind code. */
function inlineComment(line: string): string | null {
  for (const opener of inlineOpeners) {
    const at = line.indexOf(opener)
    if (at > 0 && (opener !== '#' || line[at - 1] === ' ') && line[at - 1] !== ':') {
      return inner(line.slice(at + opener.length), opener)
    }
  }
  return null
}

function inner(text: string, opener: string): string {
  let body = text
  while (body.startsWith(opener.slice(-1))) body = body.slice(1)
  for (const closer of closers) {
    const at = body.indexOf(closer)
    if (at !== -1) body = body.slice(0, at)
  }
  return body.trim()
}

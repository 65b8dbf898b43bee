/** How a surface draws each kind of text. Every function returns the text, with colour codes around it or as it is. */
export interface Paint {
  readonly header: (text: string) => string
  readonly hunk: (text: string) => string
  readonly added: (text: string) => string
  readonly removed: (text: string) => string
  /** A character that is written out because it cannot be seen. */
  readonly mark: (text: string) => string
  /** Blanks at the end of an added line. */
  readonly trailingBlank: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly warning: (text: string) => string
  readonly faint: (text: string) => string
}

/** The escape codes of a colour and of its end, which leaves the others around it in force. */
const code =
  (start: number, end: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001b[${start}m${text}\u001b[${end}m`

const plain = (text: string): string => text

/** git's default colours, so that the habit of reading them carries over. */
const coloured: Paint = {
  header: code(1, 22),
  hunk: code(36, 39),
  added: code(32, 39),
  removed: code(31, 39),
  mark: code(7, 27),
  trailingBlank: code(41, 49),
  good: code(32, 39),
  bad: code(31, 39),
  warning: code(33, 39),
  faint: code(2, 22),
}

const uncoloured: Paint = {
  header: plain,
  hunk: plain,
  added: plain,
  removed: plain,
  mark: plain,
  trailingBlank: plain,
  good: plain,
  bad: plain,
  warning: plain,
  faint: plain,
}

/** Whether there is a terminal that wants colour is for the caller to find out (`NO_COLOR`, a pipe). */
export const paintFor = (isColoured: boolean): Paint => (isColoured ? coloured : uncoloured)

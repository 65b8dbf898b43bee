import { type Edit, wordFor } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import { encode, hasLoneSurrogate } from './bytes.ts'
import type { DraftState } from './draft.ts'
import { fold } from './fold.ts'
import { trimmed } from './line-index.ts'
import { findPlaceholder } from './omission.ts'
import { refusal } from './outcome.ts'
import { showText } from './show-text.ts'

/** Refuses an edit whose own text cannot be written, or stands for text left out. */
export function refuseNewText(state: DraftState, edit: Edit): Refusal | null {
  if (spokenTexts(edit).some(hasLoneSurrogate)) {
    return refusal(
      'not-utf8',
      `${wordFor(edit)} in ${edit.path}: the edit's text has half of a surrogate pair`,
    )
  }
  const mixed = refuseMixture(state, edit)
  if (mixed !== null) return mixed
  for (const text of newTexts(edit)) {
    const placeholder = findPlaceholder(text, (line) => isLineOf(state, line))
    if (placeholder === null) continue
    const shown = showText(placeholder.text)
    return refusal(
      'omission',
      `${wordFor(edit)} in ${edit.path}: line ${placeholder.line} of the new text stands for text left out: "${shown}"`,
      { line: placeholder.line, text: shown },
    )
  }
  return null
}

/** Beyond ASCII, new text in a file of another encoding would be read as other characters than those that were meant. */
function refuseMixture(state: DraftState, edit: Edit): Refusal | null {
  if (state.kind === 'absent' || edit.op === 'write' || !newTexts(edit).some(isBeyondAscii)) return null
  const { text } = state
  // Where the text that it replaces stands there as UTF-8, so does the new one.
  const isQuoted = edit.op === 'replace' && isBeyondAscii(edit.old)
  if (isQuoted || text.isUtf8) return null
  const message = `${wordFor(edit)} in ${edit.path}: the file is not UTF-8 (by its bytes perhaps ${text.likelyEncoding}), and the new text is not ASCII`
  return {
    ...refusal('not-utf8', message, { encoding: text.likelyEncoding }),
    hint: 'Declare the encoding in .gitattributes (`encoding=…`, or `working-tree-encoding=…`), or keep to ASCII.',
  }
}

const isBeyondAscii = (text: string): boolean => /[^\x00-\x7f]/.test(text)

/** All texts of the edit that are strings and will be compared or written. */
function spokenTexts(edit: Edit): readonly string[] {
  switch (edit.op) {
    case 'replace':
      return [edit.old, edit.new]
    case 'lines':
      return [edit.content ?? '', edit.expected ?? '']
    case 'insert':
    case 'append':
      return [edit.content]
    case 'cell':
      return [edit.source, edit.cell !== null && 'id' in edit.cell ? edit.cell.id : '']
    case 'hunks':
      return edit.hunks.flatMap((hunk) => hunk.anchors)
    default:
      return []
  }
}

/** The texts in which nothing may be left out. A unified diff was made by a program: its lines are what they are. */
function newTexts(edit: Edit): readonly string[] {
  switch (edit.op) {
    case 'replace':
      return [edit.new]
    case 'lines':
      return edit.content === null ? [] : [edit.content]
    case 'insert':
    case 'append':
      return [edit.content]
    case 'cell':
      return [edit.source]
    case 'write':
      return edit.isText ? [Buffer.from(edit.content).toString('utf8')] : []
    case 'hunks':
      return edit.flavour === 'unified' ? [] : edit.hunks.map(({ lines }) => addedText(lines))
    default:
      return []
  }
}

const addedText = (lines: Extract<Edit, { op: 'hunks' }>['hunks'][number]['lines']): string =>
  lines
    .filter((line) => line.kind === 'add')
    .map((line) => Buffer.from(line.text).toString('utf8'))
    .join('\n')

/** Whether the file has this line already, blanks around it aside. */
function isLineOf(state: DraftState, line: string): boolean {
  if (state.kind === 'absent') return false
  const options = { level: 'unicode', usesCr: false, from: 0, stripsEnd: true } as const
  const content = trimmed(fold(encode(line), options, state.text.work).bytes)
  return state.text.lineIndex.linesWith(content, 1).length > 0
}

import type { ToolItem } from '../../model/batch.ts'
import type { NativeAnswers } from '../../model/call.ts'
import type { Refusal } from '../../model/error.ts'
import {
  decoded,
  foundText,
  type LinePart,
  looksBinary,
  othersText,
  partOf,
  readMaxLines,
  shownRead,
  textOf,
} from './native-text.ts'

/** Gemini CLI's answers to its model. */
export const geminiAnswers: NativeAnswers = {
  read: (call, asked, bytes) => {
    const path = pathOf(call)
    if (looksBinary(bytes)) return { kind: 'refused', text: `Cannot display content of binary file: ${path}` }
    const text = decoded(bytes)
    const part = partOf(text, asked.from, asked.to, readMaxLines)
    const isWhole = part.from <= 1 && part.to >= part.total
    const shown = isWhole ? text : `${truncatedText(part)}${part.lines.join('\n')}`
    return shownRead(shown, part, 'The content is too long; read it in parts')
  },
  done: ({ call, files, results }) => {
    const path = pathOf(call)
    const isNew = files[0]?.before.kind !== 'file'
    if (call.tool === 'write_file') {
      return isNew
        ? `Successfully created and wrote to new file: ${path}.`
        : `Successfully overwrote file: ${path}.`
    }
    if (isNew) return `Created new file: ${path} with provided content.`
    return `Successfully modified file: ${path} (${results[0]?.places ?? 1} replacements).`
  },
  refused: (call, refusals) => {
    const [first] = refusals
    return first === undefined ? '' : `${refusedText(call, first)}${othersText(refusals)}`
  },
}

const pathOf = (call: ToolItem): string => textOf(call, 'file_path', 'absolute_path')

function truncatedText({ from, to, total }: LinePart): string {
  return [
    'IMPORTANT: The file content has been truncated.',
    `Status: Showing lines ${from}-${to} of ${total} total lines.`,
    `Action: To read more of the file, you can use the 'start_line' and 'end_line' parameters in a subsequent 'read_file' call. For example, to read the next section of the file, use start_line: ${to + 1}.`,
    '',
    '--- FILE CONTENT (truncated) ---',
    '',
  ].join('\n')
}

function refusedText(call: ToolItem, refusal: Refusal): string {
  const path = pathOf(call)
  const found = foundText(refusal)
  switch (refusal.code) {
    case 'not-found':
      return call.tool === 'read_file'
        ? `File not found: ${path}`
        : 'File not found. Cannot apply edit. Use an empty old_string to create a new file.'
    case 'exists':
      return `Failed to edit. Attempted to create a file that already exists.\n${found}`
    case 'no-match':
      return `Failed to edit, 0 occurrences found for old_string in ${path}. No edits made.\n${found}`
    case 'ambiguous-match':
      return `Failed to edit, expected 1 occurrence but found several for old_string in ${path}.\n${found}`
    case 'no-change':
      return `No changes to apply. The new content is identical to the current content in file: ${path}`
    default:
      return found
  }
}

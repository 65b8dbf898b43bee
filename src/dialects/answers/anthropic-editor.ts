import type { ToolItem } from '../../model/batch.ts'
import type { EditDone, NativeAnswers } from '../../model/call.ts'
import type { Refusal } from '../../model/error.ts'
import {
  bytesAfter,
  decoded,
  foundText,
  type LinePart,
  looksBinary,
  numbered,
  othersText,
  partOf,
  shownRead,
  snippetOf,
  textOf,
} from './native-text.ts'

/** Lines around an edit that its answer shows. */
const snippetLines = 4

/** The Anthropic text editor's answers: views and snippets as `cat -n` prints them. */
export const anthropicEditorAnswers: NativeAnswers = {
  read: (call, asked, bytes) => {
    const path = textOf(call, 'path')
    if (looksBinary(bytes))
      return { kind: 'refused', text: `The file ${path} is not text: it holds NUL bytes.` }
    const part = partOf(decoded(bytes), asked.from, asked.to, Number.MAX_SAFE_INTEGER)
    if (part.total > 0 && part.from > part.total) return { kind: 'refused', text: rangeText(asked, part) }
    return shownRead(
      catText(path, part),
      part,
      `The file ${path} is too long to view as a whole; give a "view_range"`,
    )
  },
  done: (done) => {
    const path = textOf(done.call, 'path')
    switch (textOf(done.call, 'command')) {
      case 'create':
        return `File created successfully at: ${path}`
      case 'undo_edit':
        return `Last edit to ${path} undone successfully. ${catText(path, undonePart(done))}`
      default:
        return `The file ${path} has been edited. ${snippetText(done, path)}`
    }
  },
  refused: (call, refusals) => {
    const [first] = refusals
    return first === undefined ? '' : `${refusedText(call, first)}${othersText(refusals)}`
  },
}

const catText = (name: string, part: LinePart): string =>
  `Here's the result of running \`cat -n\` on ${name}:\n${numbered(part.lines, part.from)}\n`

const undonePart = ({ files }: EditDone): LinePart =>
  partOf(decoded(bytesAfter(files[0])), null, null, Number.MAX_SAFE_INTEGER)

function snippetText({ files, results }: EditDone, path: string): string {
  const [result] = results
  const lines = result?.newLines ?? result?.oldLines ?? { from: 1, to: 1 }
  const shown = catText(`a snippet of ${path}`, snippetOf(bytesAfter(files[0]), lines, snippetLines))
  return `${shown}Review the changes and make sure they are as expected. Edit the file again if necessary.`
}

const rangeText = (
  asked: { readonly from: number | null; readonly to: number | null },
  { total }: LinePart,
): string =>
  `Invalid \`view_range\` parameter: [${asked.from ?? 1}, ${asked.to ?? -1}]. Its first element should be within the range of lines of the file: [1, ${total}]`

function refusedText(call: ToolItem, refusal: Refusal): string {
  const path = textOf(call, 'path')
  const found = foundText(refusal)
  switch (refusal.code) {
    case 'not-found':
      return `The path ${path} does not exist. Please provide a valid path.`
    case 'is-directory':
      return `The path ${path} is a directory, which cannot be viewed or edited here. Name a file.`
    case 'no-match':
      return `No replacement was performed, old_str \`${textOf(call, 'old_str')}\` did not appear verbatim in ${path}.\n${found}`
    case 'ambiguous-match':
      return `No replacement was performed. Multiple occurrences of old_str \`${textOf(call, 'old_str')}\` in lines ${JSON.stringify(refusal.data['lines'] ?? [])}. Please ensure it is unique`
    default:
      return found
  }
}

import type { ToolItem } from '../../model/batch.ts'
import type { EditDone, NativeAnswers } from '../../model/call.ts'
import type { Refusal } from '../../model/error.ts'
import type { ItemResult } from '../../model/resolution.ts'
import {
  bytesAfter,
  decoded,
  foundText,
  looksBinary,
  numbered,
  othersText,
  partOf,
  readMaxLines,
  shownRead,
  snippetOf,
  textOf,
} from './native-text.ts'

/** Lines around an edit that its answer shows. */
const snippetLines = 4

/** Claude Code's answers: lines as `cat -n` prints them. */
export const claudeCodeAnswers: NativeAnswers = {
  read: (call, asked, bytes) => {
    const path = pathOf(call)
    if (looksBinary(bytes)) return { kind: 'refused', text: `This tool cannot read binary files: ${path}` }
    const part = partOf(decoded(bytes), asked.from, asked.to, readMaxLines)
    if (part.total === 0) {
      return { kind: 'shown', text: 'Warning: the file exists but the contents are empty.', lines: null }
    }
    if (part.from > part.total) {
      const warning = `Warning: the file exists but is shorter than the provided offset (${part.from}). The file has ${part.total} lines.`
      return { kind: 'shown', text: warning, lines: { from: part.from, to: part.from - 1 } }
    }
    return shownRead(
      numbered(part.lines, part.from),
      part,
      'The content is too long; read it in parts, by "offset" and "limit"',
    )
  },
  done: (done) => {
    const path = pathOf(done.call)
    const [file] = done.files
    if (file?.before.kind !== 'file') return `File created successfully at: ${path}`
    return `The file ${path} has been updated. ${snippetText(done)}`
  },
  refused: (call, refusals) => {
    const [first] = refusals
    return first === undefined ? '' : `${refusedText(call, first)}${othersText(refusals)}`
  },
}

const pathOf = (call: ToolItem): string => textOf(call, 'file_path', 'notebook_path')

function snippetText({ files, results }: EditDone): string {
  const lines = changedLines(results)
  const part = snippetOf(bytesAfter(files[0]), lines, snippetLines)
  return `Here's the result of running \`cat -n\` on a snippet of the edited file:\n${numbered(part.lines, part.from)}`
}

/** From the first changed line to the last. */
function changedLines(results: readonly ItemResult[]): { readonly from: number; readonly to: number } {
  const ranges = results.flatMap((result) => result.newLines ?? result.oldLines ?? [])
  const [first] = ranges
  if (first === undefined) return { from: 1, to: 1 }
  return ranges.reduce(
    (all, { from, to }) => ({ from: Math.min(all.from, from), to: Math.max(all.to, to) }),
    first,
  )
}

function refusedText(call: ToolItem, refusal: Refusal): string {
  const found = foundText(refusal)
  switch (refusal.code) {
    case 'not-found':
      return 'File does not exist.'
    case 'exists':
      return `Cannot create new file - file already exists.\n${found}`
    case 'no-match':
      return `String to replace not found in file.\nString: ${textOf(call, 'old_string')}\n${found}`
    case 'ambiguous-match':
      return `Found ${placesOf(refusal)} matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: ${textOf(call, 'old_string')}\n${found}`
    case 'no-change':
      return `No changes to make: old_string and new_string are exactly the same.\n${found}`
    case 'not-read':
      return `File has not been read yet. Read it first before writing to it.\n${found}`
    case 'stale-read':
      return `File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.\n${found}`
    default:
      return found
  }
}

const placesOf = ({ data }: Refusal): string => {
  const { lines, count } = data
  return String(typeof count === 'number' ? count : Array.isArray(lines) ? lines.length : 'several')
}

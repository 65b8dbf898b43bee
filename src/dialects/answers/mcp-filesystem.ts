import type { ToolItem } from '../../model/batch.ts'
import type { NativeAnswers } from '../../model/call.ts'
import type { Refusal } from '../../model/error.ts'
import { decoded, foundText, looksBinary, othersText, partOf, shownRead, textOf } from './native-text.ts'

/** The MCP filesystem server's answers: texts as they are, an edit as its diff in a fence. */
export const mcpFilesystemAnswers: NativeAnswers = {
  read: (call, asked, bytes) => {
    if (looksBinary(bytes)) return { kind: 'refused', text: `Error: ${textOf(call, 'path')} is not text` }
    const text = decoded(bytes)
    const part = partOf(text, asked.from, asked.to, Number.MAX_SAFE_INTEGER)
    const isWhole = part.from <= 1 && part.to >= part.total
    return shownRead(
      isWhole ? text : part.lines.join('\n'),
      part,
      'Error: the file is too long; read its first lines with "head"',
    )
  },
  done: ({ call, diff }) => {
    switch (call.tool) {
      case 'write_file':
        return `Successfully wrote to ${textOf(call, 'path')}`
      case 'move_file':
        return `Successfully moved ${textOf(call, 'source')} to ${textOf(call, 'destination')}`
      default:
        return fenced(diff())
    }
  },
  refused: (call, refusals) => {
    const [first] = refusals
    return first === undefined ? '' : `${refusedText(call, first)}${othersText(refusals)}`
  },
}

/** As many backticks as the diff itself does not hold in a row. */
function fenced(diff: string): string {
  let longest = 2
  for (const [run] of diff.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  return `${fence}diff\n${diff}${fence}\n\n`
}

function refusedText(call: ToolItem, refusal: Refusal): string {
  const found = foundText(refusal)
  switch (refusal.code) {
    case 'not-found':
      return `ENOENT: no such file or directory, open '${textOf(call, 'path', 'source')}'`
    case 'outside-repository':
      return `Access denied - path outside allowed directories: ${textOf(call, 'path', 'source')}\n${found}`
    case 'no-match':
      return `Could not find exact match for edit:\n${found}`
    default:
      return found
  }
}

import type { ToolItem } from '../../model/batch.ts'
import type { NativeAnswers } from '../../model/call.ts'
import {
  type AgentZeroAction,
  errorText,
  failureText,
  patchedText,
  readFile,
  readText,
  writtenText,
} from './agent-zero.ts'
import { othersText, textOf } from './native-text.ts'

/** Agent Zero's answers, as its server words them for the model. */
export const agentZeroAnswers: NativeAnswers = {
  read: (call, asked, bytes) => {
    const answer = readFile(bytes, asked.from, asked.to)
    const text = readText(pathOf(call), answer)
    if (!answer.ok) return { kind: 'refused', text }
    const { line_from: from, line_to: to, total_lines: total } = answer.result
    return { kind: 'shown', text, lines: from <= 1 && to >= total ? null : { from, to } }
  },
  done: ({ call }) => (actionOf(call) === 'write' ? writtenText(pathOf(call)) : patchedText(pathOf(call))),
  refused: (call, refusals) => {
    const [first] = refusals
    if (first === undefined) return ''
    const path = pathOf(call)
    const error = errorText(first, path)
    // The sentences about reads that do not hold come without the prefix.
    if (first.code === 'not-read' || first.code === 'stale-read')
      return `${error}${changesOf(first.data['changes'])}`
    return `${failureText(actionOf(call), path, error)}${othersText(refusals)}`
  },
}

const changesOf = (changes: unknown): string => (Array.isArray(changes) ? `\n${changes.join('\n')}` : '')

const pathOf = (call: ToolItem): string => textOf(call, 'path').trim()

function actionOf(call: ToolItem): AgentZeroAction {
  const colon = call.tool.indexOf(':')
  const given = colon === -1 ? textOf(call, 'action', 'op') : call.tool.slice(colon + 1)
  const action = given.trim().toLowerCase()
  return action === 'read' || action === 'write' ? action : 'patch'
}

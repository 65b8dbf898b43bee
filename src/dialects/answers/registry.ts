import type { DialectName } from '../../model/batch.ts'
import type { NativeAnswers } from '../../model/call.ts'
import { agentZeroAnswers } from './agent-zero-native.ts'
import { anthropicEditorAnswers } from './anthropic-editor.ts'
import { claudeCodeAnswers } from './claude-code.ts'
import { codexAnswers } from './codex.ts'
import { geminiAnswers } from './gemini.ts'
import { mcpFilesystemAnswers } from './mcp-filesystem.ts'
import { minoAnswers } from './mino-native.ts'
import { zapmycoAnswers } from './zapmyco-native.ts'

const answers: ReadonlyMap<DialectName, NativeAnswers> = new Map([
  ['mino', minoAnswers],
  ['zapmyco', zapmycoAnswers],
  ['agent-zero', agentZeroAnswers],
  ['codex', codexAnswers],
  ['claude-code', claudeCodeAnswers],
  ['anthropic-editor', anthropicEditorAnswers],
  ['mcp-filesystem', mcpFilesystemAnswers],
  ['gemini', geminiAnswers],
])

/** How the system of a dialect with tools words its answers. */
export function answersOf(dialect: DialectName): NativeAnswers {
  const found = answers.get(dialect)
  if (found === undefined) throw new Error(`BUG: the dialect ${dialect} has no answers`)
  return found
}

import type { Landed } from '../flow/land/land.ts'
import { changeLine, shortId, shortRef } from './text.ts'
import type { Terminal } from './verb.ts'

/** What landed, and the one command that takes it back. */
export function landedText(result: Landed, terminal: Terminal): string {
  const { landed, change } = result
  return `${changeLine(change, terminal)}${shortRef(landed.ref)}: ${shortId(landed.before)}..${shortId(landed.after)}   (take it back: galley undo ${change.id})\n`
}

import type { Landed } from '../flow/land/land.ts'
import { visible } from '../review/visible.ts'
import { changeLine, shortId, shortRef } from './text.ts'
import type { Terminal } from './verb.ts'

/** What landed, and the one command that takes it back. */
export function landedText(result: Landed, terminal: Terminal): string {
  const { landed, change } = result
  return `${changeLine(change, terminal)}${shortRef(landed.ref)}: ${shortId(landed.before)}..${shortId(landed.after)}   (take it back: galley undo ${change.id})\n`
}

/** What else there is to say of a landing, a line each. */
export const landedNotes = ({ remarks }: Pick<Landed, 'remarks'>): string =>
  remarks.map((remark) => `note: ${visible(remark)}\n`).join('')

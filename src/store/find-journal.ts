import { join } from 'node:path'
import { holdsAnything, readPlainFile } from '../sys/plain-file.ts'
import { isJournalOf } from './journal-form.ts'
import type { LandingJournal } from './landing-journal.ts'

/** What is found of a landing's journal. */
export type FoundJournal =
  | { readonly kind: 'journal'; readonly journal: LandingJournal }
  /** There is none, or only its beginning: the landing was killed before it had moved anything. */
  | { readonly kind: 'none' }
  /** There is something that this galley cannot read, or that is not its own. */
  | { readonly kind: 'unreadable'; readonly reason: string }

/** How every journal begins: less than that, or more without its end, was cut off while it was written. */
const BEGINNING = '{"version":1,'

/** Reads a landing's journal; nothing in it leads out of the work tree or names another landing. Never fails for what it holds. */
export function findJournal(directory: string): FoundJournal {
  const bytes = readPlainFile(join(directory, 'journal.json'))
  if (bytes === 'absent' && holdsDisplaced(directory)) return { kind: 'unreadable', reason: 'it is gone' }
  if (bytes === 'absent') return { kind: 'none' }
  if (bytes === 'other') return { kind: 'unreadable', reason: 'it is no file' }
  // A loss of power leaves zeros where bytes did not reach the device.
  const text = bytes.toString('utf8').replace(/\0+$/, '')
  const value = parsed(text)
  if (value === undefined) {
    const isCutShort =
      !text.endsWith('\n') && text.slice(0, BEGINNING.length) === BEGINNING.slice(0, text.length)
    if (isCutShort && !holdsDisplaced(directory)) return { kind: 'none' }
    return { kind: 'unreadable', reason: 'it is not JSON' }
  }
  if (isJournalOf(directory, value)) return { kind: 'journal', journal: value }
  const { version } = (value ?? {}) as { readonly version?: unknown }
  const isNewer = typeof version === 'number' && version > 1
  return {
    kind: 'unreadable',
    reason: isNewer ? `it is of version ${version}, and this galley knows version 1` : 'it has another form',
  }
}

/** Whether files of the user's are in a landing's folder. */
export const holdsDisplaced = (directory: string): boolean =>
  ['old', 'gone', 'directories'].some((part) => holdsAnything(join(directory, part)))

/** undefined = it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

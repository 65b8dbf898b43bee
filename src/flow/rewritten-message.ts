import type { Change } from '../model/change.ts'
import { limits } from '../model/limits.ts'
import { codePointName, firstUnseen } from '../policy/quote.ts'
import { ownTrailers } from './stage.ts'

/** What a change is for, as a hook has put it. */
export interface Words {
  readonly title: string
  readonly body: string
}

/**
 * Takes a message that a hook rewrote apart again. Galley's own lines must stand in it as they were, and no others of their kind.
 *
 * @returns A text = why it cannot be the message of a change.
 */
export function wordsOfMessage(message: string, change: Change): Words | string {
  const lines = message.replaceAll('\r\n', () => '\n').split('\n')
  for (const own of ownTrailers(change.id, change)) {
    const at = lines.lastIndexOf(own)
    if (at === -1) return `the line ${JSON.stringify(own)} is gone`
    lines.splice(at, 1)
  }
  const forged = lines.find((line) => /^\s*galley-[a-z]+\s*:/i.test(line))
  if (forged !== undefined) return `the line ${JSON.stringify(forged.slice(0, 80))} is not a hook's to write`
  const [title = '', ...rest] = lines.join('\n').trim().split('\n')
  const unseen = firstUnseen(title)
  if (unseen !== null) return `its first line holds ${codePointName(unseen)}, which cannot be seen`
  if (title.trim() === '') return 'nothing is left of it'
  if (title.length > limits.titleMaxCharacters)
    return `its first line has ${title.length} characters; ${limits.titleMaxCharacters} are allowed`
  const body = rest.join('\n').trim()
  if (Buffer.byteLength(body) > limits.bodyMaxBytes) return 'it is too long'
  if (/[\0-\x08\x0b-\x1f\x7f]/.test(body)) return 'it holds control characters'
  return { title, body }
}

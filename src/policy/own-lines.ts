import { codePointName, firstUnseen, quote } from './quote.ts'

/** Whether git or galley takes a line of a message for its own: a trailer that leads to a change, or the line below which git cuts. */
export const isOwnLine = (line: string): boolean =>
  /^\s*Galley-[a-z]+\s*:/i.test(line) || /^. -+ >8 -+$/.test(line)

/** What is the matter with the message that somebody gives a change; null = nothing. */
export function messageFault(message: {
  readonly title: string
  readonly body: string
}): { readonly part: 'title' | 'body'; readonly why: string } | null {
  const unseen = firstUnseen(message.title)
  if (unseen !== null) return { part: 'title', why: `holds ${codePointName(unseen)}, which cannot be seen` }
  const line = message.body.split('\n').find(isOwnLine)
  if (line === undefined) return null
  return { part: 'body', why: `holds a line that is kept for git and galley: ${quote(line.slice(0, 80))}` }
}

import type { ChangeComment } from '../model/change.ts'
import { type CommentPlace, placeWords } from './comment-place.ts'
import { visible } from './visible.ts'

/**
 * A comment for people and models, safe for a terminal: who and where, the lines that it is about, and its text, each line of them set in.
 * So no text of a comment passes for a line of what stands around it.
 */
export function commentText(comment: ChangeComment & { readonly now?: CommentPlace }): string {
  const { about, by, byAgent, rejects, edits, text } = comment
  const what = rejects === true ? 'rejected hunk' : edits === true ? 'edited hunk' : 'comment'
  const head = `${what} by ${byAgent === true ? 'an agent of ' : ''}${oneLine(by)}${placeText(comment)}${nowText(comment.now)}:`
  const quoted = (about?.lines ?? []).map((line) => `  | ${oneLine(line)}`)
  const cut = about?.isCut === true ? ['  | …'] : []
  const words = text.split('\n').map((line) => `  ${visible(line)}`)
  return [head, ...quoted, ...cut, ...(text === '' ? [] : words)].join('\n')
}

/** Where its lines are now, if not where they were. */
function nowText(now: CommentPlace | undefined): string {
  const words = now === undefined ? '' : placeWords(now)
  return words === '' ? '' : ` (${words})`
}

/** Where it is about, with the revision whose lines are counted. */
function placeText({ path, line, toLine, about, revision }: ChangeComment): string {
  if (path === undefined) return ''
  const last = toLine === undefined || toLine === line ? '' : `-${toLine}`
  const lines = line === undefined ? '' : `:${line}${last}`
  const old = about?.side === 'old' ? ' as it was' : ''
  return ` on ${oneLine(path)}${lines}${old} (revision ${revision})`
}

/** A line feed may stand in a path or a name. */
export const oneLine = (text: string): string => visible(text).replaceAll('\n', '\\u{A}')

import { join } from 'node:path'
import type { ChangeView } from '../flow/change-view.ts'
import { type DiffFile, isBinaryFile } from '../review/diff-file.ts'
import { renderDiff } from '../review/unified-diff.ts'
import { visible } from '../review/visible.ts'
import { type Fields, fieldsOf, type Message, notification } from './json-rpc.ts'

/** What the person said before the editor. */
export type Answer = 'land' | 'reject' | 'later'

/** What the two versions of the protocol put differently. Version 2 is a draft. */
export type ProtocolVersion = 1 | 2

/** Files drawn whole in a question; a larger one is told by its name alone. */
const FILE_SHOWN_BYTES = 512 * 1024
const ALL_SHOWN_BYTES = 4 * 1024 * 1024

const OPTIONS = [
  { optionId: 'land', name: 'Land it', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject it', kind: 'reject_once' },
  { optionId: 'later', name: 'Decide later', kind: 'reject_once' },
]

/** A message of galley's own in the conversation, as if the agent had said it. */
export function sayIn(version: ProtocolVersion, sessionId: string, text: string, messageId: string): Message {
  const content = { type: 'text', text: `\n\n[galley] ${text}\n` }
  const update =
    version === 1
      ? { sessionUpdate: 'agent_message_chunk', content }
      : { sessionUpdate: 'agent_message', messageId, content: [content] }
  return notification('session/update', { sessionId, update })
}

/** The question about a change, for the editor's own prompt: its files as diffs, before and after. */
export function questionParams(
  version: ProtocolVersion,
  about: {
    readonly sessionId: string
    readonly root: string
    readonly change: ChangeView
    readonly pairs: readonly DiffFile[]
  },
): object {
  const { sessionId, root, change, pairs } = about
  const title = `galley: land ${change.id} on ${branchOf(change)}? ${visible(change.title)} (${sizeOf(change)})`
  const toolCall = {
    toolCallId: `galley-${change.id}-${change.revision}`,
    title,
    kind: 'edit',
    status: 'pending',
    content: version === 1 ? diffsOf(root, pairs) : [patchOf(root, pairs), ...remarksOf(change)],
    locations: pairs.map(({ path }) => ({ path: join(root, path) })),
  }
  const options = OPTIONS
  return version === 1
    ? { sessionId, toolCall: { ...toolCall, content: [...toolCall.content, ...remarksOf(change)] }, options }
    : { sessionId, title, subject: { type: 'tool_call', toolCall }, options }
}

export const branchOf = ({ onto }: Pick<ChangeView, 'onto'>): string =>
  visible(onto.replace(/^refs\/heads\//, ''))

export function sizeOf({ files }: Pick<ChangeView, 'files'>): string {
  const sum = (key: 'added' | 'removed') => files.reduce((n, file) => n + (file[key] ?? 0), 0)
  return `${files.length} file${files.length === 1 ? '' : 's'}, +${sum('added')} -${sum('removed')}`
}

const textContent = (text: string) => ({ type: 'content', content: { type: 'text', text } })

/** What the diffs cannot say: modes, checks, remarks. */
function remarksOf(change: ChangeView): readonly object[] {
  const modes = change.files
    .filter(({ oldMode, newMode }) => oldMode !== newMode && ![oldMode, newMode].includes('000000'))
    .map(({ path, oldMode, newMode }) => `${visible(path)}: mode ${oldMode} to ${newMode}`)
  const checks = change.checks.map(({ name, outcome }) => `check ${visible(name)}: ${outcome}`)
  const remarks = change.remarks.map(({ path, text }) => `${visible(path)}: ${visible(text)}`)
  const all = [...modes, ...checks, ...remarks]
  return all.length === 0 ? [] : [textContent(all.join('\n'))]
}

function diffsOf(root: string, pairs: readonly DiffFile[]): readonly object[] {
  let left = ALL_SHOWN_BYTES
  return pairs.map((pair) => {
    const size = (pair.before?.bytes.length ?? 0) + (pair.after?.bytes.length ?? 0)
    if (isBinaryFile(pair) || size > FILE_SHOWN_BYTES || size > left) return textContent(wordsOf(pair, size))
    left -= size
    const text = shownSides(pair)
    return { type: 'diff', path: join(root, pair.path), oldText: text.before, newText: text.after ?? '' }
  })
}

/** Characters that are not seen are written out, since what is shown is what is approved; but not the CR of a file that has it throughout. */
function shownSides({ before, after }: DiffFile) {
  const texts = [before, after].map((side) => (side === null ? null : Buffer.from(side.bytes)))
  const isCrlf = texts.every(
    (bytes) => bytes === null || !/(?<!\r)\n|\r(?!\n)/.test(bytes.toString('latin1')),
  )
  const [shownBefore, shownAfter] = texts.map((bytes) => {
    if (bytes === null) return null
    return visible(isCrlf ? Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1') : bytes)
  })
  return { before: shownBefore ?? null, after: shownAfter ?? null }
}

function wordsOf({ path, before, after }: DiffFile, size: number): string {
  const verb = before === null ? 'added' : after === null ? 'deleted' : 'changed'
  return `${visible(path)}: ${verb}, ${size} bytes in all, not drawn here: see galley diff`
}

/** Version 2 has what happened to each path, and the whole as git's patch. */
function patchOf(root: string, pairs: readonly DiffFile[]): object {
  const changes = pairs.map(({ path, renamedFrom, before, after }) => {
    const place = { path: join(root, path) }
    if (renamedFrom !== undefined) return { operation: 'move', oldPath: join(root, renamedFrom), ...place }
    return { operation: before === null ? 'add' : after === null ? 'delete' : 'modify', ...place }
  })
  const text = renderDiff(pairs, { contextLines: 3, isColoured: false, numbersHunks: false })
  const isWhole = Buffer.byteLength(text) <= ALL_SHOWN_BYTES
  return { type: 'diff', changes, ...(isWhole ? { patch: { format: 'git_patch', text } } : {}) }
}

/** What the editor brought back; anything but a clear word is `later`. */
export function answerOf(response: Message): Answer {
  const { outcome } = fieldsOf(response['result'])
  const { outcome: kind, optionId } = fieldsOf(outcome)
  return kind === 'selected' && (optionId === 'land' || optionId === 'reject') ? optionId : 'later'
}

/** Whether a message of the agent's ends a turn by the second version. */
export function isIdle({ method, params }: Message): boolean {
  const update: Fields = fieldsOf(fieldsOf(params)['update'])
  return (
    method === 'session/update' && update['sessionUpdate'] === 'state_update' && update['state'] === 'idle'
  )
}

/** The first line that a person wrote, as the title of what comes of it. */
export function titleOf(prompt: unknown): string {
  const blocks = Array.isArray(prompt) ? prompt : []
  const texts = blocks.map((block) => fieldsOf(block)['text']).filter((text) => typeof text === 'string')
  const lines = texts.flatMap((text) => text.split('\n')).map((line) => line.trim())
  return lines.find((line) => line !== '') ?? ''
}

import type { EditDone, NativeAnswers } from '../../model/call.ts'
import type { Edit, LinesEdit } from '../../model/edit.ts'
import type { Refusal } from '../../model/error.ts'
import { bytesAfter, decoded, foundText, linesOf, othersText, textOf } from './native-text.ts'
import { completedText, errorText, fileRead, readDefaultLines } from './zapmyco.ts'

/** zapmyco's answers: its own sentences, errors behind its prefix. */
export const zapmycoAnswers: NativeAnswers = {
  read: (call, asked, bytes) => {
    const offset = asked.from ?? 1
    const limit = asked.to === null ? readDefaultLines : asked.to - offset + 1
    const answer = fileRead(textOf(call, 'file_path'), bytes, offset, limit)
    if (answer.isError) return { kind: 'refused', text: answer.text }
    const total = linesOf(decoded(bytes)).length
    const to = Math.min(offset + limit - 1, total)
    return {
      kind: 'shown',
      text: answer.text,
      lines: offset <= 1 && to >= total ? null : { from: offset, to },
    }
  },
  done: (done) => {
    const path = textOf(done.call, 'file_path')
    const [edit] = done.edits
    return edit === undefined ? '' : completedText(doneOf(done, edit, path))
  },
  refused: (call, refusals) => {
    const [first] = refusals
    if (first === undefined) return ''
    const path = textOf(call, 'file_path')
    // In the mode that only reads its editing tools do not exist.
    if (first.code === 'read-only') return `未知工具: ${call.tool}`
    const text = call.tool === 'file_read' ? readError(first, path) : errorText(first, path)
    const changes = first.data['changes']
    return `${text}${Array.isArray(changes) ? `\n${changes.join('\n')}` : ''}${othersText(refusals)}`
  },
}

function readError(refusal: Refusal, path: string): string {
  if (refusal.code === 'not-found') return `错误: File not found: ${path}`
  if (refusal.code === 'is-directory') return `错误: Is a directory: ${path}. Name a file.`
  const { native } = refusal.data
  return `错误: ${typeof native === 'string' ? native : foundText(refusal)}`
}

function doneOf({ edits, files }: EditDone, edit: Edit, path: string): Parameters<typeof completedText>[0] {
  const [file] = files
  if (edits.length > 1) return { kind: 'list', path, edits: edits.length }
  switch (edit.op) {
    case 'lines':
      return linesDone(edit, file?.before.kind === 'file' ? file.before.bytes : new Uint8Array(0), path)
    case 'append':
      return { kind: 'append', path, content: edit.content }
    case 'replace':
      return { kind: 'replace', path, all: edit.all }
    default:
      return { kind: 'write', path, bytes: bytesAfter(file).length, isNew: file?.before.kind !== 'file' }
  }
}

function linesDone(edit: LinesEdit, before: Uint8Array, path: string): Parameters<typeof completedText>[0] {
  const to = edit.to ?? edit.from
  const old = linesOf(decoded(before)).slice(edit.from - 1, to)
  const text = old.map((line) => `${line}\n`).join('')
  return { kind: 'lines', path, from: edit.from, to, before: text, after: edit.content ?? '' }
}

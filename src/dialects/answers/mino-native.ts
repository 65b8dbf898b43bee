import type { EditDone, NativeAnswers } from '../../model/call.ts'
import type { ResolvedFile } from '../../model/resolution.ts'
import { approvalPrompt, completedText, type MinoScreen, refusedResult, screenText } from './mino.ts'
import { bytesAfter, countLines, othersText, textOf } from './native-text.ts'

/** Mino's answers: the text of a file as it is, and one sentence for what was done or refused. */
export const minoAnswers: NativeAnswers = {
  read: (_call, _asked, bytes) => readText(bytes),
  done: (done) => {
    const [file] = done.files
    const path = textOf(done.call, 'path')
    const size = { bytes: bytesAfter(file).length, lines: countLines(bytesAfter(file)) }
    if (done.call.tool === 'edit_file') {
      return completedText({ kind: 'edited', path, line: startingLine(done), ...size })
    }
    return completedText({ kind: file?.before.kind === 'file' ? 'overwrote' : 'created', path, ...size })
  },
  refused: (_call, refusals) => {
    const [first] = refusals
    return first === undefined ? '' : `${refusedResult(first).text}${othersText(refusals)}`
  },
  screen: (done, projectDirectory) => ({
    text: screenText(screenOf(done, projectDirectory)),
    question: approvalPrompt.slice(0, approvalPrompt.indexOf(' [')),
  }),
}

/** A read has passed the same checks as an edit: size, UTF-8, no NUL. */
function readText(bytes: Uint8Array): ReturnType<NativeAnswers['read']> {
  if (bytes.includes(0))
    return { kind: 'refused', text: 'The file holds a NUL byte: it is no text, and Mino reads text only.' }
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  if (Buffer.compare(Buffer.from(text, 'utf8'), bytes) !== 0) {
    return { kind: 'refused', text: 'The file is not UTF-8 as a whole, and Mino reads UTF-8 only.' }
  }
  return { kind: 'shown', text, lines: null }
}

const startingLine = (done: EditDone): number => done.results[0]?.oldLines?.from ?? 1

const bytesBefore = (file: ResolvedFile | undefined): number | null =>
  file?.before.kind === 'file' ? file.before.bytes.length : null

function screenOf(done: EditDone, projectDirectory: string): MinoScreen {
  const { call, files } = done
  const [file] = files
  const path = textOf(call, 'path')
  if (call.tool === 'edit_file') {
    return {
      tool: 'edit_file',
      path,
      projectDirectory,
      startingLine: startingLine(done),
      remove: textOf(call, 'old_string'),
      insert: textOf(call, 'new_string'),
      resultingBytes: bytesAfter(file).length,
      resultingLines: countLines(bytesAfter(file)),
    }
  }
  const content = textOf(call, 'content')
  return { tool: 'write_file', path, projectDirectory, existingBytes: bytesBefore(file), content }
}

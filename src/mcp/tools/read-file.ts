import * as z from 'zod'
import { readFile as readFlow } from '../../flow/read.ts'
import { visible } from '../../review/visible.ts'
import { lineNumber, path, repository } from '../form.ts'
import { FIELD_MAX_BYTES, firstBytes } from '../result.ts'
import { tool } from '../tool.ts'

export const readFile = tool({
  name: 'read_file',
  title: 'Read a file',
  description:
    'Reads one file of the work tree, whole or by lines. Gives its blob id, which line edits take as evidence of what you saw. What you read is remembered for this conversation: an edit is refused where the file has changed since.',
  input: z.strictObject({
    path,
    from: lineNumber.optional().describe('First line, from 1.'),
    to: lineNumber.optional().describe('Last line, included.'),
    repository,
  }),
  output: {
    path: { type: 'string' },
    blob: { type: 'string', description: 'Blob id of the bytes of the whole file.' },
    mode: { type: 'string' },
    totalLines: { type: 'integer' },
    from: { type: 'integer' },
    to: { type: 'integer' },
    content: {
      anyOf: [{ type: 'string' }, { type: 'null' }],
      description: 'The lines as they are; null where they are not UTF-8 text.',
    },
    base64: { type: 'string' },
    eol: { type: 'string', enum: ['lf', 'crlf', 'mixed', 'none'] },
    finalNewline: { type: 'boolean' },
    bom: { type: 'boolean' },
    truncated: { type: 'boolean', description: 'true = lines follow after "to".' },
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: ({ input, caller, use }) =>
    use(async (world) => {
      const { from, to } = input
      const file = await readFlow(world, {
        path: fromRoot(world.repository.workTree, input.path),
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        ...(caller.session === null ? {} : { session: caller.session }),
        shownMaxBytes: FIELD_MAX_BYTES,
      })
      // One line can be longer than a whole answer may be.
      const content = file.content === null ? null : firstBytes(file.content, FIELD_MAX_BYTES)
      const base64 = file.base64 === undefined ? undefined : firstBytes(file.base64, FIELD_MAX_BYTES)
      const isCut = content !== file.content || base64 !== file.base64
      const rest = file.truncated ? `, more after: from ${file.to + 1}` : ''
      const lines =
        file.totalLines === 0 ? 'empty' : `lines ${file.from} to ${file.to} of ${file.totalLines}${rest}`
      const end = file.finalNewline ? '' : ', no newline at its end'
      const marks = `${file.bom ? ', byte-order mark' : ''}${isCut ? ', cut: a line is too long to be shown' : ''}${end}`
      const kind = content === null ? 'not UTF-8 text, as base64' : `line ends ${file.eol}`
      const message = `${visible(file.path)}: ${lines}, ${kind}, blob ${file.blob}${marks}`
      return {
        message,
        next: '',
        detail: `\n${content ?? base64 ?? ''}`,
        value: { ...file, content, ...(base64 === undefined ? {} : { base64 }) },
      }
    }),
})

/** Agents like to send absolute paths. */
function fromRoot(workTree: string | null, path: string): string {
  const root = `${workTree}/`
  return workTree !== null && path.startsWith(root) ? path.slice(root.length) : path
}

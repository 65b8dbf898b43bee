import * as z from 'zod'
import { readPairs, showChange as showFlow } from '../../flow/show.ts'
import { renderDiff } from '../../review/unified-diff.ts'
import { visible } from '../../review/visible.ts'
import { changeDetail, changeLine, changeValue, diffLink, nextFor } from '../change-words.ts'
import { changeId, lineNumber, path, repository } from '../form.ts'
import { FIELD_MAX_BYTES, firstBytes } from '../result.ts'
import { tool } from '../tool.ts'

/** Bytes of the diff and of each check's output in one answer. */
const DIFF_MAX_BYTES = FIELD_MAX_BYTES / 2
const OUTPUT_MAX_BYTES = 3_000

export const showChange = tool({
  name: 'show_change',
  title: 'Show a change',
  description:
    'Shows a change: state, files, checks with their output, comments, why it was rejected, and its diff. A long diff is shown in parts ("from"), by file ("path"), and whole as a resource.',
  input: z.strictObject({
    id: changeId,
    path: path.optional().describe('Only the diff of this file.'),
    from: lineNumber.optional().describe('First line of the diff to show; default 1.'),
    repository,
  }),
  output: {
    change: { type: 'object' },
    outputs: { type: 'array', description: 'What the checks printed.' },
    diff: { type: 'string' },
    diffFrom: { type: 'integer' },
    diffTo: { type: 'integer' },
    diffLines: {
      type: 'integer',
      description: 'Lines of the whole diff; those after diffTo are shown with "from".',
    },
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: ({ input, use }) =>
    use(async (world) => {
      const { change, outputs } = await showFlow(world, input.id)
      const pairs = await readPairs(world, change.id)
      const wanted = input.path === undefined ? pairs : pairs.filter((pair) => pair.path === input.path)
      const part = partOf(
        renderDiff(wanted, { contextLines: 3, isColoured: false, numbersHunks: true }),
        input.from ?? 1,
      )
      const said = outputs
        .filter(({ check, output }) => check.outcome !== 'passed' && output !== '')
        .map(({ check, output }) => ({
          name: check.name,
          output: visible(firstBytes(output, OUTPUT_MAX_BYTES)),
        }))
      const rest =
        part.to < part.lines
          ? `\n… (lines ${part.from} to ${part.to} of ${part.lines}: go on with from ${part.to + 1})`
          : ''
      const printed = said.map(({ name, output }) => `output of ${visible(name)}:\n${output}`)
      return {
        message: changeLine(change),
        next: nextFor(change),
        detail: [changeDetail(change), ...printed, `\n${part.text}${rest}`].join('\n'),
        value: {
          change: changeValue(change),
          outputs: said,
          diff: part.text,
          diffFrom: part.from,
          diffTo: part.to,
          diffLines: part.lines,
        },
        links: [diffLink(change, input.repository)],
      }
    }),
})

/** As many whole lines from one on as an answer has room for. */
function partOf(diff: string, from: number) {
  const lines = diff === '' ? [] : diff.replace(/\n$/, '').split('\n')
  const room = firstBytes(lines.slice(from - 1).join('\n'), DIFF_MAX_BYTES)
  const whole = lines.slice(from - 1).join('\n').length === room.length
  const shown = whole || !room.includes('\n') ? room : room.slice(0, room.lastIndexOf('\n'))
  const count = shown === '' ? 0 : shown.split('\n').length
  return { text: shown, from, to: Math.min(from - 1 + count, lines.length), lines: lines.length }
}

import { readFile } from '../../flow/read.ts'
import { visible } from '../../review/visible.ts'
import { usageError } from '../errors.ts'
import { fromRoot } from '../from-root.ts'
import type { Verb } from '../verb.ts'

export const read: Verb = {
  usage: 'read <path> [options]',
  summary: 'Print a file of the work tree with its blob id, which later edits can name as evidence.',
  examples: [
    ['galley read src/clock.ts', 'the whole file, lines numbered'],
    ['galley read src/clock.ts --from 10 --to 20 --json', 'some lines, for a program'],
    ['galley read src/clock.ts --session s-42', 'and record it for an agent session'],
  ],
  options: (yargs) =>
    yargs
      .option('from', { type: 'number', describe: 'First line, from 1' })
      .option('to', { type: 'number', describe: 'Last line, inclusive' })
      .option('session', { type: 'string', describe: 'Record the read for this agent session' }),
  run: async (context, args) => {
    const [path] = args['_'] as readonly string[]
    if (path === undefined) throw usageError('which file? Give its path')
    const line = (name: 'from' | 'to') => {
      const value = args[name]
      if (value === undefined) return {}
      if (!Number.isSafeInteger(value) || Number(value) < 1)
        throw usageError(`--${name} is a line number, from 1`)
      return { [name]: Number(value) }
    }
    const session = args['session'] === undefined ? {} : { session: String(args['session']) }
    const world = await context.world()
    const file = await readFile(world, {
      path: fromRoot(world.repository, String(path)),
      ...line('from'),
      ...line('to'),
      ...session,
    })
    const head = `${visible(file.path)}  ${file.mode}  ${file.totalLines} lines  ${file.eol}${file.bom ? '  BOM' : ''}\nblob ${file.blob}\n`
    const lines = file.content === null ? [notShown(file.base64 ?? '')] : file.content.split('\n')
    if (lines.at(-1) === '') lines.pop()
    const numbered = lines.map((text, i) => `${String(file.from + i).padStart(6)}  ${visible(text)}\n`)
    return { value: { ...file }, text: `${head}${numbered.join('')}` }
  },
}

/** Why a file is not shown. Its first bytes tell the encodings that editors write with a mark. */
function notShown(base64: string): string {
  const mark = Buffer.from(base64.slice(0, 8), 'base64').toString('hex')
  const encoding = MARKS.find(([bytes]) => mark.startsWith(bytes))?.[1]
  return encoding === undefined
    ? '(not UTF-8 text; --json gives base64)'
    : `(${encoding} text, which is not shown; --json gives base64)`
}

/** Byte-order marks, the longer before those that they begin with. */
const MARKS = [
  ['fffe0000', 'UTF-32 (little-endian)'],
  ['0000feff', 'UTF-32 (big-endian)'],
  ['fffe', 'UTF-16 (little-endian)'],
  ['feff', 'UTF-16 (big-endian)'],
] as const

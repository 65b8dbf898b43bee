import { comment as commentFlow } from '../../flow/comment.ts'
import { commentText } from '../../review/comment-text.ts'
import { usageError } from '../errors.ts'
import { hunkNumbers } from '../hunk-numbers.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import { changeLine } from '../text.ts'
import type { Arguments, Verb } from '../verb.ts'

export const comment: Verb = {
  usage: 'comment <id> [path[:line[-line]]] -m <text> [options]',
  summary: 'Say something of a pending change, of a file of it, or of lines. The agent gets it.',
  details:
    'Says something of a pending change: of the whole, of a file, or of lines, which are counted in the file as the change makes it.\nThe comment keeps those lines. It decides nothing, and no approval is lost; agents may comment, and it is noted as theirs.',
  examples: [
    ['galley comment g7k2m9 -m "why now?"', 'on the whole change'],
    ['galley comment g7k2m9 src/clock.ts:42-44 -m "inject it"', 'on lines'],
    ['galley comment g7k2m9 --hunk 3 -m "not here"', 'on a hunk, by the number that `galley diff` shows'],
  ],
  options: (yargs) =>
    changeOptions(yargs)
      .option('message', { alias: 'm', type: 'string', describe: 'The text', requiresArg: true })
      .option('hunk', { type: 'string', describe: 'The number of a hunk, in place of path and lines' })
      .option('digest', { type: 'string', describe: 'The digest that was shown: refused if it changed' }),
  run: async (context, args) => {
    const world = await context.world()
    const { place, named } = splitWords(args)
    if (args['message'] === undefined) throw usageError('say it with -m')
    const { change } = await commentFlow(world, {
      id: await namedChange(world, named, 'pending'),
      text: String(args['message']),
      ...placeWords(place, args),
      ...(args['digest'] === undefined ? {} : { digest: String(args['digest']) }),
    })
    const last = change.comments.at(-1)
    const said = last === undefined ? '' : `${commentText(last)}\n`
    return { value: { change }, text: `${changeLine(change, context.terminal)}${said}` }
  },
}

/** The id comes first, and with `--last` there is none. */
function splitWords(args: Arguments): { readonly place: string | undefined; readonly named: Arguments } {
  const words = (args['_'] as readonly unknown[]).map(String)
  const ids = args['last'] === true ? 0 : 1
  if (words.length > ids + 1)
    throw usageError(`one place at most; found ${JSON.stringify(words.slice(ids).join(' '))}`)
  return { place: words[ids], named: { ...args, _: words.slice(0, ids) } }
}

/** `path`, `path:3` or `path:3-5`. galley takes no path with a colon in it, so that nothing is read two ways. */
function placeWords(place: string | undefined, args: Arguments) {
  if (args['hunk'] !== undefined) {
    if (place !== undefined) throw usageError('give a path or --hunk, not both')
    const [hunk, ...more] = hunkNumbers(String(args['hunk']))
    if (hunk === undefined || more.length > 0) throw usageError('a comment is on one hunk')
    return { hunk }
  }
  if (place === undefined) return {}
  const match = /^(.+?):([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$/s.exec(place)
  if (match === null) return { path: place }
  const [, path = '', line, toLine] = match
  return { path, line: Number(line), ...(toLine === undefined ? {} : { toLine: Number(toLine) }) }
}

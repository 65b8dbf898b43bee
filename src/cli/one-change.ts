import type { Argv } from 'yargs'
import { type NewestOf, newestChange } from '../flow/newest-change.ts'
import type { World } from '../flow/world.ts'
import { usageError } from './errors.ts'
import type { Arguments } from './verb.ts'

/** The options of verbs that work on one change. */
export const changeOptions = (yargs: Argv): Argv =>
  yargs.option('last', {
    type: 'boolean',
    default: false,
    describe: 'The newest change that this verb can work on',
  })

/** The id that the command line names: a unique beginning of three characters or more, or `--last`. */
export async function namedChange(world: World, args: Arguments, last: NewestOf = 'any'): Promise<string> {
  const [word] = args['_'] as readonly string[]
  if (args['last'] === true) {
    if (word !== undefined) throw usageError('give an id or --last, not both')
    return newestChange(world, last)
  }
  if (word === undefined) throw usageError('which change? Give its id, or --last for the newest')
  return String(word)
}

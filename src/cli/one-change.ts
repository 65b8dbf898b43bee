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

/**
 * Refuses a command line that names no change, or two, before any repository is looked for.
 *
 * @throws GalleyError `usage`.
 */
export function expectChange(args: Arguments): void {
  const [word] = args['_'] as readonly string[]
  if (word !== undefined && args['last'] === true) throw usageError('give an id or --last, not both')
  if (word === undefined && args['last'] !== true)
    throw usageError('which change? Give its id, or --last for the newest')
}

/** The id that the command line names: a unique beginning of three characters or more, or `--last`. */
export async function namedChange(world: World, args: Arguments, last: NewestOf = 'any'): Promise<string> {
  expectChange(args)
  const [word] = args['_'] as readonly string[]
  return args['last'] === true ? newestChange(world, last) : String(word)
}

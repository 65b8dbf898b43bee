import yargs from 'yargs'
import { usageError } from './errors.ts'
import { refuseTooMany } from './plain-words.ts'
import type { Arguments, Verb } from './verb.ts'

export type Parsed =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'args'; readonly args: Arguments }

/**
 * Parses the words after a verb.
 *
 * @throws GalleyError `usage`, for an unknown option, a missing argument, or too many.
 */
export async function parseVerb(name: string, verb: Verb, words: readonly string[]): Promise<Parsed> {
  let help = ''
  const parser = verb
    .options(
      yargs([])
        .scriptName('galley')
        .usage(`galley ${verb.usage}\n\n${verb.details ?? verb.summary}`)
        .option('json', { type: 'boolean', default: false, describe: 'Print exactly one JSON value' })
        .parserConfiguration({
          'parse-numbers': false,
          'parse-positional-numbers': false,
          'duplicate-arguments-array': false,
          'camel-case-expansion': false,
        }),
    )
    .help('help')
    .alias('help', 'h')
    .version(false)
    .strictOptions()
    .exitProcess(false)
    .wrap(100)
    .fail((message, error) => {
      throw error ?? usageError(message)
    })
  for (const [command, meaning] of verb.examples) parser.example(command, meaning)
  const args = await parser.parseAsync([...words], {}, (_error: unknown, _argv: unknown, output: string) => {
    help = output
  })
  if (help !== '') return { kind: 'help', text: `${help}\n` }
  const positional = (args['_'] as readonly unknown[]).map(String)
  refuseTooMany(name, verb, positional)
  return { kind: 'args', args }
}

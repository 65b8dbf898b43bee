import yargs, { type Argv } from 'yargs'
import { nearestName } from '../model/nearest-name.ts'
import { usageError } from './errors.ts'
import { refuseTooMany } from './plain-words.ts'
import type { Arguments, Verb } from './verb.ts'

/** What yargs has, and its types leave out. */
interface WithOptions {
  readonly getOptions: () => { readonly key: object }
}

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
  const known = (): readonly string[] => Object.keys((parser as unknown as WithOptions).getOptions().key)
  const parser: Argv = verb
    .options(
      yargs([])
        .scriptName('galley')
        .usage(`galley ${verb.usage}\n\n${verb.details ?? verb.summary}`)
        .option('json', { type: 'boolean', default: false, describe: 'Print exactly one JSON value' })
        .parserConfiguration({
          'parse-numbers': false,
          'parse-positional-numbers': false,
          // For options that may be repeated; all others keep their last value (see below), as git's do.
          'duplicate-arguments-array': true,
          'greedy-arrays': false,
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
      const unknown = /^Unknown arguments?: (.+)$/.exec(message)?.[1]?.split(', ') ?? []
      if (error !== undefined || unknown.length === 0) throw error ?? usageError(message)
      const isForAnother = name === 'run' && !words.includes('--')
      const more = isForAnother
        ? '; the command stands behind `--`'
        : nearestOption(unknown[0] ?? '', known())
      throw usageError(`unknown option ${unknown.map(dashed).join(', ')}${more}`)
    })
  // yargs would break a command in the middle.
  parser.epilogue(
    `Examples:\n${verb.examples.map(([command, meaning]) => `  ${command}\n      ${meaning}`).join('\n')}`,
  )
  const args = await parser.parseAsync([...words], {}, (_error: unknown, _argv: unknown, output: string) => {
    help = output
  })
  if (help !== '') return { kind: 'help', text: `${help}\n` }
  const positional = (args['_'] as readonly unknown[]).map(String)
  refuseTooMany(name, verb, positional)
  const last = lastValues(args, verb.repeatable ?? [])
  refuseValuesOfSwitches(last, words)
  refuseMissingValues(last, words)
  return { kind: 'args', args: last }
}

const dashed = (name: string): string => `${name.length === 1 ? '-' : '--'}${name.slice(0, 40)}`

function nearestOption(name: string, known: readonly string[]): string {
  const near =
    name.length === 1
      ? null
      : nearestName(
          name,
          known.filter((one) => one.length > 1),
        )
  return near === null ? '' : `; did you mean --${near}?`
}

/** yargs reads `--dry-run=1` as `--dry-run=false`: a look would become the deed. */
function refuseValuesOfSwitches(args: Arguments, words: readonly string[]): void {
  const end = words.indexOf('--')
  for (const word of end < 0 ? words : words.slice(0, end)) {
    const [, name = '', value = ''] = /^--([a-z-]+)=(.*)$/s.exec(word) ?? []
    if (typeof args[name] !== 'boolean' || value === 'true' || value === 'false') continue
    throw usageError(`--${name} takes no value, and got ${JSON.stringify(value.slice(0, 40))}`)
  }
}

/** yargs reads an option at the end, or before another one, as empty text: an empty value has to be written. */
function refuseMissingValues(args: Arguments, words: readonly string[]): void {
  const end = words.indexOf('--')
  const own = end < 0 ? words : words.slice(0, end)
  for (const [at, word] of own.entries()) {
    const [, name = ''] = /^--?([a-z][a-z-]*)$/.exec(word) ?? []
    const values: unknown = args[name]
    const isEmpty = values === '' || (Array.isArray(values) && values.includes(''))
    if (isEmpty && own[at + 1] !== '') throw usageError(`${word} needs a value`)
  }
}

/** The last value of every option given several times, but for those that may be. */
function lastValues(args: Arguments, repeatable: readonly string[]): Arguments {
  const isList = (name: string): boolean => name === '_' || repeatable.includes(name)
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      Array.isArray(value) && !isList(name) ? value.at(-1) : value,
    ]),
  )
}

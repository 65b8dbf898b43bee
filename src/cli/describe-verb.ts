import type { Argv } from 'yargs'
import type { Verb } from './verb.ts'

/** One option as `--help`, the manual page and the completion show it. */
export interface OptionFacts {
  readonly name: string
  readonly alias: string | null
  readonly describe: string
  readonly takesValue: boolean
  /** Empty = any. */
  readonly choices: readonly string[]
}

/** Options that every verb has. */
const COMMON: readonly OptionFacts[] = [
  flag('json', null, 'Print exactly one JSON value'),
  flag('help', 'h', 'Show help'),
]

function flag(name: string, alias: string | null, describe: string): OptionFacts {
  return { name, alias, describe, takesValue: false, choices: [] }
}

/** The options of a verb, in its own order, without loading the parser: a verb only ever declares them by `option`. */
export function optionsOf(verb: Pick<Verb, 'options'>): readonly OptionFacts[] {
  const found: OptionFacts[] = []
  const recorder = {
    option: (name: string, given: Declared) => {
      found.push({
        name,
        alias: given.alias ?? null,
        describe: given.describe ?? '',
        takesValue: given.type !== 'boolean',
        choices: given.choices ?? [],
      })
      return recorder
    },
  }
  verb.options(recorder as unknown as Argv)
  return [...found, ...COMMON]
}

interface Declared {
  readonly alias?: string
  readonly describe?: string
  readonly type?: string
  readonly choices?: readonly string[]
}

/** What a verb takes beside options, as its usage line names it: `<id>`, `<a|b>`, `[paths…]`. */
export const argumentsOf = ({ usage }: Pick<Verb, 'usage'>): readonly string[] =>
  (usage.match(/[<[][^\]>]+[\]>]/g) ?? [])
    .map((word) => word.slice(1, -1))
    .filter((word) => word !== 'options' && !word.startsWith('--'))

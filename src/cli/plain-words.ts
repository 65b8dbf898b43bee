import { usageError } from './errors.ts'
import type { Arguments, Verb } from './verb.ts'

/** Reads words that hold no option but `--json` and `--last`; null when a parser is needed. */
export function readPlainWords(name: string, verb: Verb, words: readonly string[]): Arguments | null {
  if (verb.isPlain !== true) return null
  const options = words.filter((word) => word.startsWith('-') && word !== '-')
  const flags = (verb.plainFlags ?? []).filter((flag) => options.includes(`--${flag}`))
  const known = ['--json', ...(takesLast(verb) ? ['--last'] : []), ...flags.map((flag) => `--${flag}`)]
  if (options.some((word) => !known.includes(word))) return null
  const positional = words.filter((word) => !options.includes(word))
  refuseTooMany(name, verb, positional)
  return {
    _: positional,
    json: options.includes('--json'),
    ...(options.includes('--last') ? { last: true } : {}),
    ...Object.fromEntries(flags.map((flag) => [flag, true])),
  }
}

const takesLast = (verb: Verb): boolean =>
  verb.usage.includes('<id>') || verb.usage.includes('<change|commit>')

/** A verb's usage line names its arguments: `<id>`, `[batch.json]`; `[options]` is none, and `[paths…]` any number. */
export function refuseTooMany(name: string, verb: Verb, positional: readonly string[]): void {
  const named = verb.usage.match(/[<[][^\]>]+[\]>]/g) ?? []
  if (named.some((word) => word.includes('…'))) return
  const most = named.filter((word) => word !== '[options]').length
  if (positional.length > most) {
    throw usageError(`too many arguments for ${name}: ${positional.slice(most).join(' ')}`)
  }
}

import { listLog } from '../flow/status.ts'
import type { World } from '../flow/world.ts'
import { type ChangeState, isPending } from '../model/change.ts'
import { GalleyError } from '../model/error.ts'
import { visible } from '../review/visible.ts'
import { argumentsOf, optionsOf } from './describe-verb.ts'
import type { Verb, VerbTable } from './verb.ts'

/** What may stand at the end of a command line, and what it is. */
export interface Candidate {
  readonly word: string
  readonly meaning: string
}

export interface Sources {
  readonly verbs: VerbTable
  /** Opens the repository of the `-C` words. */
  readonly open: (directories: readonly string[]) => Promise<World>
}

/** Where the words so far lead: what is asked for, of which repository, by which verb. */
interface Place {
  readonly directories: readonly string[]
  readonly verb: string | null
  /** The words after the verb. */
  readonly rest: readonly string[]
  /** The word that is being written. */
  readonly last: string
}

/**
 * What could stand in the last place of a command line; empty where it is a file's name, which the shell knows better.
 *
 * @param words - From the one after `galley` to the one being written, which may be empty.
 */
export async function candidates(
  words: readonly string[],
  { verbs, open }: Sources,
): Promise<readonly Candidate[]> {
  const place = readPlace(words)
  const found = place.verb === null ? firstWords(place, verbs) : await afterVerb(place, { verbs, open })
  return found.filter(({ word }) => word.startsWith(place.last))
}

function readPlace(words: readonly string[]): Place {
  const last = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const directories: string[] = []
  let at = 0
  for (; at < before.length && before[at]?.startsWith('-') === true; at++) {
    if (before[at] === '-C') directories.push(before[++at] ?? '')
  }
  return { directories, verb: before[at] ?? null, rest: before.slice(at + 1), last }
}

function firstWords({ last, directories }: Place, verbs: VerbTable): readonly Candidate[] {
  // The directory of `-C` is being written.
  if (directories.at(-1) === '') return []
  if (last.startsWith('-')) {
    return [
      { word: '-C', meaning: 'Work in this directory' },
      { word: '--json', meaning: 'Print exactly one JSON value' },
      { word: '--help', meaning: 'Show help' },
      { word: '--version', meaning: 'Show the version' },
    ]
  }
  return Object.entries(verbs).map(([word, { summary }]) => ({ word, meaning: summary }))
}

async function afterVerb(place: Place, { verbs, open }: Sources): Promise<readonly Candidate[]> {
  const { verb: name, rest, last } = place
  if (name === 'help') return firstWords({ ...place, directories: [] }, verbs)
  const entry = name !== null && Object.hasOwn(verbs, name) ? verbs[name] : undefined
  // What follows a `--` is another program's.
  if (entry === undefined || name === null || rest.includes('--')) return []
  const verb = await entry.load()
  const options = optionsOf(verb)
  const before = rest.at(-1) ?? ''
  const asked = options.find(
    (o) => before === `--${o.name}` || (o.alias !== null && before === `-${o.alias}`),
  )
  const changes = async (): Promise<readonly Known[]> => {
    const world = await open(place.directories)
    try {
      return await listLog(world, {})
    } finally {
      await world.close()
    }
  }
  if (asked?.takesValue === true) {
    if (asked.choices.length > 0) return asked.choices.map((word) => ({ word, meaning: '' }))
    if (asked.name === 'session') return sessionsOf(await quietly(changes))
    return asked.name === 'revise' ? idsOf(await quietly(changes), isPending) : []
  }
  if (last.startsWith('-')) return options.map((o) => ({ word: `--${o.name}`, meaning: o.describe }))
  const argument = argumentsOf(verb)[positionOf(rest, verb)] ?? ''
  if (argument === 'id' || argument === 'change|commit')
    return idsOf(await quietly(changes), STATES[name] ?? (() => true))
  return argument.includes('|') || name === 'policy'
    ? argument.split('|').map((word) => ({ word, meaning: '' }))
    : []
}

/** Which argument the next word is: how many words before it are neither options nor their values. */
function positionOf(rest: readonly string[], verb: Verb): number {
  const valued = new Set(
    optionsOf(verb).flatMap((o) =>
      o.takesValue ? [`--${o.name}`, ...(o.alias === null ? [] : [`-${o.alias}`])] : [],
    ),
  )
  return rest.filter((word, i) => !word.startsWith('-') && !valued.has(rest[i - 1] ?? '')).length
}

/** The states in which a verb can do something for a change. */
const STATES: Readonly<Record<string, (state: ChangeState) => boolean>> = {
  approve: isPending,
  reject: isPending,
  comment: isPending,
  review: isPending,
  check: isPending,
  land: isPending,
  wait: isPending,
  open: isPending,
  undo: (state) => state === 'landed',
  redo: (state) => state === 'undone' || state === 'landed',
}

interface Known {
  readonly id: string
  readonly title: string
  readonly state: ChangeState
  readonly session: string | null
}

const idsOf = (changes: readonly Known[], fits: (state: ChangeState) => boolean): readonly Candidate[] =>
  changes
    .filter(({ state }) => fits(state))
    .map(({ id, title, state }) => ({ word: id, meaning: `${visible(title)} (${state})` }))

/** A session is free text, and what is completed stands on a shell's command line: only names that no shell reads anything into. */
const sessionsOf = (changes: readonly Known[]): readonly Candidate[] =>
  [...new Set(changes.flatMap(({ session }) => session ?? []))]
    .filter((session) => /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(session))
    .map((word) => ({ word, meaning: '' }))

/** Where nothing can be told (no repository, one that is broken), nothing is offered: a refusal has no place on a line being written. */
async function quietly(ask: () => Promise<readonly Known[]>): Promise<readonly Known[]> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof GalleyError) return []
    throw error
  }
}

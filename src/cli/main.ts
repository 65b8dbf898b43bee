import { mayBeInterrupted, openWorld, type World } from '../flow/world.ts'
import { cameMidway, isAbsent } from '../model/errno.ts'
import { refuse } from '../model/error.ts'
import { refusalOf } from '../model/refusal-of.ts'
import { version } from '../model/version.ts'
import { visible } from '../review/visible.ts'
import { systemClock } from '../sys/clock.ts'
import type { CliProcess } from './cli-process.ts'
import { inTurn } from './directories.ts'
import { errorText, exitCodeOf, ofVerb, usageError } from './errors.ts'
import { readInput } from './input.ts'
import { type LiveLine, openLiveLine } from './live-line.ts'
import { expectChange } from './one-change.ts'
import type { Parsed } from './parse.ts'
import { readPlainWords } from './plain-words.ts'
import { openTerminal } from './terminal.ts'
import type { Answer, CliContext, Verb } from './verb.ts'
import { verbs } from './verbs.ts'

/**
 * Runs one command line and gives its exit code: 0 done, 1 refused, 2 wrong command line, 255 a fault of galley's own.
 *
 * With `--json`, stdout holds exactly one JSON value, whatever happens.
 */
export async function runCli(argv: readonly string[], proc: CliProcess): Promise<number> {
  // What follows a `--` is for somebody else: another program's own options.
  const wantsJson = (argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv).includes('--json')
  let called: string | null = null
  const live = openLiveLine(proc)
  const worlds: World[] = []
  try {
    const global = readGlobals(argv)
    if (global.verb === 'help') return printHelp(proc, global.rest)
    if (global.verb === null) return printPlain(proc, global.rest)
    const entry = Object.hasOwn(verbs, global.verb) ? verbs[global.verb] : undefined
    if (entry === undefined) throw usageError(await unknownVerb(global.verb))
    called = global.verb
    const verb = await entry.load()
    const parsed = await parseWords(global.verb, verb, global.rest)
    if (parsed.kind === 'help') {
      proc.stdout.write(parsed.text)
      return 0
    }
    // `land --all` is the one way to name no change where a verb is about one.
    if (verb.usage.includes(' <id>') && parsed.args['all'] !== true) expectChange(parsed.args)
    const context = makeContext(
      proc,
      directoryOf(proc, global.directory),
      { name: global.verb, json: wantsJson, live },
      worlds,
    )
    const answer = await verb
      .run(context, parsed.args)
      .catch((error: unknown) => {
        if (cameMidway(error)) for (const world of worlds) world.noteFailure()
        throw error
      })
      .finally(() => Promise.all(worlds.map((w) => w.close())))
      .finally(live.clear)
    await printAnswer(proc, context, { ...answer, value: { ...answer.value, ...noticesOf(worlds) } })
    if (!wantsJson) noteNotices(proc, worlds)
    return answer.exitCode ?? 0
  } catch (error) {
    const refusal = ofVerb(refusalOf(error), called)
    if (wantsJson)
      proc.stdout.write(`${JSON.stringify({ ok: false, error: refusal, ...noticesOf(worlds) })}\n`)
    else proc.stderr.write(errorText(refusal))
    if (!wantsJson) noteNotices(proc, worlds)
    return exitCodeOf(refusal.code)
  }
}

/** What is to be said beside any answer: that the policy in force cannot be read. */
function noticesOf(worlds: readonly World[]): { readonly notices?: readonly string[] } {
  const notices = worlds.flatMap((world) => [...world.notices])
  return notices.length === 0 ? {} : { notices }
}

function noteNotices(proc: CliProcess, worlds: readonly World[]): void {
  for (const notice of noticesOf(worlds).notices ?? [])
    proc.stderr.write(`galley: note: ${visible(notice)}\n`)
}

async function parseWords(name: string, verb: Verb, words: readonly string[]): Promise<Parsed> {
  const plain = readPlainWords(name, verb, words)
  if (plain !== null) return { kind: 'args', args: plain }
  const { parseVerb } = await import('./parse.ts')
  return parseVerb(name, verb, words)
}

/** Options that stand before the verb: `-C <dir>` and `--json`, as git's own stand before its commands. */
function readGlobals(argv: readonly string[]): {
  readonly verb: string | null
  readonly directory: string | null
  readonly rest: readonly string[]
} {
  let directory: string | null = null
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? ''
    if (word === '-C') {
      const next = argv[++i]
      if (next === undefined) throw usageError('-C needs a directory')
      directory = inTurn(directory, next)
    } else if (!word.startsWith('-')) {
      return { verb: word, directory, rest: argv.slice(i + 1) }
    } else if (word !== '--json' && word !== '--help' && word !== '-h' && word !== '--version') {
      throw usageError(`unknown option before the verb: ${word}`)
    }
  }
  return { verb: null, directory, rest: argv }
}

/** Node cannot say where it stands in a directory that was removed. */
function directoryOf(proc: CliProcess, given: string | null): string {
  try {
    return given ?? proc.cwd()
  } catch (error) {
    if (!isAbsent(error)) throw error
    refuse('not-a-repository', 'the current directory was removed', {})
  }
}

/** `galley help` and `galley help <verb>`, as git has them; `galley help --man` is the manual page's source. */
async function printHelp(proc: CliProcess, words: readonly string[]): Promise<number> {
  if (words.includes('--man')) {
    const { manualPage } = await import('./manual.ts')
    proc.stdout.write(await manualPage())
    return 0
  }
  const [name] = words.filter((word) => !word.startsWith('-'))
  if (name === undefined) return printPlain(proc, ['--help'])
  const entry = Object.hasOwn(verbs, name) ? verbs[name] : undefined
  if (entry === undefined) throw usageError(await unknownVerb(name))
  const parsed = await parseWords(name, await entry.load(), ['--help'])
  if (parsed.kind === 'help') proc.stdout.write(parsed.text)
  return 0
}

function printPlain(proc: CliProcess, argv: readonly string[]): number {
  if (argv.includes('--version')) {
    proc.stdout.write(
      argv.includes('--json') ? `${JSON.stringify({ ok: true, version })}\n` : `galley ${version}\n`,
    )
    return 0
  }
  if (argv.includes('--help') || argv.includes('-h')) {
    proc.stdout.write(helpText())
    return 0
  }
  if (argv.includes('--json')) throw usageError('no verb given')
  proc.stderr.write(helpText())
  return exitCodeOf('usage')
}

function helpText(): string {
  const rows = Object.entries(verbs).map(([name, verb]) => `  ${name.padEnd(10)} ${verb.summary}`)
  return `galley [-C dir] [--json] <verb>

The gate between coding agents and a Git repository: an agent proposes a batch of edits, checks run on it,
a person approves exactly the bytes they saw, and it lands by fast-forward. Undo is a git revert.

${rows.join('\n')}

galley <verb> --help shows options and examples. Start with: galley demo
`
}

async function unknownVerb(word: string): Promise<string> {
  const { nearestName } = await import('../model/nearest-name.ts')
  const near = nearestName(word, Object.keys(verbs))
  return `unknown verb ${JSON.stringify(word.slice(0, 40))}${near === null ? '' : `; did you mean ${near}?`}`
}

function makeContext(
  proc: CliProcess,
  cwd: string,
  { name, json, live }: { readonly name: string; readonly json: boolean; readonly live: LiveLine },
  worlds: World[],
): CliContext {
  const options = { env: proc.env, clock: systemClock, onProgress: live.show }
  let world: Promise<World> | null = null
  return {
    cwd,
    env: proc.env,
    verbs,
    json,
    platform: process.platform,
    program: proc.argv[1] ?? '',
    open: (directory) => openWorld(directory, { env: proc.env, clock: systemClock }),
    clock: systemClock,
    stdin: proc.stdin,
    ownStdout: () => {
      // A reader that goes away ends any other verb at once; here a landing may be under way.
      proc.stdout.removeAllListeners('error')
      return proc.stdout
    },
    world: () => {
      world ??= openWorld(cwd, { ...options, isForOneVerb: true }).then(async (w) => {
        worlds.push(w)
        if (!RECOVERS_NOT.has(name)) await finishFirst(w, proc)
        return w
      })
      return world
    },
    readInput: (file) => readInput(file, cwd, proc.stdin),
    terminal: openTerminal(proc, json, live),
  }
}

/** `recover`, `doctor` and `purge` do it themselves, or say what they found; a hook is asked in the middle of somebody else's work, a landing's own included. */
const RECOVERS_NOT: ReadonlySet<string> = new Set(['recover', 'doctor', 'purge', 'hook'])

/** A landing that was killed is finished or rolled back by whatever galley is called next. */
async function finishFirst(world: World, proc: CliProcess): Promise<void> {
  if (!(await mayBeInterrupted(world))) return
  const { finishInterrupted } = await import('../flow/recover.ts')
  const report = await finishInterrupted(world)
  const { recoveredLines } = await import('./recovered-text.ts')
  for (const line of recoveredLines(report)) proc.stderr.write(`galley: ${line}\n`)
}

async function printAnswer(proc: CliProcess, context: CliContext, answer: Answer): Promise<void> {
  if (context.json) proc.stdout.write(`${JSON.stringify({ ok: true, ...answer.value })}\n`)
  else if (answer.bytes !== undefined) proc.stdout.write(answer.bytes)
  else if (answer.paged === true && context.terminal.isInteractive) {
    const { page } = await import('./pager.ts')
    await page(answer.text, proc.env)
  } else proc.stdout.write(answer.text)
}

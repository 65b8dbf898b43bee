import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CallAnswer, CallApproval, CallScreen } from '../../src/index.ts'
import { openGalley } from '../helpers/galley.ts'
import type { TestRepo } from '../helpers/repo.ts'

/** One line of a session's journal, as a test reads it. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the journal holds
export type JournalLine = any

type Galley = Awaited<ReturnType<typeof openGalley>>
type Options = Omit<Parameters<Galley['call']>[0], 'call'>

/** An agent in one session of one system, and the person who is asked. */
export interface Agent {
  readonly galley: Galley
  readonly call: (tool: string, input: object, options?: Partial<Options>) => Promise<CallAnswer>
  /** What the person was shown, in order. */
  readonly screens: CallScreen[]
  /** How the next questions are answered; when they run out, no. */
  readonly answers: (boolean | (() => boolean))[]
  readonly journal: () => readonly JournalLine[]
  readonly journalFile: string
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export const yes = true
export const no = false

/** Starts an agent whose edits a person is asked about. */
export async function startAgent(
  repo: TestRepo,
  dialect: Options['dialect'],
  options: { readonly session?: string; readonly env?: Record<string, string> } = {},
): Promise<Agent> {
  const galley = await openGalley(repo, options.env === undefined ? {} : { env: options.env })
  const screens: CallScreen[] = []
  const answers: (boolean | (() => boolean))[] = []
  const approval: CallApproval = {
    kind: 'ask',
    ask: async (screen) => {
      screens.push(screen)
      const answer = answers.shift() ?? no
      return typeof answer === 'function' ? answer() : answer
    },
  }
  const session = options.session ?? 's'
  const journalFile = sessionFile(repo, session)
  return {
    galley,
    screens,
    answers,
    journalFile,
    call: (tool, input, more = {}) =>
      galley.call({
        call: { tool, input },
        session,
        approval,
        ...(dialect === undefined ? {} : { dialect }),
        ...more,
      }),
    journal: () => readLines(journalFile),
    [Symbol.asyncDispose]: () => galley[Symbol.asyncDispose](),
  }
}

export const sessionFile = (repo: TestRepo, session: string): string =>
  join(repo.dir, '.git/galley/sessions', `${createHash('sha256').update(session).digest('hex')}.jsonl`)

export const readLines = (file: string): readonly JournalLine[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** An approval in the user's name. */
export const always = { kind: 'yes' } as const

/** An agent whose calls are all approved, and what its answers say. */
export async function startTrusted(repo: TestRepo, dialect: Options['dialect']) {
  const agent = await startAgent(repo, dialect)
  return {
    ...agent,
    text: async (tool: string, input: object) =>
      (await agent.call(tool, input, { approval: always })).result.text,
    kind: async (tool: string, input: object) =>
      (await agent.call(tool, input, { approval: always })).result.kind,
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  }
}

/** Writes a journal anew, as a kill or another hand would have left it. */
export const writeLines = (file: string, lines: readonly JournalLine[]): void =>
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

/** The journal of a call that was killed before its outcome: its process is one that has ended. */
export const asKilled = (lines: readonly JournalLine[], call: string): readonly JournalLine[] =>
  lines
    .filter((line) => !(line.kind === 'outcome' && line.call === call))
    .map((line) =>
      line.kind === 'call' && line.call === call
        ? { ...line, process: { ...line.process, startTime: '1' } }
        : line,
    )

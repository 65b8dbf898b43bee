import type { Readable, Writable } from 'node:stream'
import type { Argv } from 'yargs'
import type { World } from '../flow/world.ts'

/** What a verb may use of the process it runs in. */
export interface CliContext {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly verbs: VerbTable
  readonly json: boolean
  /** As node names it: `linux`, `darwin`, `win32`. */
  readonly platform: string
  /** The file that node runs: how the demo runs the real command. */
  readonly program: string
  /** Opens the repository of `-C` or the current directory; once. */
  readonly world: () => Promise<World>
  /** Opens the repository of any directory, for a verb that serves several; whoever opens it closes it. */
  readonly open: (directory: string) => Promise<World>
  readonly clock: World['clock']
  readonly stdin: Readable
  /** Standard output for a verb that speaks a protocol on it, and lives on where its reader has gone away. */
  readonly ownStdout: () => Writable
  readonly readInput: (file: string) => Promise<Uint8Array>
  readonly terminal: Terminal
}

export interface Terminal {
  readonly isInteractive: boolean
  readonly useColour: boolean
  /** Before the answer; with `--json` on standard error. */
  readonly write: (text: string) => void
  /** What is no part of the answer, on standard error. */
  readonly note: (text: string) => void
  /** Says what takes long and how far it is; shown where it takes longer than a second, and gone before anything else is written. */
  readonly progress: (text: string) => void
  /** Asks; anything but y or yes is no, and no terminal is no. */
  readonly confirm: (question: string) => Promise<boolean>
}

/** Every verb by its name, with its one line; a verb's module is loaded only when it is asked for. */
export type VerbTable = Readonly<
  Record<string, { readonly summary: string; readonly load: () => Promise<Verb> }>
>

/** What a verb answers: the value for `--json`, and the text for people. */
export interface Answer {
  readonly value: Readonly<Record<string, unknown>>
  readonly text: string
  /** Printed as they are, in place of the text. */
  readonly bytes?: Uint8Array
  /** Long text goes through the pager where there is a terminal. */
  readonly paged?: boolean
  /** Default 0. Another than 0 or 1 is that of a program which the verb ran. */
  readonly exitCode?: number
}

/** The arguments of a verb after parsing. */
export type Arguments = Readonly<Record<string, unknown>>

/** One verb of the command line: what `--help` says and what it does. */
export interface Verb {
  readonly usage: string
  readonly summary: string
  readonly details?: string
  readonly examples: readonly (readonly [command: string, meaning: string])[]
  readonly options: (yargs: Argv) => Argv
  /** Options that may be given several times, declared with `array: true`; of any other the last value counts. */
  readonly repeatable?: readonly string[]
  /**
   * A call without options but `--json` and `--last` needs no parser, which takes longer to load than the verb takes to run.
   * Such a verb relies on no default of its options.
   */
  readonly isPlain?: true
  /** Options without a value that a plain call may have, too. */
  readonly plainFlags?: readonly string[]
  readonly run: (context: CliContext, args: Arguments) => Promise<Answer>
}

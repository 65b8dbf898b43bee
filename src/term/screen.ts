import { emitKeypressEvents } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Key, Size } from './review-state.ts'
import { encodeRow, type Row } from './spans.ts'

/** A terminal, as node gives it. */
export interface TerminalStreams {
  readonly input: Readable & { readonly setRawMode?: (isRaw: boolean) => unknown }
  readonly output: Writable & { readonly columns?: number; readonly rows?: number }
  readonly isColoured: boolean
}

export interface ScreenEvents {
  readonly onKey: (key: Key) => void
  readonly onResize: () => void
  /** The terminal is gone, or a signal asks to end: the screen is as it was already. */
  readonly onEnd: (signal: NodeJS.Signals | null) => void
}

export interface Screen {
  readonly size: () => Size
  readonly draw: (rows: readonly Row[]) => void
  /** Gives the terminal back as it was while a task has it, and takes it again. */
  readonly lend: <T>(task: () => Promise<T>) => Promise<T>
  /** Stops the process as the shell does it (Ctrl-Z), and goes on where the shell wakes it. */
  readonly stop: () => void
  readonly close: () => void
}

/** Alternate screen, no cursor, no wrapping at the last column; and back. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J'
const LEAVE = '\u001b[m\u001b[?7h\u001b[?25h\u001b[?1049l'
/** A terminal that knows it shows all between the two at once; others pass over it. */
const BEGIN = '\u001b[?2026h'
const END = '\u001b[?2026l'

const ASKING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Takes the terminal, and gives it back as it was on every way out: by `close`, by a signal, and when the process ends in any other way.
 */
export const openScreen = (streams: TerminalStreams, events: ScreenEvents): Screen =>
  new FullScreen(streams, events)

class FullScreen implements Screen {
  readonly #streams: TerminalStreams
  readonly #events: ScreenEvents
  #drawn: readonly string[] = []
  #isOpen = false

  constructor(streams: TerminalStreams, events: ScreenEvents) {
    this.#streams = streams
    this.#events = events
    emitKeypressEvents(streams.input)
    this.#enter()
  }

  size(): Size {
    const { columns, rows } = this.#streams.output
    return { columns: Math.max(20, columns || 80), rows: Math.max(8, rows || 24) }
  }

  draw(rows: readonly Row[]): void {
    if (!this.#isOpen) return
    const next = rows.map((row) => encodeRow(row, this.#streams.isColoured))
    const changed = next.flatMap((text, i) =>
      text === this.#drawn[i] ? [] : [`\u001b[${i + 1};1H\u001b[2K${text}`],
    )
    const below = this.#drawn.length === next.length ? '' : `\u001b[${next.length + 1};1H\u001b[J`
    this.#drawn = next
    if (changed.length > 0 || below !== '')
      this.#streams.output.write(`${BEGIN}${changed.join('')}${below}${END}`)
  }

  async lend<T>(task: () => Promise<T>): Promise<T> {
    this.close()
    try {
      return await task()
    } finally {
      this.#enter()
    }
  }

  stop(): void {
    this.close()
    process.once('SIGCONT', () => {
      this.#enter()
      this.#events.onResize()
    })
    process.kill(process.pid, 'SIGTSTP')
  }

  close = (): void => {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#listen('off')
    const { input, output } = this.#streams
    try {
      output.write(LEAVE)
      input.setRawMode?.(false)
    } catch {
      // The terminal is gone: there is nothing to put back.
    }
    input.pause()
  }

  #enter(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#drawn = []
    this.#listen('on')
    const { input, output } = this.#streams
    input.setRawMode?.(true)
    input.resume()
    output.write(ENTER)
  }

  #listen(how: 'on' | 'off'): void {
    const { input, output } = this.#streams
    process[how]('exit', this.close)
    for (const signal of ASKING) process[how](signal, this.#end)
    input[how]('error', this.#onGone)
    output[how]('error', this.#onGone)
    output[how]('resize', this.#onResize)
    input[how]('keypress', this.#onKeypress)
    input[how]('end', this.#onGone)
  }

  #onKeypress = (text: string | undefined, key: NodeKey): void => {
    const isTyped = text !== undefined && key.ctrl !== true && key.meta !== true && isPrintable(text)
    this.#events.onKey({ name: key.name ?? '', text: isTyped ? text : '', isControl: key.ctrl === true })
  }

  #onResize = (): void => {
    this.#drawn = []
    this.#events.onResize()
  }

  #end = (signal: NodeJS.Signals | null): void => {
    this.close()
    this.#events.onEnd(signal)
  }

  #onGone = (): void => this.#end(null)
}

interface NodeKey {
  readonly name?: string
  readonly ctrl?: boolean
  readonly meta?: boolean
}

/** A key that types: what a paste brings may be long, and hold anything. */
const isPrintable = (text: string): boolean => !/^[\p{Cc}]/u.test(text)

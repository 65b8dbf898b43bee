import { emitKeypressEvents, type Key } from 'node:readline'
import type { Readable } from 'node:stream'
import type { ChangeView } from '../flow/change-view.ts'
import { oneLine } from '../review/comment-text.ts'
import type { HostEvent } from './host.ts'

/** What the person at this host sees and says. */
export interface HostScreen {
  readonly tell: (event: HostEvent) => void
  readonly ask: (change: ChangeView, endsMs: number) => void
  /** Puts the terminal back as it was. Safe to call twice, and when a signal ends the process. */
  readonly close: () => void
}

export interface ScreenOptions {
  readonly input: Readable & { readonly isTTY?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown }
  readonly write: (text: string) => void
  /** Of the terminal; 0 = it does not say. */
  readonly columns: () => number
  readonly elapsedMs: () => number
  readonly server: string
  readonly writes: () => boolean
  readonly pending: () => Promise<number>
  /** The change for a person to decide on: its line, and its diff. */
  readonly draw: (change: ChangeView) => Promise<{ readonly text: string; readonly isWhole: boolean }>
  readonly onF3: () => void
  readonly onEnd: () => void
  readonly onDecision: (change: ChangeView, isYes: boolean) => Promise<string>
}

/** Facts of the footer. */
export interface Footer {
  readonly connection: string
  readonly writes: boolean
  readonly pending: number
  readonly last: string
  readonly asked: { readonly id: string; readonly leftMs: number } | null
}

/** One line, no wider than the terminal: what is asked, else how things stand. Text in it is shown, never obeyed. */
export function footerText({ connection, writes, pending, last, asked }: Footer, columns: number): string {
  const mode = writes ? 'Read&Write' : 'Read only'
  const text =
    asked === null
      ? [`F3 ${mode}`, connection, `${pending} waiting`, ...(last === '' ? [] : [last])]
          .map(oneLine)
          .join(' · ')
      : `Approve and land ${asked.id}? [y,n] ${Math.ceil(asked.leftMs / 1000)} s`
  const room = Math.max(20, columns === 0 ? 80 : columns) - 1
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`
}

/** The line of a log for one event; null = it is no news. */
export function eventText(event: HostEvent): string | null {
  switch (event.kind) {
    case 'connected':
      return `connected to ${event.server}`
    case 'lost':
      return `connection lost (${oneLine(event.reason)}); next try in ${Math.round(event.nextTryMs / 1000)} s`
    case 'mode':
      return `Local access: ${event.writes ? 'Read&Write.' : 'Read only.'}`
    case 'asked':
      return null
    case 'trouble':
      return oneLine(event.message)
    case 'answered':
      return answeredText(event)
  }
}

function answeredText({ op, path, error, change }: Extract<HostEvent, { kind: 'answered' }>): string {
  const what = `${oneLine(op)} ${oneLine(path)}`
  const id = change === null ? '' : `: ${change.id} ${change.state}`
  if (error === null) return `${what}${id === '' ? ': done' : id}`
  return `${what}${id}: ${oneLine(error.split('\n')[0] ?? '').slice(0, 200)}`
}

const TICK_MS = 1_000

/** A footer that stays below the log, and keys: F3, y and n where something is asked, Ctrl-C. */
export function openScreen(options: ScreenOptions): HostScreen {
  const { input, write } = options
  let connection = `connecting to ${options.server}`
  let last = ''
  let pending = 0
  let asked: { readonly change: ChangeView; readonly endsMs: number } | null = null
  let isClosed = false

  const draw = (): void => {
    if (isClosed) return
    const leftMs = asked === null ? 0 : asked.endsMs - options.elapsedMs()
    if (leftMs <= 0) asked = null
    const shown = asked === null ? null : { id: asked.change.id, leftMs }
    const footer = { connection, writes: options.writes(), pending, last, asked: shown }
    write(`\r\u001b[K${footerText(footer, options.columns())}`)
  }
  const above = (text: string): void => {
    if (isClosed) return
    write(`\r\u001b[K${text}\n`)
    draw()
  }
  const count = (): void => {
    options.pending().then(
      (found) => {
        pending = found
        draw()
      },
      (error: unknown) => above(oneLine(String((error as Error).message))),
    )
  }
  const decide = (isYes: boolean): void => {
    if (asked === null) return
    const { change } = asked
    asked = null
    above(`${change.id}: ${isYes ? 'yes' : 'no'}`)
    const failed = (error: unknown) => String((error as Error).message)
    options
      .onDecision(change, isYes)
      .catch(failed)
      .then((text) => {
        if (text !== '') above(oneLine(text))
        count()
      })
  }
  const onKey = (_text: string | undefined, key: Key): void => {
    if (key.ctrl === true && (key.name === 'c' || key.name === 'd')) options.onEnd()
    else if (key.name === 'f3') options.onF3()
    else if (key.name === 'y' || key.name === 'n') decide(key.name === 'y')
  }

  emitKeypressEvents(input)
  input.setRawMode?.(true)
  input.on('keypress', onKey)
  input.resume()
  const ticking = setInterval(draw, TICK_MS)
  draw()
  count()
  return {
    tell: (event) => {
      const text = eventText(event)
      if (event.kind === 'connected') connection = `connected to ${event.server}`
      if (event.kind === 'lost') connection = 'not connected'
      if (event.kind === 'answered') last = text ?? ''
      if (text !== null) above(text)
      if (event.kind === 'answered' && event.change !== null) count()
    },
    ask: (change, leftMs) => {
      const endsMs = options.elapsedMs() + leftMs
      options.draw(change).then(
        ({ text, isWhole }) => {
          // Nobody says yes to what they have not seen.
          if (isWhole) asked = { change, endsMs }
          above(text.trimEnd())
        },
        (error: unknown) => above(oneLine(String((error as Error).message))),
      )
    },
    close: () => {
      if (isClosed) return
      write('\r\u001b[K')
      isClosed = true
      clearInterval(ticking)
      input.off('keypress', onKey)
      input.setRawMode?.(false)
      input.pause()
    },
  }
}

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
  readonly onDecision: (change: ChangeView, isYes: boolean) => Promise<void>
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

/** The log, and a footer that stays below it. */
function openView({ write, columns }: Pick<ScreenOptions, 'write' | 'columns'>, footer: () => Footer) {
  let isClosed = false
  const draw = (): void => {
    if (!isClosed) write(`\r\u001b[K${footerText(footer(), columns())}`)
  }
  const above = (text: string): void => {
    if (isClosed) return
    write(`\r\u001b[K${text}\n`)
    draw()
  }
  return {
    draw,
    above,
    fault: (error: unknown) => above(oneLine(String((error as Error).message))),
    close: () => {
      if (!isClosed) write('\r\u001b[K')
      isClosed = true
    },
  }
}

/** A footer, and keys: F3, y and n where something is asked, Ctrl-C. */
export function openScreen(options: ScreenOptions): HostScreen {
  const { input } = options
  let connection = `connecting to ${options.server}`
  let last = ''
  let pending = 0
  let asked: { readonly change: ChangeView; readonly endsMs: number } | null = null
  const view = openView(options, () => {
    const leftMs = asked === null ? 0 : asked.endsMs - options.elapsedMs()
    if (leftMs <= 0) asked = null
    const shown = asked === null ? null : { id: asked.change.id, leftMs }
    return { connection, writes: options.writes(), pending, last, asked: shown }
  })
  const count = (): void => {
    const counted = options.pending().then((found) => {
      pending = found
      view.draw()
    })
    counted.catch(view.fault)
  }
  const decide = (isYes: boolean): void => {
    if (asked === null) return
    const { change } = asked
    asked = null
    view.above(`${change.id}: ${isYes ? 'yes' : 'no'}`)
    options.onDecision(change, isYes).catch(view.fault).finally(count)
  }
  const onKey = (_text: string | undefined, key: Key): void => {
    if (key.ctrl === true && (key.name === 'c' || key.name === 'd')) options.onEnd()
    else if (key.name === 'f3') options.onF3()
    else if (key.name === 'y' || key.name === 'n') decide(key.name === 'y')
  }
  const keys = listenToKeys(input, onKey)
  const ticking = setInterval(view.draw, TICK_MS)
  view.draw()
  count()
  return {
    tell: (event) => {
      const text = eventText(event)
      if (event.kind === 'connected') connection = `connected to ${event.server}`
      if (event.kind === 'lost') connection = 'not connected'
      if (event.kind === 'answered') {
        last = text ?? ''
        // It was decided elsewhere, or its time is up.
        if (event.change?.id === asked?.change.id) asked = null
      }
      if (text !== null) view.above(text)
      if (event.kind === 'answered' && event.change !== null) count()
    },
    ask: (change, leftMs) => {
      const endsMs = options.elapsedMs() + leftMs
      const drawn = options.draw(change).then(({ text, isWhole }) => {
        // Nobody says yes to what they have not seen.
        if (isWhole) asked = { change, endsMs }
        view.above(text.trimEnd())
      })
      drawn.catch(view.fault)
    },
    close: () => {
      view.close()
      clearInterval(ticking)
      keys.close()
    },
  }
}

/** Takes single keys until it is closed; then the terminal is as it was. */
function listenToKeys(input: ScreenOptions['input'], onKey: (text: string | undefined, key: Key) => void) {
  emitKeypressEvents(input)
  input.setRawMode?.(true)
  input.on('keypress', onKey)
  input.resume()
  let isOpen = true
  return {
    close: () => {
      if (!isOpen) return
      isOpen = false
      input.off('keypress', onKey)
      input.setRawMode?.(false)
      input.pause()
    },
  }
}

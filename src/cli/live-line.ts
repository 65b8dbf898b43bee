import { visible } from '../review/visible.ts'
import type { CliProcess } from './cli-process.ts'

/** One line on standard error that says what takes long and how far it is, and goes away before anything else is written. */
export interface LiveLine {
  /** `''` = nothing takes long any more. */
  readonly show: (text: string) => void
  readonly clear: () => void
}

const TICK_MS = 1000

/**
 * Shows nothing but at a terminal, and there only what takes longer than a second; the seconds count on while the text stays the same.
 */
export function openLiveLine({ stderr, env }: Pick<CliProcess, 'stderr' | 'env'>): LiveLine {
  if (stderr.isTTY !== true || env['TERM'] === 'dumb')
    return { show: () => undefined, clear: () => undefined }
  let text = ''
  let seconds = 0
  let isDrawn = false
  let timer: NodeJS.Timeout | null = null
  const wipe = () => {
    if (isDrawn) stderr.write('\r\u001b[K')
    isDrawn = false
  }
  const draw = () => {
    const since = seconds > 1 ? ` (${seconds} s)` : ''
    const line = `galley: ${visible(text)}${since}`
    // A terminal may not know its width.
    stderr.write(`\r\u001b[K${line.slice(0, (stderr.columns || 80) - 1)}`)
    isDrawn = true
  }
  const clear = () => {
    if (timer !== null) clearInterval(timer)
    timer = null
    seconds = 0
    wipe()
  }
  return {
    clear,
    show: (next) => {
      if (next === '') return clear()
      if (stage(next) !== stage(text)) seconds = 0
      text = next
      if (isDrawn) draw()
      timer ??= setInterval(() => {
        seconds++
        draw()
      }, TICK_MS).unref()
    },
  }
}

/** What is being done, without how far it is. */
const stage = (text: string): string => text.replace(/[0-9]+/g, '')

import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { builtProgram } from './galley.ts'
import type { TestRepo } from './repo.ts'

/** Whether tmux is there; tests at a terminal that is looked at need it. */
export const hasTmux: boolean = spawnSync('tmux', ['-V']).status === 0

/** A terminal that a test types into and looks at. */
export interface Pane extends Disposable {
  /** Words typed as they are; `<Enter>`, `<C-c>` and the like are tmux's names of keys. */
  readonly type: (text: string) => void
  readonly screen: () => string
  /** Waits until the screen shows it; fails with the screen after some seconds. */
  readonly shows: (what: string | RegExp) => Promise<string>
  readonly resize: (columns: number, rows: number) => void
  /** A value of tmux's own: `alternate_on`, `cursor_flag`, `pane_pid`. */
  readonly ask: (format: string) => string
  /** Closes the terminal, as a window is closed. */
  readonly hangUp: () => void
}

const LOOK_EVERY_MS = 40
const PATIENCE_MS = 15_000

/** Runs a shell line at a terminal of its own, in the repository. */
export function openPane(
  repo: TestRepo,
  line: string,
  {
    columns = 100,
    rows = 30,
    env = {},
  }: { columns?: number; rows?: number; env?: Record<string, string> } = {},
): Pane {
  const socket = `${repo.home}/tmux-${randomUUID().slice(0, 8)}`
  const surroundings = {
    ...repo.env,
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    TERM: 'xterm-256color',
    SHELL: '/bin/sh',
    ...env,
  }
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], {
      env: surroundings,
      cwd: repo.dir,
      encoding: 'utf8',
    })
  tmux('new-session', '-d', '-x', `${columns}`, '-y', `${rows}`, line)
  const screen = () => tmux('capture-pane', '-p')
  return {
    type: (text) => {
      for (const { 0: plain, 1: name } of text.matchAll(/<([A-Z][\w-]*)>|[^<]+|</g))
        tmux('send-keys', ...(name === undefined ? ['-l', plain] : [name]))
    },
    screen,
    shows: async (what) => {
      const end = performance.now() + PATIENCE_MS
      for (;;) {
        const text = screen()
        if (typeof what === 'string' ? text.includes(what) : what.test(text)) return text
        if (performance.now() > end) throw new Error(`the screen never shows ${what}:\n${text}`)
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
      }
    },
    resize: (x, y) => tmux('resize-window', '-x', `${x}`, '-y', `${y}`),
    ask: (format) => tmux('display-message', '-p', `#{${format}}`).trim(),
    hangUp: () => tmux('kill-session'),
    [Symbol.dispose]: () => void spawnSync('tmux', ['-S', socket, 'kill-server'], { env: surroundings }),
  }
}

/** A review, with the state of the terminal before and after it, and its exit code. */
export const reviewLine = (words = ''): string =>
  `stty -a > "$HOME/before"; '${process.execPath}' '${builtProgram}' review ${words}; echo "code $?"; stty -a > "$HOME/after"; cmp "$HOME/before" "$HOME/after" && echo same terminal; cat`

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { builtProgram } from './galley.ts'
import type { TestRepo } from './repo.ts'

const AGENT = fileURLToPath(new URL('scripted-agent.mjs', import.meta.url))

export interface AcpMessage {
  readonly id?: string | number | null
  readonly method?: string
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks into
  readonly params?: any
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks into
  readonly result?: any
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks into
  readonly error?: any
}

export interface Editor {
  readonly ask: (method: string, params: object) => Promise<AcpMessage>
  readonly send: (text: string) => void
  /** Answers one request of the agent's, or of galley's. */
  onRequest: (message: AcpMessage) => object | null
  /** Everything that came, in order. */
  readonly seen: AcpMessage[]
  readonly lines: string[]
  readonly stderr: () => string
  readonly kill: (signal: NodeJS.Signals) => void
  /** The next message that fits. */
  readonly next: (fits: (message: AcpMessage) => boolean) => Promise<AcpMessage>
  /** Closes the input and waits for the end. */
  readonly close: () => Promise<number | null>
  readonly exited: Promise<number | null>
  /** Opens a session as an editor does, at a directory. */
  readonly open: (version?: 1 | 2, cwd?: string) => Promise<AcpMessage>
  /** One prompt: steps for the scripted agent, or words. */
  readonly prompt: (steps: readonly object[] | string) => Promise<AcpMessage>
}

/** An editor in front of `galley acp`, as it was built, with a scripted agent behind it. */
export function startEditor(
  repo: TestRepo,
  { agent = [process.execPath, AGENT], options = [] as readonly string[], cwd = repo.dir, env = {} } = {},
): Editor {
  const child = spawn(process.execPath, [builtProgram, 'acp', ...options, '--', ...agent], {
    cwd,
    env: { ...repo.env, ...env },
  })
  const waiting = new Map<unknown, (message: AcpMessage) => void>()
  const awaited: {
    readonly fits: (message: AcpMessage) => boolean
    readonly found: (message: AcpMessage) => void
  }[] = []
  let asked = 0
  let stderr = ''
  let sessionId = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.on('error', () => undefined)
  const send = (text: string) => void child.stdin.write(`${text}\n`)
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve))
  const editor: Editor = {
    ask: (method, params) => {
      const id = ++asked
      send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      return new Promise((resolve) => {
        waiting.set(id, resolve)
        void exited.then(() => resolve({ error: { message: `ended: ${stderr}` } }))
      })
    },
    send,
    onRequest: () => null,
    seen: [],
    lines: [],
    stderr: () => stderr,
    kill: (signal) => child.kill(signal),
    next: (fits) => new Promise((found) => awaited.push({ fits, found })),
    close: () => {
      child.stdin.end()
      return exited
    },
    exited,
    open: async (version = 1, place = cwd) => {
      const fs = { readTextFile: true, writeTextFile: true }
      await editor.ask('initialize', { protocolVersion: version, clientCapabilities: { fs } })
      const opened = await editor.ask('session/new', { cwd: place, mcpServers: [] })
      sessionId = opened.result?.sessionId
      return opened
    },
    prompt: (steps) => {
      const text = typeof steps === 'string' ? steps : JSON.stringify(steps)
      return editor.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
    },
  }
  createInterface({ input: child.stdout }).on('line', (line) => {
    editor.lines.push(line)
    const message = JSON.parse(line) as AcpMessage
    editor.seen.push(message)
    for (const { fits, found } of awaited) if (fits(message)) found(message)
    if (message.method === undefined) waiting.get(message.id)?.(message)
    else if (message.id !== undefined) {
      const result = editor.onRequest(message)
      if (result !== null) send(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
    }
  })
  return editor
}

/** Answers galley's question as a person before an editor does. */
export const choosing =
  (optionId: string) =>
  ({ method }: AcpMessage) =>
    method === 'session/request_permission' ? { outcome: { outcome: 'selected', optionId } } : null

/** What the scripted agent saw, before the paths were changed for the editor. */
// biome-ignore lint/suspicious/noExplicitAny: what a test looks into
export const unhidden = (text: string): any => JSON.parse(Buffer.from(text, 'base64').toString('utf8'))

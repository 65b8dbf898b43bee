import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const PYTHON = '/usr/bin/python3'

/** Debian's python3-socketio and python3-aiohttp; null = they are here. */
export const missingPeers: string | null =
  spawnSync(PYTHON, ['-c', 'import socketio, aiohttp']).status === 0
    ? null
    : 'python3-socketio and python3-aiohttp are not installed'

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the peer says
export type News = any

/** A peer in a process of its own: JSON lines in and out; ended with the scope. */
export function startPeer(script: 'server.py' | 'client.py', args: readonly string[]) {
  const file = join(import.meta.dirname, '../fixtures/remote', script)
  const child: ChildProcess = spawn(PYTHON, [file, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  const news: News[] = []
  const waiting = new Set<() => void>()
  let errors = ''
  const wake = () => {
    for (const one of waiting) one()
  }
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8')
  })
  let isOver = false
  child.once('close', () => {
    isOver = true
    wake()
  })
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) => {
      news.push(JSON.parse(line))
      wake()
    })
  const told = async (fits: (one: News) => boolean, after = 0): Promise<News> => {
    for (;;) {
      const found = news.slice(after).find(fits)
      if (found !== undefined) return found
      if (isOver) throw new Error(`the peer ended: ${errors}`)
      await new Promise<void>((resolve) => {
        const one = () => {
          waiting.delete(one)
          resolve()
        }
        waiting.add(one)
      })
    }
  }
  let last = 0
  const say = async (command: Readonly<Record<string, unknown>>): Promise<News> => {
    const id = ++last
    child.stdin?.write(`${JSON.stringify({ ...command, id })}\n`)
    return (await told((one) => one.id === id)).answer
  }
  return {
    news,
    told,
    say,
    end: () => child.stdin?.end(),
    [Symbol.asyncDispose]: async () => {
      if (isOver) return
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGKILL')
      await closed
    },
  }
}

/** A server for hosts: its address, and what it is told to do. */
export async function startServer(settings: Readonly<Record<string, unknown>> = {}) {
  const peer = startPeer('server.py', [JSON.stringify(settings)])
  const { port } = await peer.told((one) => one.port !== undefined)
  const op = (
    data: Readonly<Record<string, unknown>>,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<News> => peer.say({ do: 'op', data, ...more })
  return { ...peer, port: Number(port), url: `http://127.0.0.1:${port}`, op }
}

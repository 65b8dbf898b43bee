import { createHash } from 'node:crypto'
import type { ChangeView } from '../flow/change-view.ts'
import type { HostAnswer, HostOperation, HostRules } from '../flow/host/host-operation.ts'
import { GalleyError } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import type { ServerHttp } from './host-http.ts'
import { type HostLink, openHostLink } from './host-link.ts'
import { type Json, OPERATION_MS } from './wire.ts'

/** Of the server's 30 seconds, those that a landing may take after the last moment at which it may begin. */
const LANDING_MS = 5_000
const TREE_MS = 30_000
/** The server forgets a tree after 90 seconds, changed or not. */
const TREE_AGAIN_MS = 60_000
const BACK_OFF_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]

/** What the person at this host is told; the views of it differ, the facts do not. */
export type HostEvent =
  | { readonly kind: 'connected'; readonly server: string }
  | { readonly kind: 'lost'; readonly reason: string; readonly nextTryMs: number }
  | { readonly kind: 'mode'; readonly writes: boolean }
  | { readonly kind: 'asked'; readonly op: string; readonly path: string }
  | {
      readonly kind: 'answered'
      readonly op: string
      readonly path: string
      readonly error: string | null
      readonly change: ChangeView | null
    }
  | { readonly kind: 'trouble'; readonly message: string }

export interface HostOptions {
  readonly server: ServerHttp
  /** Before each connection: a server that restarted knows no login any more. @throws GalleyError `login-failed`. */
  readonly logIn: () => Promise<void>
  readonly clock: {
    readonly elapsedMs: () => number
    readonly now: () => number
    readonly random: (count: number) => Uint8Array
  }
  readonly root: string
  readonly context: string | null
  /** How long the server waits for an answer; default 30 seconds, as that system does. */
  readonly operationMs?: number
  readonly allowsIgnored: boolean
  readonly writes: boolean
  readonly operate: (operation: HostOperation, rules: HostRules) => Promise<HostAnswer>
  /** The files of the work tree, drawn. */
  readonly tree: () => Promise<string>
  /** Shows a change to the person here, who decides through any surface; null = nobody is here to ask. */
  readonly ask: ((change: ChangeView, endsMs: number) => void) | null
  readonly tell: (event: HostEvent) => void
}

export interface Host {
  /** Connects, and stays connected until `stop`. @throws GalleyError, where the first connection fails, or the server is none any more. */
  readonly run: () => Promise<void>
  readonly toggleWrites: () => void
  readonly writes: () => boolean
  /** Ends the connection; an operation that runs is run to its end, but lands nothing any more. */
  readonly stop: () => void
}

/** A host of Agent Zero's protocol: one repository, one server. Decides nothing but who may ask for what, and until when. */
export function makeHost(options: HostOptions): Host {
  const { server, clock, tell } = options
  let writes = options.writes
  let link: HostLink | null = null
  let isStopped = false
  let wake = (): void => undefined
  const running = new Set<Promise<unknown>>()
  const operations = inLine(options, () => ({ writes, isOpen: link?.isOpen() === true && !isStopped }))

  const trouble = (error: unknown) => tell({ kind: 'trouble', message: String((error as Error).message) })

  const connect = async (): Promise<Connection> => {
    let lost: (reason: string) => void = () => undefined
    const closed = new Promise<string>((resolve) => {
      lost = resolve
    })
    await options.logIn()
    link = await openHostLink({
      server,
      context: options.context,
      elapsedMs: clock.elapsedMs,
      randomId: () => Buffer.from(clock.random(16)).toString('hex'),
      remoteFiles: () => ({
        enabled: true,
        write_enabled: writes,
        mode: writes ? 'read_write' : 'read_only',
      }),
      operate: ({ data }) => noted(running, operations(data)),
      onClosed: lost,
    })
    tell({ kind: 'connected', server: server.base })
    return { closed }
  }

  const run = async (): Promise<void> => {
    const stopped = new Promise<null>((resolve) => {
      wake = () => resolve(null)
    })
    let { closed } = await connect()
    while (!isStopped) {
      const ended = Promise.race([closed, stopped])
      sendTrees(options, link as HostLink, ended).catch(trouble)
      const reason = await ended
      link?.close()
      const again =
        reason === null
          ? null
          : await comeBack(options, { reason, stopped, connect, isStopped: () => isStopped })
      if (again === null) break
      closed = again.closed
    }
    await Promise.allSettled(running)
  }

  return {
    run,
    writes: () => writes,
    toggleWrites: () => {
      writes = !writes
      tell({ kind: 'mode', writes })
      // What counts is this end's own answer; the server is told so that it offers its tools rightly.
      if (link?.isOpen() === true) link.sayHello().catch(trouble)
    },
    stop: () => {
      isStopped = true
      link?.close()
      wake()
    },
  }
}

/** Remembers a task until it has ended. */
function noted<T>(running: Set<Promise<unknown>>, task: Promise<T>): Promise<T> {
  running.add(task)
  const forget = () => running.delete(task)
  task.then(forget, forget)
  return task
}

interface Connection {
  /** Why it ended. */
  readonly closed: Promise<string>
}

interface Lost {
  readonly reason: string
  readonly stopped: Promise<null>
  readonly isStopped: () => boolean
  readonly connect: () => Promise<Connection>
}

/** Tries until there is a connection again; null = the host was stopped. */
async function comeBack({ clock, tell }: HostOptions, lost: Lost): Promise<Connection | null> {
  for (let tries = 0; ; tries++) {
    const nextTryMs = backOff(tries, clock.random(1)[0] ?? 0)
    tell({ kind: 'lost', reason: lost.reason, nextTryMs })
    await waitFor(nextTryMs, lost.stopped)
    if (lost.isStopped()) return null
    const again = await lost.connect().catch(untilBack)
    if (again !== null) return again
  }
}

/** A server that restarts is waited for; one that is another, or wants a login again, is the person's business. */
function untilBack(error: unknown): null {
  if (error instanceof GalleyError && error.code === 'unreachable') return null
  throw error
}

/** With jitter, so that hosts of one server do not come back in step. */
const backOff = (tries: number, chance: number): number =>
  Math.round((BACK_OFF_MS[Math.min(tries, BACK_OFF_MS.length - 1)] ?? 30_000) * (0.75 + (chance / 255) * 0.5))

/** Edits one after another, as they came; reads at once. */
function inLine(options: HostOptions, state: () => { readonly writes: boolean; readonly isOpen: boolean }) {
  let last: Promise<unknown> = Promise.resolve()
  return async (data: Json): Promise<Json> => {
    const { clock, tell } = options
    const begunMs = clock.elapsedMs()
    const lastMs = begunMs + (options.operationMs ?? OPERATION_MS) - LANDING_MS
    const { op_id: _, op, context_id: context, ...input } = data
    const named = typeof op === 'string' ? op.slice(0, 100) : ''
    const path = typeof input['path'] === 'string' ? input['path'].slice(0, limits.quoteMaxCharacters) : ''
    tell({ kind: 'asked', op: named, path })
    const left = () => Math.max(0, lastMs - clock.elapsedMs())
    const ask = options.ask
    const approval: HostRules['approval'] =
      ask === null
        ? { kind: 'none' }
        : {
            kind: 'wait',
            get timeoutMs() {
              return left()
            },
            onWaiting: (change) => ask(change, left()),
          }
    const rules = (): HostRules => ({
      session: sessionOf(context),
      allowsWrites: state().writes,
      allowsIgnored: options.allowsIgnored,
      approval,
      heldBack: () => {
        if (!state().isOpen) return 'the connection to the server is gone'
        return left() > 0 ? null : 'the time of the call was up'
      },
    })
    const edits = /^\s*(?:write|patch)\s*$/i.test(named)
    const task = edits
      ? last.then(() => options.operate({ op: named, input }, rules()))
      : options.operate({ op: named, input }, rules())
    if (edits) last = task.catch(() => undefined)
    const { wire, change } = await task
    tell({ kind: 'answered', op: named, path, error: wire.ok ? null : wire.error, change })
    return wire
  }
}

/** A conversation of the server's is a session; hostile text, so by its hash where it is no plain name. */
function sessionOf(context: unknown): string {
  if (typeof context !== 'string' || context === '') return 'agent-zero'
  const isPlain = /^[\w.-]{1,100}$/.test(context)
  return `agent-zero ${isPlain ? context : createHash('sha256').update(context).digest('hex').slice(0, 32)}`
}

/** So long, or until something else ends first; no timer stays behind. */
async function waitFor(ms: number, ended: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([slept, ended])
  clearTimeout(timer)
}

async function sendTrees(
  { tree, clock, root, tell }: HostOptions,
  link: HostLink,
  ended: Promise<unknown>,
): Promise<void> {
  let sent = { hash: '', atMs: Number.NEGATIVE_INFINITY }
  while (link.isOpen()) {
    const text = await tree()
    const hash = createHash('sha256').update(text).digest('hex')
    if (hash !== sent.hash || clock.elapsedMs() - sent.atMs >= TREE_AGAIN_MS) {
      const update = {
        root_path: root,
        tree: text,
        tree_hash: hash,
        generated_at: new Date(clock.now()).toISOString(),
        source: 'a0',
      }
      const isTaken = await link.sendTree(update).catch((error: unknown) => {
        if (link.isOpen()) tell({ kind: 'trouble', message: String((error as Error).message) })
        return false
      })
      if (isTaken) sent = { hash, atMs: clock.elapsedMs() }
    }
    await waitFor(TREE_MS, ended)
  }
}

import type { Readable, Writable } from 'node:stream'
import { type LiveTree, openLiveTree } from '../flow/live/live-tree.ts'
import { placeInRepository } from '../flow/live/session-place.ts'
import { start } from '../flow/run/run.ts'
import type { RunOutcome, RunRequest } from '../flow/run/run-work.ts'
import { runVerb } from '../flow/run-verb.ts'
import type { World } from '../flow/world.ts'
import { LineScanner } from '../intake/line-scanner.ts'
import { MESSAGE_MAX_BYTES, MESSAGE_MAX_DEPTH } from '../intake/message-limits.ts'
import { INVALID_REQUEST, isObject, type Message, PARSE_ERROR } from './json-rpc.ts'
import { AcpProxy } from './proxy.ts'

export interface AcpOptions {
  readonly request: Pick<
    RunRequest,
    'command' | 'withUncommitted' | 'usesSetup' | 'permissionMode' | 'directory'
  >
  /** galley's own server, as the agent starts it. */
  readonly mcp: { readonly command: string; readonly args: readonly string[] }
  /** The editor. */
  readonly input: Readable
  readonly output: Writable
  /** What an agent prints that is no message; people read it. */
  readonly note: (text: string) => void
}

/** What is left when the agent has ended. */
export interface AcpOutcome {
  readonly exitCode: number
  readonly runs: readonly RunOutcome[]
}

/** An agent whose editor is gone gets this long to end by itself, and as long again when it was asked to. */
const GRACE_MS = 3_000

/**
 * Stands between an editor and an agent that speak the Agent Client Protocol, until one of them goes away.
 *
 * @throws GalleyError as `run` does; what the agent did is kept then too.
 */
export async function serveAcp(world: World, options: AcpOptions): Promise<AcpOutcome> {
  const { input, output, note } = options
  const runRequest: RunRequest = { ...options.request, forwardsSignals: true }
  const job = oneAtATime(world)
  const first = await openLiveTree(world, runRequest)
  const trees: LiveTree[] = [first]
  let hasEditorGone = false
  let proxy: AcpProxy | null = null
  const ended = await start(first.work, (agent) => {
    const made = new AcpProxy({
      world,
      job,
      first,
      openTree: async (place) => {
        const tree = await openLiveTree(world, { ...runRequest, directory: place })
        trees.push(tree)
        return tree
      },
      placeOf: (directory) => placeInRepository(world, directory),
      mcp: options.mcp,
      toEditor: writerOf(output, agent.output),
      toAgent: writerOf(agent.input, input),
      random: () => Buffer.from(world.clock.random(12)).toString('hex'),
    })
    proxy = made
    const gone = () => {
      if (hasEditorGone) return
      hasEditorGone = true
      agent.input.end()
      setTimeout(() => agent.signal('SIGTERM'), GRACE_MS).unref()
      setTimeout(() => agent.signal('SIGKILL'), 2 * GRACE_MS).unref()
    }
    input.once('end', gone).once('close', gone).once('error', gone)
    output.once('error', gone)
    readMessages(input, {
      take: (message, text) => made.fromEditor(message, text),
      refuse: (id, code, why) => made.refused('editor', id, code, why),
      strange: (text) => made.refused('editor', null, PARSE_ERROR, `invalid-json: ${text}`),
    })
    readMessages(agent.output, {
      take: (message, text) => made.fromAgent(message, text),
      refuse: (id, code, why) => made.refused('agent', id, code, why),
      strange: note,
    })
  })
  const made = proxy as AcpProxy | null
  await made?.end(`the agent has ended (${ended.signal ?? `exit code ${ended.exitCode}`})`)
  const runs = await endAll(trees, (tree) =>
    job(() => tree.end(ended, made?.wordsFor(tree) ?? { title: '', body: '' })),
  )
  input.pause()
  return { exitCode: hasEditorGone ? 0 : ended.status, runs }
}

/** Every tree is given back, whatever becomes of another one. */
async function endAll(
  trees: readonly LiveTree[],
  end: (tree: LiveTree) => Promise<RunOutcome>,
): Promise<readonly RunOutcome[]> {
  const settled = await Promise.allSettled(trees.map(end))
  const failed = settled.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}

/** Landings, proposals and trees of one process follow one another. */
function oneAtATime(world: World) {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(task: () => Promise<T>): Promise<T> => {
    const next = last.then(() => runVerb(world, task))
    last = next.catch(() => undefined)
    return next
  }
}

/** Where a reader is slow, the other side is not read until it has caught up. */
function writerOf(to: Writable, source: Readable) {
  return (message: Message, text?: string): void => {
    if (to.destroyed || to.writableEnded) return
    if (to.write(`${text ?? JSON.stringify(message)}\n`)) return
    source.pause()
    to.once('drain', () => source.resume())
  }
}

interface Reader {
  readonly take: (message: Message, text: string) => void
  readonly refuse: (id: string | number | null, code: number, why: string) => void
  /** A line that is no JSON. */
  readonly strange: (text: string) => void
}

function readMessages(from: Readable, { take, refuse, strange }: Reader): void {
  const scanner = new LineScanner({ lineMaxBytes: MESSAGE_MAX_BYTES, maxDepth: MESSAGE_MAX_DEPTH })
  from.on('data', (chunk: Buffer) => {
    for (const line of scanner.feed(chunk)) {
      if (line.kind === 'refused') {
        const why =
          line.reason === 'too-large'
            ? `too-large: the message has more than ${MESSAGE_MAX_BYTES} bytes`
            : `invalid-json: the message is nested more than ${MESSAGE_MAX_DEPTH} levels deep`
        refuse(line.id, INVALID_REQUEST, why)
        continue
      }
      const value = parsed(line.text)
      if (value === undefined) strange(line.text)
      // The protocol has no batches here: in one, a message would pass unseen.
      else if (isObject(value)) take(value, line.text)
      else refuse(null, INVALID_REQUEST, 'the line is no JSON-RPC message')
    }
  })
}

/** undefined = it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

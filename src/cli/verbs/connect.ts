import { approve } from '../../flow/approve.ts'
import type { ChangeView } from '../../flow/change-view.ts'
import { hostOperation } from '../../flow/host/host-operation.ts'
import { hostTree } from '../../flow/host/host-tree.ts'
import { openPlaces, type Places } from '../../flow/places.ts'
import { reject } from '../../flow/reject.ts'
import { readPairs } from '../../flow/show.ts'
import { status } from '../../flow/status.ts'
import { refuse } from '../../model/error.ts'
import { type Host, makeHost } from '../../remote/host.ts'
import { openServer, type ServerHttp } from '../../remote/host-http.ts'
import { eventText, type HostScreen, openScreen } from '../../remote/host-screen.ts'
import { askAtTerminal } from '../ask-secret.ts'
import { usageError } from '../errors.ts'
import { changeLine, diffText, noticesOf } from '../text.ts'
import type { Arguments, CliContext, Verb } from '../verb.ts'

export const connect: Verb = {
  usage: 'connect <url> [options]',
  summary: 'Serve this repository to an Agent Zero server: its file tools, through the gate.',
  details:
    "Connects to an Agent Zero server as its command-line host: the server's text_editor_remote reads and edits files of this repository, and\nnothing outside it. It starts read-only; F3 switches to Read&Write and back. An edit becomes a change: a rule lands it, or you are asked here\nwithin the 30 seconds that the server waits; otherwise it stays pending, the agent is told its id, and the same call takes effect once it is\napproved. Nothing is applied after the server gave up. Ctrl-C ends it.\n\nA login, where the server wants one, is asked for, or taken from GALLEY_CONNECT_USER and GALLEY_CONNECT_PASSWORD.",
  examples: [
    ['galley connect http://localhost:5080', 'this repository, read-only until F3'],
    ['galley connect https://agent.example --context 3f9a', 'for one chat'],
    [
      'galley connect http://localhost:5080 --write </dev/null',
      'without a terminal: only what a rule approves lands',
    ],
  ],
  options: (yargs) =>
    yargs
      .option('context', { type: 'string', describe: 'The chat that this host serves first' })
      .option('write', { type: 'boolean', default: false, describe: 'Start with Read&Write' })
      .option('allow-ignored', {
        type: 'boolean',
        default: false,
        describe: 'Serve files that the ignore rules cover, too',
      }),
  run: async (context, args) => {
    const [address, ...more] = args['_'] as readonly unknown[]
    if (address === undefined || more.length > 0) throw usageError('connect takes one address')
    const world = await context.world()
    const root = world.repository.workTree
    if (root === null) refuse('unsupported-repository', 'a bare repository has no files to serve', {})
    const server = openServer(String(address))
    const logIn = logInWhereAsked(server, context)
    await logIn()
    const places = openPlaces({ directories: [root], open: context.open, idleMs: 5_000 })
    try {
      await serve({ context, args, server, logIn, places, root })
    } finally {
      await places.close()
    }
    return { value: {}, text: '' }
  },
}

interface Serving {
  readonly context: CliContext
  readonly args: Arguments
  readonly server: ServerHttp
  readonly logIn: () => Promise<void>
  readonly places: Places
  readonly root: string
}

async function serve(serving: Serving): Promise<void> {
  const { context, args, server, places, root } = serving
  const isSeen = context.terminal.isInteractive && !context.json
  let screen: HostScreen | null = null
  const host = makeHost({
    server,
    logIn: serving.logIn,
    clock: context.clock,
    root,
    context: (args['context'] as string | undefined) ?? null,
    allowsIgnored: args['allow-ignored'] === true,
    writes: args['write'] === true,
    operate: (operation, rules) => places.use(undefined, (world) => hostOperation(world, operation, rules)),
    tree: () => places.use(undefined, hostTree),
    ask: isSeen ? (change, leftMs) => screen?.ask(change, leftMs) : null,
    tell: (event) => {
      if (screen !== null) return screen.tell(event)
      const text = eventText(event)
      if (text !== null) context.terminal.note(`galley: ${text}\n`)
    },
  })
  const ending = onSignals(host)
  if (isSeen) screen = screenOf(serving, host)
  try {
    await host.run()
  } finally {
    ending()
    screen?.close()
  }
}

/** @returns What takes the listeners away. */
function onSignals(host: Host): () => void {
  const end = () => host.stop()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, end)
  return () => {
    for (const signal of signals) process.off(signal, end)
  }
}

function screenOf({ context, server, places }: Serving, host: Host): HostScreen {
  const { terminal } = context
  const screen = openScreen({
    input: context.stdin,
    write: terminal.write,
    columns: () => process.stdout.columns ?? 0,
    elapsedMs: context.clock.elapsedMs,
    server: server.base,
    writes: host.writes,
    pending: () => places.use(undefined, async (world) => (await status(world)).pending.length),
    draw: (change) =>
      places.use(undefined, async (world) => {
        const diff = diffText(await readPairs(world, change.id), terminal)
        const { text, isWhole } = shortened(diff, change)
        return { text: `${changeLine(change, terminal)}${noticesOf(change, terminal)}${text}`, isWhole }
      }),
    onF3: host.toggleWrites,
    onEnd: host.stop,
    onDecision: ({ id, digest }, isYes) =>
      places.use(undefined, async (world) => {
        if (isYes) await approve(world, { id, digest, via: 'terminal' })
        else await reject(world, { id, reason: 'denied at the prompt' })
      }),
  })
  // Whatever ends the process: the terminal is put back.
  process.once('exit', screen.close)
  return screen
}

const SHOWN_LINES = 200

/** What is longer than a person can look through in half a minute is decided on elsewhere. */
function shortened(diff: string, { id }: ChangeView): { readonly text: string; readonly isWhole: boolean } {
  const lines = diff.split('\n')
  if (lines.length <= SHOWN_LINES) return { text: diff, isWhole: true }
  const rest = `… ${lines.length - SHOWN_LINES} more lines. Decide in another terminal: galley review ${id}\n`
  return { text: `${lines.slice(0, SHOWN_LINES).join('\n')}\n${rest}`, isWhole: false }
}

/**
 * What logs in where the server asks for it. What a person typed is kept in memory, for a server that restarts.
 *
 * @returns It throws GalleyError `login-failed`.
 */
function logInWhereAsked(
  server: ServerHttp,
  { env, terminal, stdin, json }: CliContext,
): () => Promise<void> {
  let username = env['GALLEY_CONNECT_USER'] ?? null
  let password = env['GALLEY_CONNECT_PASSWORD'] ?? null
  const ask = (question: string, isSecret: boolean) =>
    terminal.isInteractive && !json ? askAtTerminal(stdin, terminal.write, question, isSecret) : null
  return async () => {
    const { needsLogin } = await server.discover()
    if (!needsLogin || (await server.isLoggedIn())) return
    username ??= await ask('user name: ', false)
    password ??= username === null ? null : await ask('password: ', true)
    if (username === null || password === null) refuse('login-failed', `${server.base} wants a login`, {})
    if (await server.logIn(username, password)) return
    refuse('login-failed', `${server.base} did not take the name and the password`, {})
  }
}

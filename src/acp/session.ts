import { decideByClient, questionForClient } from '../flow/client-approval.ts'
import { land } from '../flow/land/land.ts'
import { type LiveTree, type Turn, turnRefusal } from '../flow/live/live-tree.ts'
import { showChange } from '../flow/show.ts'
import type { World } from '../flow/world.ts'
import { commentText } from '../review/comment-text.ts'
import { visible } from '../review/visible.ts'
import type { Fields } from './json-rpc.ts'
import { fieldsOf } from './json-rpc.ts'
import { type Answer, branchOf, type ProtocolVersion, questionParams, sizeOf, titleOf } from './wire.ts'

/** What a session needs of the proxy that it belongs to. */
export interface SessionHost {
  readonly world: World
  /** Runs one piece of work in the repository; one at a time. */
  readonly job: <T>(task: () => Promise<T>) => Promise<T>
  readonly version: () => ProtocolVersion
  /** Says something in the conversation. */
  readonly say: (sessionId: string, text: string) => void
  /** Asks the person before the editor. */
  readonly ask: (sessionId: string, params: object) => Promise<Answer>
}

/** One conversation of the editor's with the agent, and its tree. */
export interface Session {
  readonly tree: LiveTree
  /** The work tree's root as the editor spells it. */
  readonly root: string
  id: string | null
  /** What comes of the turn is called so. */
  title: string
  /** What the agent knows of its change. */
  told: { readonly id: string; readonly state: string; readonly comments: number } | null
}

export const wordsOf = (session: Session) => ({ title: session.title, body: '' })

/**
 * Ends a turn: what the agent did becomes a change, the person is asked about it, and a yes lands it. Never fails: what stands in the way is
 * said in the conversation.
 */
export async function endTurn(
  host: SessionHost,
  session: Session,
  { sessionId, asks }: { readonly sessionId: string; readonly asks: boolean },
): Promise<void> {
  const say = (text: string) => host.say(sessionId, text)
  try {
    const turn = await host.job(() => session.tree.takeTurn(wordsOf(session)))
    for (const remark of turn.remarks) say(visible(remark))
    if (turn.change === null) return
    const { id, state, comments } = turn.change
    session.told = { id, state, comments: comments.length }
    if (asks) await decide(host, session, sessionId, turn.change)
    else say(waits(turn.change))
  } catch (error) {
    say(visible(turnRefusal(error)))
  }
}

async function decide(
  host: SessionHost,
  session: Session,
  sessionId: string,
  { id, revision, comments, state }: NonNullable<Turn['change']>,
): Promise<void> {
  const asked = await host.job(() => questionForClient(host.world, id)).catch((error: unknown) => error)
  if (asked instanceof Error) {
    host.say(sessionId, visible(`${id} revision ${revision} is staged. ${turnRefusal(asked)}`))
    return
  }
  const { change, pairs } = asked as Awaited<ReturnType<typeof questionForClient>>
  const params = questionParams(host.version(), { sessionId, root: session.root, change, pairs })
  const answer = await host.ask(sessionId, params)
  const said = await host.job(() => carryOut(host.world, session.tree, change, answer))
  session.told = { id, state: answer === 'land' ? 'landed' : state, comments: comments.length }
  host.say(sessionId, said)
}

const waits = (change: NonNullable<Turn['change']>): string =>
  `${change.id} waits, ${sizeOf(change)}; nothing has landed. To decide: galley review ${change.id}`

async function carryOut(
  world: World,
  tree: LiveTree,
  change: NonNullable<Turn['change']>,
  answer: Answer,
): Promise<string> {
  const { id, digest } = change
  if (answer === 'later') return waits(change)
  if (answer === 'reject') {
    await decideByClient(world, { id, digest }, { kind: 'reject', comment: '' })
    return `${id} was rejected; nothing has landed. Say in your next message what should be different.`
  }
  await decideByClient(world, { id, digest }, { kind: 'approve' })
  const { landed } = await land(world, { id })
  tree.noteLanding(landed)
  return `${id} has landed on ${branchOf(change)}, ${sizeOf(change)}. To take it back: galley undo ${id}`
}

/** What became of the agent's change since it last heard of it, for its next turn; null = nothing. */
export async function newsFor(host: SessionHost, session: Session): Promise<string | null> {
  const { told } = session
  if (told === null) return null
  const { change } = await host.job(() => showChange(host.world, told.id))
  const comments = change.comments.slice(told.comments).map(commentText)
  const isNew = change.state !== told.state
  session.told = { id: told.id, state: change.state, comments: change.comments.length }
  const state =
    change.state === 'rejected'
      ? `The user rejected your change ${change.id}: ${visible(change.rejection ?? '')}. Your files are as you left them: mend them, and the result is shown again.`
      : change.state === told.state
        ? `A reviewer commented on your change ${change.id}.`
        : `Your change ${change.id} is ${change.state}.`
  return isNew || comments.length > 0 ? [`[galley] ${state}`, ...comments].join('\n') : null
}

/** The person's words with galley's news behind them. A command of the agent's own (`/name`) stays alone: the news waits. */
export async function promptWithNews(host: SessionHost, session: Session, params: Fields): Promise<Fields> {
  const { prompt } = params
  session.title = titleOf(prompt)
  if (!Array.isArray(prompt) || session.title.startsWith('/')) return params
  const news = await newsFor(host, session).catch(() => null)
  return news === null ? params : { ...params, prompt: [...prompt, { type: 'text', text: news }] }
}

/** The agent's view of a session: a tree for its directory, and galley among its servers. */
export function sessionParams(
  params: Fields,
  tree: LiveTree,
  mcp: { readonly command: string; readonly args: readonly string[] },
  version: ProtocolVersion,
): Fields {
  const given = params['mcpServers']
  const servers: readonly unknown[] = Array.isArray(given) ? given : []
  const own = { ...(version === 1 ? {} : { type: 'stdio' }), name: 'galley', ...mcp, env: [] }
  // Settings of the repository could name another program so: the agent gets this one.
  const others = servers.filter((server) => fieldsOf(server)['name'] !== 'galley')
  return { ...params, cwd: tree.directory, mcpServers: [...others, own] }
}

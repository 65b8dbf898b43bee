import type { LiveTree } from '../flow/live/live-tree.ts'
import { answerFiles } from './agent-files.ts'
import {
  failure,
  fieldsOf,
  INTERNAL_ERROR,
  idKey,
  isId,
  METHOD_NOT_FOUND,
  type Message,
  type RpcId,
  refusalAnswer,
  request,
  success,
} from './json-rpc.ts'
import { endTurn, promptWithNews, type Session, type SessionHost, sessionParams, wordsOf } from './session.ts'
import { Sessions, type SessionsOptions } from './sessions.ts'
import { type Answer, answerOf, isIdle, type ProtocolVersion, sayIn } from './wire.ts'

export interface ProxyOptions extends SessionsOptions {
  readonly mcp: { readonly command: string; readonly args: readonly string[] }
  /** `text` is the line as it came, where nothing in it was changed. */
  readonly toEditor: (message: Message, text?: string) => void
  readonly toAgent: (message: Message, text?: string) => void
  readonly random: () => string
}

/** Requests that nobody has answered yet, of each side. */
const WAITING_MAX = 4_096

const OPENING: readonly unknown[] = ['session/new', 'session/load', 'session/resume', 'session/fork']

interface Waiting {
  readonly id: RpcId
  readonly method: unknown
  readonly session: Session | null
}

interface Question {
  readonly sessionId: string
  readonly answer: (answer: Answer) => void
}

/** Ids of galley's own questions; no editor makes such ones. */
const OWN_ID = /^galley-[0-9a-f]{24}$/

/** What stands between an editor and an agent: each message of either side comes in here, and goes on as the other is to see it. */
export class AcpProxy {
  readonly #options: ProxyOptions
  readonly #host: SessionHost
  readonly #sessions: Sessions
  /** What the editor asked the agent, and the agent the editor. */
  readonly #ofEditor = new Map<string, Waiting>()
  readonly #ofAgent = new Map<string, Waiting>()
  /** Galley's own questions. */
  readonly #questions = new Map<string, Question>()
  readonly #tasks = new Set<Promise<void>>()
  #version: ProtocolVersion = 1
  /** The editor's messages to a session wait behind what galley puts in before one of them. */
  #gate: Promise<void> | null = null
  #hasEnded = false

  constructor(options: ProxyOptions) {
    this.#options = options
    this.#sessions = new Sessions(options)
    const { world, job, random, toEditor } = options
    this.#host = {
      world,
      job,
      version: () => this.#version,
      say: (sessionId, text) => toEditor(sayIn(this.#version, sessionId, text, `galley-${random()}`)),
      ask: (sessionId, params) => this.#ask(sessionId, params),
    }
  }

  fromEditor(message: Message, text: string): void {
    if (this.#takeAnswer(message)) return
    if (this.#gate === null) this.#pass(message, text)
    else this.#afterGate(() => this.#pass(message, text))
  }

  /** A message that went past while another one waited would come before it. */
  #afterGate(next: () => unknown): void {
    const gate = (this.#gate ?? Promise.resolve()).then(async () => {
      await next()
    })
    this.#gate = gate
    this.#track(
      gate.finally(() => {
        if (this.#gate === gate) this.#gate = null
      }),
    )
  }

  #track(task: Promise<void>): void {
    this.#tasks.add(task)
    void task.finally(() => this.#tasks.delete(task))
  }

  #pass(message: Message, text: string): void {
    const { id, method } = message
    const isRequest = isId(id) && method !== undefined
    if (!isRequest) this.#forward(message, text)
    else if (this.#hasEnded || this.#ofEditor.size >= WAITING_MAX)
      this.#options.toEditor(failure(id, INTERNAL_ERROR, 'busy: the agent answers no more requests'))
    else if (OPENING.includes(method)) this.#afterGate(() => this.#open(id, message))
    else this.#passRequest(id, message, text)
  }

  #passRequest(id: RpcId, message: Message, text: string): void {
    const params = fieldsOf(message.params)
    const session = this.#sessions.named(params['sessionId'])
    this.#ofEditor.set(idKey(id), { id, method: message.method, session })
    if (message.method !== 'session/prompt' || session === null) {
      this.#forward(message, text)
      return
    }
    this.#afterGate(async () => {
      const given = await promptWithNews(this.#host, session, params)
      if (given === params) this.#forward(message, text)
      else this.#forward({ ...message, params: given })
    })
  }

  #forward(message: Message, text?: string): void {
    const session = this.#addressee(message)
    const mapped = session === null ? message : this.#sessions.toTree(session)(message)
    this.#options.toAgent(mapped, mapped === message ? text : undefined)
  }

  /** Whose paths a message of the editor's speaks of. */
  #addressee({ id, method, params }: Message): Session | null {
    const named = this.#sessions.named(fieldsOf(params)['sessionId'])
    if (named !== null || method !== undefined || !isId(id)) return named ?? this.#sessions.newest()
    const asked = this.#ofAgent.get(idKey(id))
    this.#ofAgent.delete(idKey(id))
    return asked?.session ?? this.#sessions.newest()
  }

  async #open(id: RpcId, message: Message): Promise<void> {
    const params = fieldsOf(message.params)
    try {
      const session = await this.#sessions.open(params['cwd'])
      // A session that is opened again speaks before it is there.
      if (typeof params['sessionId'] === 'string' && message.method !== 'session/fork')
        session.id = params['sessionId']
      this.#ofEditor.set(idKey(id), { id, method: message.method, session })
      const { tree } = session
      const mapped = this.#sessions.toTree(session)(params)
      this.#options.toAgent({
        ...message,
        params: sessionParams(mapped, tree, this.#options.mcp, this.#version),
      })
    } catch (error) {
      this.#options.toEditor(refusalAnswer(id, error))
    }
  }

  fromAgent(message: Message, text: string): void {
    const { id, method } = message
    if (method === undefined) {
      this.#answered(message, text)
      return
    }
    const params = fieldsOf(message.params)
    const session = this.#sessions.named(params['sessionId']) ?? this.#sessions.newest()
    if (typeof method === 'string' && method.startsWith('fs/')) {
      if (isId(id)) this.#options.toAgent(this.#fileAnswer(session, id, method, params))
      return
    }
    if (isId(id) && this.#ofAgent.size >= WAITING_MAX) {
      this.#options.toAgent(failure(id, INTERNAL_ERROR, 'busy: the editor answers no more requests'))
      return
    }
    if (isId(id)) this.#ofAgent.set(idKey(id), { id, method, session })
    const endsTurn = this.#version === 2 && isIdle(message)
    if (endsTurn && session !== null && session.id !== null)
      this.#holdBack(session, session.id, message, text)
    else this.#show(message, text)
  }

  #fileAnswer(
    session: Session | null,
    id: RpcId,
    method: string,
    params: ReturnType<typeof fieldsOf>,
  ): Message {
    try {
      const answer = session === null ? null : answerFiles(session, method, params)
      return answer === null ? failure(id, METHOD_NOT_FOUND, 'Method not found') : success(id, answer)
    } catch (error) {
      return refusalAnswer(id, error)
    }
  }

  #answered(message: Message, text: string): void {
    const { id } = message
    const waiting = isId(id) ? this.#ofEditor.get(idKey(id)) : undefined
    // What nobody asked for is no answer; an editor could take it for one of galley's.
    if (waiting === undefined) return
    this.#ofEditor.delete(idKey(waiting.id))
    const { method, session } = waiting
    const result = fieldsOf(message['result'])
    if (method === 'initialize') this.#version = result['protocolVersion'] === 2 ? 2 : 1
    if (session !== null && OPENING.includes(method)) {
      if (message['error'] !== undefined) this.#sessions.drop(session)
      else if (typeof result['sessionId'] === 'string') session.id = result['sessionId']
    }
    const endsTurn = method === 'session/prompt' && this.#version === 1
    if (endsTurn && session !== null && session.id !== null)
      this.#holdBack(session, session.id, message, text)
    else this.#show(message, text)
  }

  /** The end of a turn is told when the person has been asked. */
  #holdBack(session: Session, sessionId: string, message: Message, text: string): void {
    const result = fieldsOf(message['result'] ?? fieldsOf(message.params)['update'])
    // An editor whose person has cancelled shows no question any more.
    const asks = result['stopReason'] !== 'cancelled'
    const ending = endTurn(this.#host, session, { sessionId, asks })
    this.#track(ending.then(() => this.#show(message, text)))
  }

  /** A terminal runs in the tree; all else that the editor is told names the files that it knows. */
  #show(message: Message, text?: string): void {
    const mapped = message.method === 'terminal/create' ? message : this.#sessions.toEditor()(message)
    this.#options.toEditor(mapped, mapped === message ? text : undefined)
  }

  #ask(sessionId: string, params: object): Promise<Answer> {
    if (this.#hasEnded) return Promise.resolve('later')
    const id = `galley-${this.#options.random()}`
    return new Promise((answer) => {
      this.#questions.set(id, { sessionId, answer })
      this.#options.toEditor(request(id, 'session/request_permission', params))
    })
  }

  #takeAnswer(message: Message): boolean {
    const { id, method, params } = message
    if (method === 'session/cancel') this.#leaveOpen(fieldsOf(params)['sessionId'])
    if (method !== undefined || typeof id !== 'string' || !OWN_ID.test(id)) return false
    this.#questions.get(id)?.answer(answerOf(message))
    this.#questions.delete(id)
    return true
  }

  /** Who cancels a turn decides nothing about its change; nor does one who is gone (`undefined`: all are). */
  #leaveOpen(sessionId?: unknown): void {
    for (const [id, question] of this.#questions) {
      if (sessionId !== undefined && question.sessionId !== sessionId) continue
      this.#questions.delete(id)
      question.answer('later')
    }
  }

  /** A message that could not be taken from one side: whoever waits for it is told. */
  refused(from: 'editor' | 'agent', id: RpcId | null, code: number, why: string): void {
    const { toEditor, toAgent } = this.#options
    const waiting = from === 'agent' && id !== null ? this.#ofEditor.get(idKey(id)) : undefined
    if (waiting !== undefined) this.#ofEditor.delete(idKey(waiting.id))
    const answer = failure(id, code, why)
    if (from === 'editor' || waiting !== undefined) toEditor(answer)
    else toAgent(answer)
  }

  /** One side is gone: nobody is asked any more, and what the editor still waits for is answered. Waits for what runs. */
  async end(why: string): Promise<void> {
    this.#hasEnded = true
    this.#leaveOpen()
    while (this.#tasks.size > 0) await Promise.all(this.#tasks)
    for (const { id, method, session } of this.#ofEditor.values()) {
      if (method === 'session/prompt' && session?.id != null)
        await endTurn(this.#host, session, { sessionId: session.id, asks: false })
      this.#options.toEditor(failure(id, INTERNAL_ERROR, why))
    }
    this.#ofEditor.clear()
  }

  wordsFor(tree: LiveTree) {
    const session = this.#sessions.in(tree)
    return session === null ? { title: '', body: '' } : wordsOf(session)
  }
}

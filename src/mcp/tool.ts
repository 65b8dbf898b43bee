import type { ServerContext } from '@modelcontextprotocol/server'
import type * as z from 'zod'
import type { Places } from '../flow/places.ts'
import type { World } from '../flow/world.ts'
import type { DialectName } from '../model/batch.ts'

/** What the server was started with. */
export interface McpHost {
  readonly places: Places
  readonly clock: World['clock']
  /** The adapter whose own tools are offered besides; null = none. */
  readonly adapter: DialectName | null
  /** Names this server's own process among the sessions of clients that name none. */
  readonly processName: string
  /** Checks and signs what goes through the client between two rounds of one call. */
  readonly states: RoundStates
}

/** What a server gives a client to bring back: signed, bound to this server, and of limited age. */
export interface RoundStates {
  readonly mint: (state: RoundState, context: ServerContext) => Promise<string>
  readonly verify: (text: string, context: ServerContext) => Promise<RoundState>
}

/** What a person was asked about. */
export interface RoundState {
  readonly id: string
  readonly digest: string
}

/** Who calls. */
export interface Caller {
  /** As the client calls itself. */
  readonly name: string
  /** The agent's session; null where nothing tells one conversation from another. */
  readonly session: string | null
  readonly canAskByForm: boolean
}

/** One call under way. */
export interface ToolCall<Input> {
  readonly input: Input
  readonly caller: Caller
  readonly host: McpHost
  readonly context: ServerContext
  /** Runs a verb in the repository that the call names. */
  readonly use: <T>(verb: (world: World) => Promise<T>) => Promise<T>
}

/**
 * What a tool answers. Clients show the model either the text or the value, so that each says everything: what happened, the change's
 * id and state, and what to do next.
 */
export interface ToolAnswer {
  /** What happened, in a sentence or a few. */
  readonly message: string
  /** What to do next; empty = nothing. */
  readonly next: string
  /** For the text alone, after the message: what the value has as fields. */
  readonly detail?: string
  /** For the value alone, beside the message: what the text has in its detail. */
  readonly value?: Readonly<Record<string, unknown>>
  /** Where the rest of something long is. */
  readonly links?: readonly ResourceLink[]
  readonly isRefused?: boolean
}

export interface ResourceLink {
  readonly uri: string
  readonly name: string
  readonly mimeType: string
}

/** A question to the person before the client, in place of an answer; the call comes again with what they said. */
export interface AskedBack {
  readonly kind: 'ask'
  readonly message: string
  readonly state: RoundState
}

export type ToolOutcome = ToolAnswer | AskedBack

export interface Tool<Input extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Input
  /** Listed in place of what `input` says, where another part judges the rest. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** Fields of the value beside `ok`, `message`, `next` and `error`. */
  readonly output: Readonly<Record<string, object>>
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: false
  }
  readonly run: (call: ToolCall<z.output<Input>>) => Promise<ToolOutcome>
}

/** Lets a tool's own input type be seen in its `run`, and forgotten outside. */
export const tool = <Input extends z.ZodType>(made: Tool<Input>): Tool => made as unknown as Tool

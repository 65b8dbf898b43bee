import type { ToolItem } from '../model/batch.ts'
import type { DialectContext } from '../model/dialect.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import type { Failure } from '../model/resolution.ts'
import { failureOf, type JsonRecord } from './arguments.ts'

/** One call of Agent Zero's tool under translation. */
export interface HostRequest {
  readonly call: ToolItem
  readonly context: DialectContext
}

/** An own argument; null counts as not given, as in Agent Zero. */
export const argument = ({ call }: HostRequest, name: string): unknown =>
  Object.hasOwn(call.input, name) ? (call.input[name] ?? undefined) : undefined

/** A failure whose message is Agent Zero's own sentence. */
export const saying = (request: HostRequest, code: ErrorCode, native: string): Failure =>
  faulty(request, code, native, { native })

/** A failure in galley's words; `data.native` holds Agent Zero's where it refuses too. */
export const faulty = (
  { call, context }: HostRequest,
  code: ErrorCode,
  message: string,
  data: JsonRecord = {},
  hint?: string,
): Failure => failureOf(call, context, { code, message, data, hint })

/** The failure of a text that cannot be written as UTF-8. */
export const notText = (request: HostRequest, name: string): Failure =>
  faulty(request, 'not-utf8', `${name} holds half of a surrogate pair, which has no UTF-8 form`)

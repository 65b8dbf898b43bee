import { refusalOf } from '../model/refusal-of.ts'

export type RpcId = string | number

/** An object of JSON whose form nobody has checked. */
export type Fields = Readonly<Record<string, unknown>>

/** One message, as far as the proxy looks at it. Whatever else is in it stays in it. */
export interface Message extends Fields {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of what should be an object; none where it is something else. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

export const isId = (id: unknown): id is RpcId => typeof id === 'string' || typeof id === 'number'

/** Tells 1 from "1". */
export const idKey = (id: RpcId): string => JSON.stringify(id)

export const request = (id: RpcId, method: string, params: object): Message => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

export const notification = (method: string, params: object): Message => ({ jsonrpc: '2.0', method, params })

export const success = (id: RpcId, result: object): Message => ({ jsonrpc: '2.0', id, result })

export const failure = (id: RpcId | null, code: number, message: string, data?: object): Message => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
})

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INTERNAL_ERROR = -32603

/** A refusal of galley's as an answer: its code and hint in the text, which is all that most clients show. */
export function refusalAnswer(id: RpcId, error: unknown): Message {
  const { code, message, data, hint } = refusalOf(error)
  return failure(id, INTERNAL_ERROR, `${code}: ${message}\n${hint}`, { code, data, hint })
}

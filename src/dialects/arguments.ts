import type { ToolItem } from '../model/batch.ts'
import type { DialectContext, Translation } from '../model/dialect.ts'
import type { Edit } from '../model/edit.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import { limits } from '../model/limits.ts'
import type { Failure } from '../model/resolution.ts'
import { checkPlace } from '../policy/paths.ts'
import { isWellFormed, quote } from '../policy/quote.ts'
import { requestPath } from './request-path.ts'

export type JsonRecord = Readonly<Record<string, unknown>>

/** Faults collected of one call; a call of a hundred thousand unknown arguments is refused all the same. */
const faultsMax = 100

/** Names under which the known systems send the path of the file, in the order of preference. */
const PATH_ARGUMENTS = ['path', 'file_path', 'notebook_path', 'source'] as const

/**
 * Reads the arguments of one tool call and collects every fault, so that a refusal names them all.
 *
 * A reader never throws. After a fault it answers a neutral value (`''`, `0`, `false`, an empty list), and the
 * caller looks at `failures` before it uses any of them. Only own properties count. `null` is "not given" where an
 * argument is optional. Failures have the code `invalid-batch`, or `not-utf8` for text with a lone surrogate; data:
 * `{ tool, argument, expected, observed }`. After a hundred faults no more are collected.
 */
export class ArgumentReader {
  readonly #input: JsonRecord
  readonly #prefix: string
  readonly #call: ToolItem
  readonly #item: number
  readonly #failures: Failure[]

  constructor(
    call: ToolItem,
    context: { readonly item: number },
    nested?: { readonly input: JsonRecord; readonly prefix: string; readonly failures: Failure[] },
  ) {
    this.#call = call
    this.#item = context.item
    this.#input = nested?.input ?? call.input
    this.#prefix = nested?.prefix ?? ''
    this.#failures = nested?.failures ?? []
  }

  /** All faults so far, those of nested readers included. */
  get failures(): readonly Failure[] {
    return this.#failures
  }

  /** Whether the argument is given and not null. */
  has(name: string): boolean {
    return this.raw(name) !== undefined
  }

  /** The argument as it came; undefined when absent or null. */
  raw(name: string): unknown {
    if (!Object.hasOwn(this.#input, name)) return undefined
    return this.#input[name] ?? undefined
  }

  requireString(name: string): string {
    return this.#string(name) ?? this.#missing(name, 'a string', '')
  }

  optionalString(name: string): string | undefined {
    return this.#string(name)
  }

  requireNonEmptyString(name: string): string {
    const text = this.#string(name)
    if (text === '') return this.#fault(name, 'a string that is not empty', '""', '')
    return text ?? this.#missing(name, 'a string', '')
  }

  /** A repository path, or an absolute path below `root`, mapped and checked. The refusal's code is the path's. */
  requirePath(name: string, root: string): string {
    const faultsBefore = this.#failures.length
    const text = this.requireString(name)
    if (this.#failures.length > faultsBefore) return ''
    const mapped = requestPath(text, root)
    if (mapped.kind === 'mapped') return mapped.path
    this.#collect({ ...mapped.refusal, item: this.#item, path: shortened(text) })
    return ''
  }

  /** A repository path, checked; an absolute one is refused even where it lies below the root. */
  requireRelativePath(name: string): string {
    const faultsBefore = this.#failures.length
    const text = this.requireString(name)
    if (this.#failures.length > faultsBefore) return ''
    const refusal = checkPlace(text)
    if (refusal === null) return text
    this.#collect({ ...refusal, item: this.#item, path: shortened(text) })
    return ''
  }

  /** A safe integer; a number with a fraction, or a numeric string, is a fault. */
  requireInteger(name: string): number {
    return this.optionalInteger(name) ?? this.#missing(name, 'an integer', 0)
  }

  optionalInteger(name: string): number | undefined {
    const value = this.raw(name)
    if (value === undefined || Number.isSafeInteger(value)) return value as number | undefined
    return this.#fault(name, 'an integer', shown(value), 0)
  }

  optionalBoolean(name: string): boolean | undefined {
    const value = this.raw(name)
    if (value === undefined || typeof value === 'boolean') return value
    return this.#fault(name, 'true or false', shown(value), false)
  }

  /** One of the texts named. */
  requireOneOf<T extends string>(name: string, allowed: readonly [T, ...T[]]): T {
    const value = this.raw(name)
    const found = allowed.find((candidate) => candidate === value)
    if (found !== undefined) return found
    const expected = allowed.map((candidate) => `"${candidate}"`).join(' or ')
    if (value === undefined) return this.#missing(name, expected, allowed[0])
    return this.#fault(name, expected, shown(value), allowed[0])
  }

  requireList(name: string): readonly unknown[] {
    const value = this.raw(name)
    if (value === undefined) return this.#missing(name, 'a list', [])
    if (!Array.isArray(value)) return this.#fault(name, 'a list', shown(value), [])
    return value
  }

  /** A reader for one member of a list: `reader.nested(entry, 'edits[2]')`. A member that is no object is a fault. */
  nested(value: unknown, name: string): ArgumentReader {
    const isObject = isRecord(value)
    if (!isObject) this.#fault(name, 'an object', shown(value), undefined)
    const input = isObject ? value : {}
    const nested = { input, prefix: `${this.#prefix}${name}.`, failures: this.#failures }
    return new ArgumentReader(this.#call, { item: this.#item }, nested)
  }

  /** Reports every argument whose name is not among these. */
  allowOnly(names: readonly string[]): void {
    for (const name of Object.keys(this.#input)) {
      if (names.includes(name)) continue
      if (this.#failures.length >= faultsMax) return
      this.#fault(name, `only ${names.join(', ')}`, 'an argument that the tool does not know', undefined)
    }
  }

  /** Adds a fault found by the caller. */
  refuse(code: ErrorCode, message: string, data: JsonRecord = {}, hint?: string): void {
    this.#collect(failureOf(this.#call, { item: this.#item }, { code, message, data, hint }))
  }

  #collect(failure: Failure): void {
    if (this.#failures.length < faultsMax) this.#failures.push(failure)
  }

  #string(name: string): string | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    if (typeof value !== 'string') return this.#fault(name, 'a string', shown(value), '')
    if (!isWellFormed(value)) {
      const message = `the argument '${this.#prefix}${name}' of ${shortened(this.#call.tool)} holds half of a surrogate pair`
      this.refuse('not-utf8', message, { tool: this.#call.tool, argument: this.#prefix + name })
      return ''
    }
    return value
  }

  #missing<T>(name: string, expected: string, neutral: T): T {
    return this.#fault(name, expected, 'nothing', neutral)
  }

  #fault<T>(name: string, expected: string, observed: string, neutral: T): T {
    const argument = this.#prefix + name
    const tool = shortened(this.#call.tool)
    const verb = observed === 'nothing' ? 'is missing' : `is ${observed}`
    const message = `the argument '${shortened(argument)}' of ${tool} ${verb}; expected ${expected}`
    this.refuse('invalid-batch', message, { tool, argument, expected, observed })
    return neutral
  }
}

/** A failure of one tool call. Its path is the one that the call names, as it was sent; `''` when it names none. */
export function failureOf(
  call: ToolItem,
  context: { readonly item: number },
  refusal: {
    readonly code: ErrorCode
    readonly message: string
    readonly data?: JsonRecord
    readonly hint?: string | undefined
    readonly path?: string
  },
): Failure {
  const { code, message, data = {}, hint, path = namedPath(call) } = refusal
  const failure = { item: context.item, path, code, message, data }
  return hint === undefined ? failure : { ...failure, hint }
}

/** The refusing translation of these failures, which must be few: they are arguments of a call. */
export const refusedWith = (...failures: readonly Failure[]): Translation => ({ kind: 'refused', failures })

/** The refusing translation of any number of failures. */
export const refusedWithAll = (failures: readonly Failure[]): Translation => ({ kind: 'refused', failures })

/** The translation of a call whose edits belong to one step, or that counted on to `lastStep`. */
export function translated(
  edits: readonly Edit[],
  context: DialectContext,
  lastStep = context.step,
): Translation {
  return { kind: 'edits', edits, nextStep: lastStep + 1 }
}

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value of a request as JSON, short enough for a message. Never throws: requests are JSON. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (isRecord(value)) return 'an object'
  return String(value)
}

/** Cuts a text to what a message may quote, never inside a surrogate pair. */
export function shortened(text: string): string {
  if (text.length <= limits.quoteMaxCharacters) return text
  const cut = text.slice(0, limits.quoteMaxCharacters)
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

/** The path that a call names, as sent, for messages; `''` when it names none. */
export function namedPath(call: ToolItem): string {
  for (const name of PATH_ARGUMENTS) {
    const value = Object.hasOwn(call.input, name) ? call.input[name] : undefined
    if (typeof value === 'string') return shortened(value)
  }
  return ''
}

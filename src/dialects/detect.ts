import type { DialectName, ToolItem } from '../model/batch.ts'
import type { Dialect, DialectContext, ReadCall, Translation } from '../model/dialect.ts'
import { nearestName } from '../model/nearest-name.ts'
import type { Failure } from '../model/resolution.ts'
import { quote } from '../policy/quote.ts'
import { failureOf } from './arguments.ts'

export type Detection =
  | { readonly kind: 'dialect'; readonly dialect: Dialect }
  | { readonly kind: 'refused'; readonly failure: Failure }

/** What a call comes to in one dialect: two dialects agree on a call when these are equal. */
type Meaning = ReadCall | Translation

/**
 * Finds the dialect of a tool call: the one named, or with `auto` the one that its tool name and arguments fit.
 *
 * Where several fit, those that take the call count; if all of them mean the same, the first in the list is it.
 * A tool that only one dialect knows is that dialect's whatever its arguments, so that they are refused by its rules.
 *
 * Refuses `unknown-tool` (data: `tool`, `nearest`), `ambiguous-dialect` (data: `candidates`) and `invalid-batch`, for
 * a tool of several dialects whose arguments fit none.
 */
export function detectAmong(
  dialects: readonly Dialect[],
  call: ToolItem,
  name: DialectName | 'auto',
  context: DialectContext,
): Detection {
  if (name !== 'auto') return named(dialects, call, name, context)
  const knowing = dialects.filter((dialect) => dialect.tools.includes(call.tool))
  const [only] = knowing
  if (only === undefined) return refused(unknownTool(dialects, call, context))
  if (knowing.length === 1) return { kind: 'dialect', dialect: only }
  const fitting = knowing.filter((dialect) => dialect.fits(call))
  if (fitting.length === 0) return refused(fitsNone(knowing, call, context))
  return agreed(fitting, call, context)
}

function named(
  dialects: readonly Dialect[],
  call: ToolItem,
  name: DialectName,
  context: DialectContext,
): Detection {
  const dialect = dialects.find((candidate) => candidate.name === name)
  if (dialect?.tools.includes(call.tool)) return { kind: 'dialect', dialect }
  return refused(unknownTool(dialect === undefined ? [] : [dialect], call, context, name))
}

/** Chooses among dialects that all fit by what the call would do in each. */
function agreed(fitting: readonly Dialect[], call: ToolItem, context: DialectContext): Detection {
  const meanings = fitting.map((dialect) => ({ dialect, meaning: meaningOf(dialect, call, context) }))
  const taken = meanings.filter(({ meaning }) => meaning.kind !== 'refused')
  const [first] = taken.length > 0 ? taken : meanings
  if (first === undefined) throw new Error('BUG: no dialect to choose from')
  if (taken.every(({ meaning }) => isSame(meaning, first.meaning)))
    return { kind: 'dialect', dialect: first.dialect }
  const candidates = taken.map(({ dialect }) => dialect.name)
  const message = `the call of ${quote(call.tool)} means different things to ${candidates.join(' and ')}`
  const hint = `Name the system: "dialect": "${candidates[0]}" in the batch, or \`--dialect ${candidates[0]}\`.`
  return refused(
    failureOf(call, context, {
      code: 'ambiguous-dialect',
      message,
      data: { tool: call.tool, candidates },
      hint,
    }),
  )
}

function meaningOf(dialect: Dialect, call: ToolItem, context: DialectContext): Meaning {
  const read = dialect.readCall?.(call, context) ?? null
  if (read === null) return dialect.translate(call, context)
  return 'kind' in read ? read : { kind: 'refused', failures: [read] }
}

function fitsNone(knowing: readonly Dialect[], call: ToolItem, context: DialectContext): Failure {
  const faults = knowing.map((dialect) => {
    const meaning = meaningOf(dialect, call, context)
    const fault = meaning.kind === 'refused' ? meaning.failures[0]?.message : undefined
    return { dialect: dialect.name, fault: fault ?? 'its arguments have another shape' }
  })
  const message = `the arguments of ${quote(call.tool)} fit none of ${faults.map(({ dialect }) => dialect).join(', ')}`
  const hint = faults.map(({ dialect, fault }) => `For ${dialect}: ${fault}`).join(' ')
  return failureOf(call, context, { code: 'invalid-batch', message, data: { tool: call.tool, faults }, hint })
}

function unknownTool(
  dialects: readonly Dialect[],
  call: ToolItem,
  context: DialectContext,
  name?: DialectName,
): Failure {
  const known = [...new Set(dialects.flatMap((dialect) => dialect.tools))]
  const near = nearestName(call.tool, known)
  const whose = name === undefined ? 'no dialect knows' : `the dialect ${name} has`
  const message = `${whose} ${name === undefined ? 'a' : 'no'} tool ${quote(call.tool)}`
  const data = {
    tool: call.tool.slice(0, 256),
    nearest: near === null ? [] : [near],
    ...(name === undefined ? {} : { dialect: name }),
  }
  const hint = hintFor(near, known, name)
  return failureOf(call, context, { code: 'unknown-tool', message, data, hint })
}

function hintFor(near: string | null, known: readonly string[], name?: DialectName): string | undefined {
  if (near !== null) return `Did you mean "${near}"?`
  if (name === undefined) return undefined
  if (known.length === 0) return `${name} is a form of text, not of tool calls: use an item with "op".`
  return `Its tools are ${known.join(', ')}.`
}

const refused = (failure: Failure): Detection => ({ kind: 'refused', failure })

/** Compares two translations by value; bytes are compared as bytes. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof Uint8Array || b instanceof Uint8Array) {
    return a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0
  }
  const left = Object.entries(a)
  const right = new Map(Object.entries(b))
  return (
    left.length === right.size &&
    left.every(([key, value]) => right.has(key) && isSame(value, right.get(key)))
  )
}

import type { ToolItem } from '../model/batch.ts'
import type { Dialect, DialectContext, ReadCall, Translation } from '../model/dialect.ts'
import type { Edit } from '../model/edit.ts'
import type { Failure } from '../model/resolution.ts'
import { ArgumentReader, isRecord, refusedWith, translated } from './arguments.ts'

/** Bytes of UTF-8 that a file, a content or the result of an edit may have, inclusive. */
export const textMaxBytes = 65_536

/** Arguments of each tool: all are required, and no others are allowed. */
const argumentNames: ReadonlyMap<string, readonly string[]> = new Map([
  ['read_file', ['path']],
  ['write_file', ['path', 'content', 'mode']],
  ['edit_file', ['path', 'old_string', 'new_string']],
])

const encoder = new TextEncoder()

/**
 * Mino's `read_file`, `write_file` (create or overwrite) and `edit_file` (text that stands exactly once).
 *
 * Argument sets are exact. Paths are relative to the project, never absolute. Matching is exact, texts are at most
 * 64 KiB, parent directories must exist, and an approval holds for the file as it was read.
 */
export const mino: Dialect = {
  name: 'mino',
  profile: {
    order: 'sequential',
    maxTier: 'exact',
    needsRead: false,
    fileMaxBytes: textMaxBytes,
    wholeFileUtf8: 'every-edit',
    parentsMustExist: true,
    callsPerTurn: 16,
    bindsFile: true,
  },
  tools: [...argumentNames.keys()],
  fits,
  translate,
  readCall,
}

export type MinoArguments =
  | { readonly kind: 'valid'; readonly canonical: string }
  | { readonly kind: 'invalid'; readonly failures: readonly Failure[] }

/**
 * Validates the arguments of a call as replaying a journal does: by their form alone. No file is looked at, so that
 * a session loads whatever has become of the files it edited.
 *
 * @returns the canonical arguments: compact JSON with the keys in the order of the tool's description.
 */
export function validateMinoArguments(tool: string, input: unknown): MinoArguments {
  const call: ToolItem = { tool, input: isRecord(input) ? input : {} }
  const reader = new ArgumentReader(call, { item: 0 })
  const names = argumentNames.get(tool)
  if (names === undefined)
    reader.refuse('unknown-tool', 'the tool is none of read_file, write_file and edit_file')
  else if (!isRecord(input)) reader.refuse('invalid-batch', 'the arguments are not one JSON object')
  else readArguments(reader, tool)
  if (reader.failures.length > 0) return { kind: 'invalid', failures: reader.failures }
  const ordered = (names ?? []).map((name) => [name, call.input[name]])
  return { kind: 'valid', canonical: JSON.stringify(Object.fromEntries(ordered)) }
}

function fits(call: ToolItem): boolean {
  const names = argumentNames.get(call.tool)
  if (names === undefined) return false
  const given = Object.keys(call.input)
  return (
    given.length === names.length &&
    names.every((name) => given.includes(name) && typeof call.input[name] === 'string')
  )
}

function translate(call: ToolItem, context: DialectContext): Translation {
  const reader = new ArgumentReader(call, context)
  const asked = readArguments(reader, call.tool)
  if (asked.kind === 'read') reader.refuse('unknown-tool', `${call.tool} is no edit of Mino's`)
  if (reader.failures.length > 0 || asked.kind === 'read') return refusedWith(...reader.failures)
  const { item, step } = context
  const edit: Edit =
    asked.kind === 'write'
      ? {
          op: 'write',
          item,
          step,
          path: asked.path,
          content: encoder.encode(asked.content),
          mode: asked.mode,
          isText: true,
        }
      : {
          op: 'replace',
          item,
          step,
          path: asked.path,
          old: asked.old,
          new: asked.new,
          all: false,
          maxTier: 'exact',
        }
  return translated([edit], context)
}

function readCall(call: ToolItem, context: DialectContext): ReadCall | Failure | null {
  if (call.tool !== 'read_file') return null
  const reader = new ArgumentReader(call, context)
  const { path } = readArguments(reader, call.tool)
  return reader.failures[0] ?? { kind: 'read', path, from: null, to: null }
}

type Asked =
  | { readonly kind: 'read'; readonly path: string }
  | {
      readonly kind: 'write'
      readonly path: string
      readonly content: string
      readonly mode: 'create' | 'overwrite'
    }
  | { readonly kind: 'edit'; readonly path: string; readonly old: string; readonly new: string }

/** Reads and checks the arguments; what is wrong with them is in the reader's failures. */
function readArguments(reader: ArgumentReader, tool: string): Asked {
  reader.allowOnly(argumentNames.get(tool) ?? [])
  const path = reader.requireRelativePath('path')
  if (tool === 'write_file') {
    const content = textArgument(reader, 'content')
    return { kind: 'write', path, content, mode: reader.requireOneOf('mode', ['create', 'overwrite']) }
  }
  if (tool !== 'edit_file') return { kind: 'read', path }
  const old = textArgument(reader, 'old_string')
  const text = textArgument(reader, 'new_string')
  if (!reader.has('old_string') || !reader.has('new_string')) return { kind: 'edit', path, old, new: text }
  if (old === '') reader.requireNonEmptyString('old_string')
  else if (old === text) reader.refuse('no-change', 'old_string and new_string are the same text')
  return { kind: 'edit', path, old, new: text }
}

function textArgument(reader: ArgumentReader, name: string): string {
  const text = reader.requireString(name)
  if (text.includes('\0')) reader.refuse('binary', `${name} holds a NUL character`, { argument: name })
  const bytes = encoder.encode(text).length
  if (bytes > textMaxBytes) {
    const message = `${name} has ${bytes} bytes; expected ${textMaxBytes} or fewer`
    reader.refuse('too-large', message, { argument: name, bytes, limit: textMaxBytes })
  }
  return text
}

import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Refusal } from '../model/error.ts'
import { visible } from '../review/visible.ts'
import type { ToolAnswer } from './tool.ts'

/**
 * Most bytes of a result's text, and of its value: below 25,000 tokens wherever a token holds two bytes or more, which is what clients
 * show the model of one result.
 */
const RESULT_MAX_BYTES = 48_000
const STRING_MAX_CHARACTERS = 8_000
const LIST_MAX_ITEMS = 100

/** What the caller of `resultOf` may have room for in one field of its own. */
export const FIELD_MAX_BYTES = 36_000

/** A tool's answer as the protocol has it: text and value each complete by themselves. */
export function resultOf(answer: ToolAnswer): CallToolResult {
  const { message, next, detail = '', value = {}, links = [], isRefused = false } = answer
  const end = next === '' ? '' : `\nNext: ${next}`
  const head = { ok: !isRefused, message, ...(next === '' ? {} : { next }) }
  const text = `${message}${detail === '' ? '' : `\n${detail}`}`
  return {
    content: [
      { type: 'text', text: `${cutText(text, RESULT_MAX_BYTES - end.length)}${end}` },
      ...links.map((link) => ({ type: 'resource_link' as const, ...link })),
    ],
    structuredContent: fitValue({ ...head, ...value }, head),
    isError: isRefused,
  }
}

/** A refusal with the data that repairs the call, in both. */
export function refusedAnswer(refusal: Required<Refusal>): ToolAnswer {
  const { code, message, data, hint } = refusal
  const shown = code === 'internal' ? {} : (shorten(data, 0) as Readonly<Record<string, unknown>>)
  const facts = Object.keys(shown).length === 0 ? '' : `data: ${JSON.stringify(shown)}`
  return {
    isRefused: true,
    message: `${code}: ${visible(message)}`,
    next: visible(hint),
    detail: facts,
    value: { error: { code, message, data: shown, hint } },
  }
}

/** Cuts at a line's end, and says so. */
function cutText(text: string, maxBytes: number): string {
  if (byteLength(text) <= maxBytes) return text
  const cut = firstBytes(text, maxBytes - 100)
  const end = cut.lastIndexOf('\n')
  return `${end > 0 ? cut.slice(0, end) : cut}\n… (cut here: the whole has ${byteLength(text)} bytes)`
}

/** The first characters of a text that have room in so many bytes. */
export function firstBytes(text: string, maxBytes: number): string {
  if (byteLength(text) <= maxBytes) return text
  const bytes = Buffer.from(text, 'utf8').subarray(0, Math.max(0, maxBytes))
  // A character that was cut through is left out.
  return new TextDecoder('utf-8').decode(bytes, { stream: true })
}

const byteLength = (text: string): number => Buffer.byteLength(text, 'utf8')

function fitValue(
  value: Readonly<Record<string, unknown>>,
  head: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (jsonBytes(value) <= RESULT_MAX_BYTES) return { ...value }
  const short = shorten(value, 0) as Record<string, unknown>
  return jsonBytes(short) <= RESULT_MAX_BYTES ? short : { ...head, cut: true }
}

const jsonBytes = (value: unknown): number => byteLength(JSON.stringify(value))

const DEPTH_MAX = 8

/** A value with its long texts and lists cut, and what lies too deep left out. */
function shorten(value: unknown, depth: number): unknown {
  if (typeof value === 'string')
    return value.length <= STRING_MAX_CHARACTERS ? value : `${value.slice(0, STRING_MAX_CHARACTERS)}… (cut)`
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return '… (cut)'
  if (Array.isArray(value)) {
    const kept = value.slice(0, LIST_MAX_ITEMS).map((item) => shorten(item, depth + 1))
    return value.length <= LIST_MAX_ITEMS ? kept : [...kept, `… (${value.length - LIST_MAX_ITEMS} more)`]
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item, depth + 1)]))
}

import type { ToolItem } from '../model/batch.ts'
import type { Dialect, DialectContext, ReadCall, Translation } from '../model/dialect.ts'
import type { Failure } from '../model/resolution.ts'
import { isWellFormed, quote } from '../policy/quote.ts'
import { lineNumber } from './agent-zero-edits.ts'
import { agentZeroMaxTier, translatePatch } from './agent-zero-patch.ts'
import { hostPath } from './agent-zero-path.ts'
import { argument, faulty, type HostRequest, notText, saying } from './agent-zero-request.ts'
import { isRecord, refusedWith, shortened, shown, translated } from './arguments.ts'

/** UTF-8 bytes that one remote write or patch may carry; the server refuses more. */
export const contentMaxBytes = 262_144

const remoteTool = 'text_editor_remote'
const localTool = 'text_editor'
const actions = ['read', 'write', 'patch'] as const
type Action = (typeof actions)[number]

/** The server's tool also goes by names such as `text_editor:patch`, which hold the action. */
const tools = [remoteTool, localTool].flatMap((tool) => [
  tool,
  ...actions.map((action) => `${tool}:${action}`),
])

const encoder = new TextEncoder()

/**
 * Agent Zero's `text_editor_remote` and `text_editor`: read, write, and patch in its three forms.
 *
 * Failures carry Agent Zero's own sentence in `message` where it has one, and in `data.native` wherever it refuses
 * too. Where it would guess, fuse lines or edit another file than the one named, galley refuses instead.
 */
export const agentZero: Dialect = {
  name: 'agent-zero',
  profile: { order: 'sequential', maxTier: agentZeroMaxTier, needsRead: false, wholeFileUtf8: 'text-edits' },
  tools,
  fits,
  translate,
  readCall,
}

function fits(call: ToolItem): boolean {
  return tools.includes(call.tool) && isAction(actionText(call)) && typeof call.input['path'] === 'string'
}

function translate(call: ToolItem, context: DialectContext): Translation {
  const request = { call, context }
  const target = targetOf(request)
  if (target.kind === 'fault') return refusedWith(target.failure)
  const { action, path } = target
  if (action === 'read') {
    const message = `${quote(call.tool)} with action "read" edits nothing`
    return refusedWith(faulty(request, 'unknown-tool', message))
  }
  const tooLarge = sizeFailure(request)
  if (tooLarge !== null) return refusedWith(tooLarge)
  return action === 'write' ? translateWrite(request, path) : translatePatch(request, path)
}

function readCall(call: ToolItem, context: DialectContext): ReadCall | Failure | null {
  const request = { call, context }
  if (actionText(call) !== 'read') return null
  const target = targetOf(request)
  if (target.kind === 'fault') return target.failure
  const from = lineNumber(call.input, 'line_from')
  const to = lineNumber(call.input, 'line_to')
  for (const line of [from, to]) {
    if (line.kind === 'not-a-number') return saying(request, 'invalid-batch', line.native)
  }
  const first = from.kind === 'number' ? from.value : null
  const last = to.kind === 'number' ? to.value : null
  if (first !== null && first < 1) return saying(request, 'out-of-range', 'line_from must be >= 1')
  if (last !== null && last < (first ?? 1)) {
    return saying(request, 'out-of-range', 'line_to must be >= line_from')
  }
  return { kind: 'read', path: target.path, from: first, to: last }
}

type Target =
  | { readonly kind: 'target'; readonly action: Action; readonly path: string }
  | { readonly kind: 'fault'; readonly failure: Failure }

/** The action and the file, checked in the order of the server's tool: action, then path. */
function targetOf(request: HostRequest): Target {
  const fault = (failure: Failure): Target => ({ kind: 'fault', failure })
  const action = actionText(request.call)
  if (action === '')
    return fault(saying(request, 'invalid-batch', 'action is required (read, write, or patch)'))
  if (!isAction(action)) {
    const message = `Unknown action: '${quote(action).slice(1, -1)}'. Use read, write, or patch.`
    return fault(saying(request, 'unknown-tool', message))
  }
  const given = argument(request, 'path') ?? ''
  if (typeof given !== 'string') {
    return fault(faulty(request, 'invalid-batch', `path is ${shown(given)}; expected a string`))
  }
  if (given.trim() === '') return fault(saying(request, 'invalid-batch', 'path is required'))
  const host = hostPath(given, request.context.root)
  if (host.kind === 'mapped') return { kind: 'target', action, path: host.path }
  const { code, message, data, hint } = host.refusal
  const native = `Path is outside the allowed local workspace: ${shortened(given)}`
  const more = code === 'outside-repository' ? { ...data, native } : data
  return fault(faulty(request, code, message, more, hint))
}

function translateWrite(request: HostRequest, path: string): Translation {
  const content = argument(request, 'content')
  if (content === undefined) {
    return refusedWith(saying(request, 'invalid-batch', 'content is required for write'))
  }
  // Agent Zero writes Python's spelling of other values (`None`, `['a']`). Of whole numbers that is what is meant.
  const text = Number.isSafeInteger(content) ? String(content) : content
  if (typeof text !== 'string') {
    return refusedWith(faulty(request, 'invalid-batch', `content is ${shown(content)}; expected a string`))
  }
  if (!isWellFormed(text)) return refusedWith(notText(request, 'content'))
  const { item, step } = request.context
  const edit = {
    op: 'write',
    item,
    step,
    path,
    content: encoder.encode(text),
    mode: 'either',
    isText: true,
  } as const
  return translated([edit], request.context)
}

/** The server counts what a call would send: `content`, or `patch_text`, or the contents of the edits. */
function sizeFailure(request: HostRequest): Failure | null {
  if (!request.call.tool.startsWith(remoteTool)) return null
  const edits = argument(request, 'edits')
  const contents = Array.isArray(edits) ? edits.filter(isRecord).map((edit) => edit['content']) : []
  const texts = [argument(request, 'content'), argument(request, 'patch_text'), ...contents]
  const sizes = texts.map((text) => (typeof text === 'string' ? encoder.encode(text).length : 0))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  if (bytes <= contentMaxBytes) return null
  const message = `${remoteTool} limits write and patch content to ${contentMaxBytes} bytes; received ${bytes}.`
  const native = `${message} Use the authenticated HTTP bulk transfer path instead.`
  const hint = 'Split the edit into several calls, or change a part of the file.'
  return faulty(request, 'too-large', message, { native, bytes, limit: contentMaxBytes }, hint)
}

/** `op` is the argument's name in early versions. */
function actionText(call: ToolItem): string {
  const colon = call.tool.indexOf(':')
  const named = Object.hasOwn(call.input, 'action') ? call.input['action'] : undefined
  const early = Object.hasOwn(call.input, 'op') ? call.input['op'] : undefined
  const given = colon === -1 ? (named ?? early ?? '') : call.tool.slice(colon + 1)
  if (typeof given !== 'string') return shown(given)
  return given.trim().toLowerCase().split('-').join('_')
}

const isAction = (text: string): text is Action => actions.some((action) => action === text)

import { factsIn, freshnessFault, type KnownFiles, noteResult } from './hub-freshness.ts'
import type { HubAnswer, HubHost, HubSockets } from './hub-sockets.ts'
import { type HubAction, hubRequest } from './patch-request.ts'
import { isRecord, type Json } from './wire.ts'

export interface HubResult {
  readonly isRefused: boolean
  /** As Agent Zero's tool shows it to the model. */
  readonly text: string
  /** The host's result, or the error's facts. */
  readonly value: Json
}

export interface HubCaller {
  /** Reads of one agent count for no other. */
  readonly agent: string
  /** A chat, where the agent names one: hosts that belong to it are asked first. */
  readonly context: string | null
}

const AGENTS_MAX = 1_000

/** Makes the tool `text_editor_remote` of a hub: arguments, the host, freshness, and the answer in the words of Agent Zero's server. */
export function hubTool(sockets: Pick<HubSockets, 'hosts' | 'operate'>) {
  const known = new Map<string, KnownFiles>()
  const knownOf = (agent: string, sid: string): KnownFiles => {
    const name = `${sid} ${agent}`
    const found = known.get(name) ?? new Map()
    known.delete(name)
    known.set(name, found)
    for (const oldest of known.keys()) {
      if (known.size <= AGENTS_MAX) break
      known.delete(oldest)
    }
    return found
  }

  return async (input: Json, { agent, context }: HubCaller): Promise<HubResult> => {
    const request = hubRequest(input)
    if (request.kind === 'refused') return refused(request.text)
    const { action, path, args } = request
    const fail = (error: string, data: Json = {}): HubResult =>
      refused(`Error (${action} '${path}'): ${error}`, data)
    const host = selectHost(sockets.hosts(), action, context)
    if (typeof host === 'string') return fail(host)
    const files = knownOf(agent, host.sid)
    const ask = (op: string, given: Json): Promise<HubAnswer> =>
      sockets.operate(host.sid, { op, path, args: given, context })
    if (args['edits'] !== undefined) {
      const stale = await staleness(await ask('stat', {}), files, path)
      if (stale !== null) return stale.isSentence ? refused(stale.text) : fail(stale.text)
    }
    const answer = await ask(action, args)
    if (answer.kind === 'failed') return fail(answer.error)
    const { data } = answer
    const result = data['result']
    if (data['ok'] !== true || !isRecord(result)) {
      const { error, code, details } = data
      return fail(String(error ?? 'Invalid file_op handler result'), {
        ...(code === undefined ? {} : { code }),
        ...(isRecord(details) ? { details } : {}),
      })
    }
    noteResult(files, action, args, factsIn(result))
    return { isRefused: false, text: successText(action, path, result), value: { result } }
  }
}

const refused = (text: string, data: Json = {}): HubResult => ({ isRefused: true, text, value: data })

/** The host to ask, or why there is none. */
function selectHost(hosts: readonly HubHost[], action: HubAction, context: string | null): HubHost | string {
  if (hosts.length === 0)
    return 'text_editor_remote: no CLI client connected to Agent Zero. Make sure the CLI is connected to this instance.'
  // A chat that has hosts of its own is never answered from another machine.
  const own = hosts.filter(({ contexts }) => context !== null && contexts.has(context))
  const inOrder = (own.length > 0 ? own : hosts).filter(({ enabled }) => enabled)
  if (inOrder.length === 0)
    return 'text_editor_remote: no connected CLI currently advertises remote file access.'
  // Reads go where writes go, if any host takes writes: a file that was read is the one that is then edited.
  const writable = inOrder.find(({ writeEnabled }) => writeEnabled)
  const first = inOrder[0] as HubHost
  if (action === 'read') return writable ?? first
  return (
    writable ??
    'text_editor_remote: no connected CLI currently allows remote file writes. Press F3 to switch the CLI to Read&Write.'
  )
}

/** Whether an edit by line numbers may go to the host; null = it may. */
async function staleness(
  stat: HubAnswer,
  files: KnownFiles,
  path: string,
): Promise<{ readonly text: string; readonly isSentence: boolean } | null> {
  if (stat.kind === 'failed') return { text: stat.error, isSentence: false }
  const { data } = stat
  const error = String(data['error'] ?? '')
  const result = data['result']
  const isOld = error.toLowerCase().includes('unknown op: stat') || (data['ok'] === true && !isRecord(result))
  if (isOld)
    return {
      text: 'text_editor_remote: the connected CLI is too old for freshness-aware patching. Upgrade the CLI and try again.',
      isSentence: false,
    }
  if (data['ok'] !== true) return { text: error, isSentence: false }
  const fault = freshnessFault(files, isRecord(result) ? factsIn(result) : null)
  if (fault === null) return null
  const why =
    fault === 'patch_need_read'
      ? 'read file before patching - line numbers unknown'
      : 'file changed since last read - re-read to get current line numbers'
  return { text: `error patching ${path}: ${why}`, isSentence: true }
}

function successText(action: HubAction, path: string, result: Json): string {
  if (action !== 'read')
    return String(result['message'] ?? `${path} ${action === 'write' ? 'written' : 'patched'} successfully`)
  const text = `${path} ${String(result['total_lines'])} lines\n>>>\n${String(result['content'])}\n<<<`
  const cut = result['truncation']
  if (!isRecord(cut)) return text
  return `${text}\n[Remote text read truncated by ${String(cut['reason'])}. Continue with line_from=${String(cut['next_line'])}. Use HTTP bulk transfer for the complete or binary file.]`
}

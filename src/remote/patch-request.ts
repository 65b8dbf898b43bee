import type { Json } from './wire.ts'

/** UTF-8 bytes that one write or patch may carry. */
const CONTENT_MAX_BYTES = 262_144

export type HubAction = 'read' | 'write' | 'patch'

/** What goes to the host, or the sentence that the model gets instead; all in the words of Agent Zero's server. */
export type HubRequest =
  | { readonly kind: 'operation'; readonly action: HubAction; readonly path: string; readonly args: Json }
  | { readonly kind: 'refused'; readonly text: string }

/** Checks the arguments of `text_editor_remote` in the order of the server's own tool, and says what the host is asked. */
export function hubRequest(input: Json): HubRequest {
  const action = wordOf(input['action'] ?? input['op'])
  if (action === '') return refused('action is required (read, write, or patch)')
  if (action !== 'read' && action !== 'write' && action !== 'patch')
    return refused(`Unknown action: '${action}'. Use read, write, or patch.`)
  const path = typeof input['path'] === 'string' ? input['path'].trim() : ''
  if (path === '') return refused('path is required')
  if (action === 'read') return readRequest(input, path)
  if (action === 'write') {
    const content = input['content'] ?? null
    if (content === null) return refused('content is required for write')
    return sized({ kind: 'operation', action, path, args: { content } })
  }
  return patchRequest(input, path)
}

function readRequest(input: Json, path: string): HubRequest {
  const args: Record<string, unknown> = {}
  for (const name of ['line_from', 'line_to']) {
    const value = input[name]
    if (value === undefined || value === null || value === 0 || value === '' || value === false) continue
    const number = Number(value)
    if (!Number.isSafeInteger(number)) return refused(`${name} must be a whole number`)
    args[name] = number
  }
  return { kind: 'operation', action: 'read', path, args }
}

function patchRequest(input: Json, path: string): HubRequest {
  const given = (name: string) => input[name] !== undefined && input[name] !== null
  const isReplace = given('old_text') || given('new_text')
  if ([isReplace, given('patch_text'), given('edits')].filter(Boolean).length > 1)
    return refused('provide exactly one patch form: edits, patch_text, or old_text/new_text')
  if (isReplace) {
    const [old, next] = [input['old_text'] ?? '', input['new_text'] ?? ''].map(String)
    if (old === undefined || old === '') return refused('old_text is required for exact replace')
    return sized({
      kind: 'operation',
      action: 'patch',
      path,
      args: { patch_text: asPatch(path, old, next ?? '') },
    })
  }
  if (given('patch_text')) {
    const text = String(input['patch_text'])
    if (text.trim() === '') return refused('patch_text must not be empty')
    return sized({ kind: 'operation', action: 'patch', path, args: { patch_text: text } })
  }
  const edits = input['edits']
  const isEmpty = !given('edits') || edits === '' || (Array.isArray(edits) && edits.length === 0)
  if (isEmpty) return refused('edits, patch_text, or old_text/new_text is required for patch')
  return sized({ kind: 'operation', action: 'patch', path, args: { edits } })
}

/** An exact replace goes to the host as a patch of whole lines. */
function asPatch(path: string, old: string, next: string): string {
  const lines = (sign: string, text: string) => text.split('\n').map((line) => `${sign}${line}`)
  return [
    '*** Begin Patch',
    `*** Update File: ${path}`,
    ...lines('-', old),
    ...lines('+', next),
    '*** End Patch',
  ].join('\n')
}

function sized(request: Extract<HubRequest, { kind: 'operation' }>): HubRequest {
  const { content, patch_text: patch, edits } = request.args
  const contents = Array.isArray(edits) ? edits.map((edit: Json | null) => edit?.['content']) : []
  const bytes = [content, patch, ...contents].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? Buffer.byteLength(text, 'utf8') : 0),
    0,
  )
  if (bytes <= CONTENT_MAX_BYTES) return request
  return refused(
    `text_editor_remote limits write and patch content to ${CONTENT_MAX_BYTES} bytes; received ${bytes}. Use the authenticated HTTP bulk transfer path instead.`,
  )
}

const refused = (text: string): HubRequest => ({ kind: 'refused', text })

const wordOf = (value: unknown): string =>
  typeof value === 'string' ? value.trim().toLowerCase().replaceAll('-', '_').slice(0, 100) : ''

import { isAbsolute, normalize, relative, sep } from 'node:path'
import { readTreeText, writeTreeText } from '../flow/live/tree-text.ts'
import { refuse } from '../model/error.ts'
import { visible } from '../review/visible.ts'
import type { Fields } from './json-rpc.ts'
import type { Session } from './session.ts'

const READ = 'fs/read_text_file'
const WRITE = 'fs/write_text_file'

/**
 * Answers what an agent asks of the editor's files: from its tree, and nothing else. The editor's own file stays as it is, saved or not.
 *
 * @returns null for a method that neither version of the protocol knows.
 */
export function answerFiles(session: Session, method: unknown, params: Fields): object | null {
  if (method !== READ && method !== WRITE) return null
  const path = pathInTree(session, params['path'])
  const { path: root } = session.tree
  if (method === WRITE) {
    const { content } = params
    if (typeof content !== 'string') refuse('invalid-arguments', `${WRITE}: content is no text`, {})
    writeTreeText(root, path, content)
    return {}
  }
  // An agent looks at a file before it makes it, and Gemini CLI 0.61 takes any error for the end of that: what is not there is empty.
  return { content: linesOf(readTreeText(root, path) ?? '', params) }
}

function pathInTree({ tree, root }: Session, given: unknown): string {
  if (typeof given !== 'string' || !isAbsolute(given))
    refuse('path-invalid', `the path must be absolute: ${JSON.stringify(visible(String(given)))}`, {})
  const path = normalize(given)
  for (const place of [tree.path, root]) {
    const inner = relative(place, path)
    if (inner !== '' && inner !== '..' && !inner.startsWith(`..${sep}`) && !isAbsolute(inner))
      return inner.split(sep).join('/')
  }
  return refuse('outside-repository', `${JSON.stringify(visible(given))} is outside of the session's tree`, {
    path: given,
  })
}

function linesOf(text: string, { line, limit }: Fields): string {
  const from = typeof line === 'number' && line > 1 ? Math.floor(line) - 1 : 0
  if (from === 0 && typeof limit !== 'number') return text
  const to = typeof limit === 'number' ? from + Math.max(0, Math.floor(limit)) : undefined
  return text
    .split(/(?<=\n)/)
    .slice(from, to)
    .join('')
}

import type { Translation } from '../model/dialect.ts'
import type { Edit, Tier } from '../model/edit.ts'
import { isWellFormed, quote } from '../policy/quote.ts'
import { numberedEdits } from './agent-zero-edits.ts'
import { parsePatchText } from './agent-zero-patch-text.ts'
import { hostPath } from './agent-zero-path.ts'
import { argument, faulty, type HostRequest, notText, saying } from './agent-zero-request.ts'
import { refusedWith, refusedWithAll, shown, translated } from './arguments.ts'

/** Agent Zero forgives blanks at the end of a line, and nothing else. */
export const agentZeroMaxTier: Tier = 'trailing-space'

/** Translates a `patch` in the one form that it has: `edits`, `patch_text`, or `old_text` with `new_text`. */
export function translatePatch(request: HostRequest, path: string): Translation {
  const edits = argument(request, 'edits')
  const patchText = argument(request, 'patch_text')
  const isReplace = argument(request, 'old_text') !== undefined || argument(request, 'new_text') !== undefined
  const forms = [edits !== undefined, patchText !== undefined, isReplace].filter(Boolean).length
  if (forms > 1) {
    const message = 'provide exactly one patch form: edits, patch_text, or old_text/new_text'
    return refusedWith(saying(request, 'invalid-batch', message))
  }
  if (isReplace) return translateReplace(request, path)
  if (patchText !== undefined) return translateContextPatch(request, path, patchText)
  return translateEdits(request, path, edits)
}

/** Unlike the remote tool, which compares whole lines only, the text may be part of a line, as in the server's tool. */
function translateReplace(request: HostRequest, path: string): Translation {
  const old = argument(request, 'old_text') || ''
  const text = argument(request, 'new_text') ?? ''
  if (old === '') {
    return refusedWith(saying(request, 'invalid-batch', 'old_text is required for exact replace'))
  }
  if (typeof old !== 'string' || typeof text !== 'string') {
    const message = `old_text is ${shown(old)}, new_text is ${shown(text)}; expected strings`
    return refusedWith(faulty(request, 'invalid-batch', message))
  }
  if (!isWellFormed(old)) return refusedWith(notText(request, 'old_text'))
  if (!isWellFormed(text)) return refusedWith(notText(request, 'new_text'))
  if (old === text) return refusedWith(saying(request, 'no-change', 'old_text and new_text are identical'))
  // The engine gives each new line the ending of its place; CRLF is no wish of Agent Zero's, which folds it.
  const folded = text.replaceAll('\r\n', () => '\n')
  return single(request, path, { op: 'replace', old, new: folded, all: false, maxTier: agentZeroMaxTier })
}

function translateContextPatch(request: HostRequest, path: string, patchText: unknown): Translation {
  if (typeof patchText !== 'string') {
    return refusedWith(
      faulty(request, 'invalid-batch', `patch_text is ${shown(patchText)}; expected a string`),
    )
  }
  if (patchText.trim() === '') {
    return refusedWith(saying(request, 'invalid-batch', 'patch_text must not be empty'))
  }
  if (!isWellFormed(patchText)) return refusedWith(notText(request, 'patch_text'))
  const parsed = parsePatchText(patchText)
  if (parsed.kind === 'refused') {
    const failures = parsed.faults.map(({ code, message, line, hint }) =>
      faulty(request, code, message, { native: message, line }, hint),
    )
    return refusedWithAll(failures)
  }
  const { headerPath, hunks } = parsed
  if (headerPath !== null && headerPath !== '' && !namesSameFile(request, headerPath, path)) {
    const message = `patch_text updates ${quote(headerPath)}, but path is ${quote(path)}`
    const hint = 'Name the same file in both, or leave the envelope out.'
    return refusedWith(faulty(request, 'invalid-batch', message, { header: headerPath, path }, hint))
  }
  return single(request, path, { op: 'hunks', flavour: 'envelope', hunks, maxTier: agentZeroMaxTier })
}

function namesSameFile({ context }: HostRequest, header: string, path: string): boolean {
  const named = hostPath(header, context.root)
  return named.kind === 'mapped' && named.path === path
}

function translateEdits(request: HostRequest, path: string, edits: unknown): Translation {
  const isEmpty = edits === undefined || edits === '' || (Array.isArray(edits) && edits.length === 0)
  if (isEmpty) {
    const message = 'edits, patch_text, or old_text/new_text is required for patch'
    return refusedWith(saying(request, 'invalid-batch', message))
  }
  if (!Array.isArray(edits)) {
    return refusedWith(saying(request, 'invalid-batch', 'edits must be a non-empty list'))
  }
  const { item, step } = request.context
  const result = numberedEdits(edits, { item, step, path })
  if (result.kind === 'refused') {
    const failures = result.faults.map(({ code, message, native }) =>
      faulty(request, code, message, native === undefined ? {} : { native }),
    )
    return refusedWithAll(failures)
  }
  if (result.edits.some(holdsLoneSurrogate)) return refusedWith(notText(request, 'content'))
  return translated(result.edits, request.context)
}

const holdsLoneSurrogate = (edit: Edit): boolean =>
  'content' in edit && typeof edit.content === 'string' && !isWellFormed(edit.content)

type WithoutPlace<T> = T extends Edit ? Omit<T, 'item' | 'step' | 'path'> : never

function single({ context }: HostRequest, path: string, edit: WithoutPlace<Edit>): Translation {
  const { item, step } = context
  return translated([{ ...edit, item, step, path }], context)
}

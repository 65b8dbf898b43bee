import { refuse } from '../model/error.ts'
import type { DraftAction } from '../review/draft.ts'
import { isComment, isDecision, isTyping } from '../review/read-draft.ts'

const ACTIONS_MAX = 5_000
const KEY_MAX_CHARACTERS = 200

type Fields = Readonly<Record<string, unknown>>

/** Reads what a page asks to do on a draft. @throws GalleyError `invalid-arguments`. */
export function readActions(value: unknown): readonly DraftAction[] {
  if (!Array.isArray(value) || value.length > ACTIONS_MAX)
    refuse('invalid-arguments', 'actions are a list', {})
  return value.map(
    (one: unknown, index) =>
      readAction(one) ?? refuse('invalid-arguments', `actions[${index}] is none that a view does`, { index }),
  )
}

function readAction(value: unknown): DraftAction | null {
  if (typeof value !== 'object' || value === null) return null
  const { kind, revision, keys, decision, hunkKey, isSplit, fileKey, isViewed, comment, typing } =
    value as Fields
  const isRevision = Number.isSafeInteger(revision)
  switch (kind) {
    case 'decide':
      if (!isRevision || !isKeys(keys) || (decision !== null && !isDecision(decision))) return null
      return { kind, revision: revision as number, keys, decision, via: 'web' }
    case 'undo':
      return isRevision ? { kind, revision: revision as number } : null
    case 'split':
      if (!isRevision || !isKey(hunkKey) || typeof isSplit !== 'boolean') return null
      return { kind, revision: revision as number, hunkKey, isSplit }
    case 'shown':
      return isKeys(keys) ? { kind, keys } : null
    case 'viewed':
      return isKey(fileKey) && typeof isViewed === 'boolean' ? { kind, fileKey, isViewed } : null
    case 'comment':
      return isComment(comment) ? { kind, comment } : null
    case 'type':
      return isTyping(typing) ? { kind, typing } : null
    default:
      return null
  }
}

const isKey = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= KEY_MAX_CHARACTERS
const isKeys = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isKey)

import type { Decided, Decision, DraftComment, ReviewDraft, Typing } from './draft.ts'

type Fields = Readonly<Record<string, unknown>>

/** Reads a draft back; null where the text is not one: anybody who can write the folder may have written it. */
export function readDraft(json: string): ReviewDraft | null {
  const value = fieldsOf(parse(json))
  if (value === null || value['version'] !== 1) return null
  const isWhole =
    [value['stamp'], value['revision']].every(isCount) &&
    (value['before'] === null || isCount(value['before'])) &&
    typeof value['digest'] === 'string' &&
    [value['shown'], value['viewed'], value['split']].every((list) => isList(list, isText)) &&
    isList(value['decided'], isDecided) &&
    isList(value['comments'], isComment) &&
    isList(value['typing'], isTyping) &&
    isList(value['steps'], isStep)
  return isWhole ? (value as unknown as ReviewDraft) : null
}

export const writeDraft = (draft: ReviewDraft): string => JSON.stringify(draft)

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const fieldsOf = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
const isText = (value: unknown): value is string => typeof value === 'string'
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isList = (value: unknown, isOne: (value: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isOne)
const isAbsentOr = (value: unknown, isOne: (value: unknown) => boolean): boolean =>
  value === undefined || isOne(value)

export function isDecision(value: unknown): value is Decision {
  const { kind, reason, text } = fieldsOf(value) ?? {}
  if (kind === 'accepted') return true
  return (kind === 'rejected' || (kind === 'edited' && isText(text))) && isText(reason)
}

function isDecided(value: unknown): value is Decided {
  const { key, decision, via } = fieldsOf(value) ?? {}
  return isText(key) && isDecision(decision) && (via === 'terminal' || via === 'web')
}

function isAboutText(value: unknown): boolean {
  const { text, path, about } = fieldsOf(value) ?? {}
  return isText(text) && isAbsentOr(path, isText) && isList(about, isText)
}

export function isComment(value: unknown): value is DraftComment {
  const { id, key, line, toLine } = fieldsOf(value) ?? {}
  return (
    isAboutText(value) &&
    isText(id) &&
    isAbsentOr(key, isText) &&
    [line, toLine].every((one) => isAbsentOr(one, isCount))
  )
}

export const isTyping = (value: unknown): value is Typing =>
  isAboutText(value) && isText(fieldsOf(value)?.['where'])

function isStep(value: unknown): boolean {
  const { before, split } = fieldsOf(value) ?? {}
  return isAbsentOr(split, isText) && isList(before, isStepPart)
}

function isStepPart(value: unknown): boolean {
  const { key, was } = fieldsOf(value) ?? {}
  return isText(key) && (was === null || isDecided(was))
}

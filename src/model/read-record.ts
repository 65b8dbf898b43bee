import type { Approval, ChangeEvent, QuotedLines } from './change.ts'
import { isChangeId, isObjectId } from './ids.ts'
import { remarkKinds } from './resolution.ts'

/**
 * Records read back from the store are checked for their form before they get their types: anybody who can write the folder can
 * write them, and a record of another form is a forgery, not a crash.
 */
type Check = (value: unknown) => boolean

const text: Check = (v) => typeof v === 'string'
const textOrNull: Check = (v) => v === null || text(v)
const count: Check = (v) => Number.isSafeInteger(v) && Number(v) >= 0
const countOrNull: Check = (v) => v === null || count(v)
const object: Check = (v) => typeof v === 'string' && isObjectId(v)
const objectOrNull: Check = (v) => v === null || object(v)
const change: Check = (v) => typeof v === 'string' && isChangeId(v)
const changeOrNull: Check = (v) => v === null || change(v)
const digest: Check = (v) => typeof v === 'string' && /^[0-9a-f]{64}$/.test(v)
const mode: Check = (v) => typeof v === 'string' && /^(?:000000|100644|100755|120000|160000)$/.test(v)
const isTrue: Check = (v) => v === true
const bool: Check = (v) => typeof v === 'boolean'
const optional =
  (check: Check): Check =>
  (v) =>
    v === undefined || check(v)
const list =
  (check: Check): Check =>
  (v) =>
    Array.isArray(v) && v.every(check)
const record =
  (fields: Readonly<Record<string, Check>>): Check =>
  (v) =>
    typeof v === 'object' &&
    v !== null &&
    !Array.isArray(v) &&
    Object.entries(fields).every(([name, check]) =>
      check(Object.hasOwn(v, name) ? (v as Record<string, unknown>)[name] : undefined),
    )

const transition = record({ path: text, oldMode: mode, oldBlob: object, newMode: mode, newBlob: object })
const agent: Check = (v) =>
  v === null || record({ name: text, model: optional(text), session: optional(text) })(v)
const version = record({ mode, id: object })
const file = record({
  path: text,
  tier: text,
  added: countOrNull,
  removed: countOrNull,
  renamedFrom: optional(text),
  working: optional(
    record({ old: objectOrNull, new: objectOrNull, mode: optional(mode), stays: optional(isTrue) }),
  ),
  taken: optional((v) => v === null || version(v)),
})
const sides: readonly unknown[] = ['new', 'old', 'diff'] satisfies QuotedLines['side'][]
const kinds: readonly unknown[] = remarkKinds
const remark = record({ kind: (v) => kinds.includes(v), item: count, path: text, text })
const read = record({ path: text, blob: objectOrNull })
const checkResult = record({
  name: text,
  commit: object,
  outcome: text,
  required: bool,
  exitCode: (v) => v === null || Number.isSafeInteger(v),
  durationMs: count,
  summary: text,
})
const revision = record({
  number: count,
  commit: object,
  tree: object,
  base: objectOrNull,
  digest,
  manifest: list(transition),
  files: list(file),
  remarks: list(remark),
  reads: list(read),
})
const landing = record({ ref: text, before: objectOrNull, after: object })
const again = record({ by: change, undo: change, isPart: optional(bool) })

const rule = record({ text, commit: objectOrNull })
const staging = record({
  revision,
  reason: text,
  title: optional(text),
  body: optional(text),
  agent: optional(agent),
})

const events: Readonly<Record<ChangeEvent['kind'], Check>> = {
  proposed: record({
    title: text,
    body: text,
    agent,
    onto: text,
    stackedOn: changeOrNull,
    key: textOrNull,
    batchHash: text,
    undoes: list(object),
    undoesPartly: optional(list(object)),
    redoes: list(object),
    captured: optional(isTrue),
    messages: optional(list(text)),
  }),
  staged: staging,
  restaged: staging,
  checked: record({ revision: count, checks: list(checkResult), commit: optional(object) }),
  commented: record({
    revision: count,
    text,
    path: optional(text),
    line: optional(count),
    toLine: optional(count),
    about: optional(record({ side: (v) => sides.includes(v), lines: list(text), isCut: optional(isTrue) })),
    byAgent: optional(isTrue),
    rejects: optional(isTrue),
    edits: optional(isTrue),
  }),
  approved: record({ revision: count, digest, tag: object, via: text, rule: optional(rule) }),
  rejected: record({ revision: count, reason: text }),
  landed: record({ revision: count, landing, again: optional(again) }),
  undone: record({ commit: object, undoneBy: change, isPart: optional(bool) }),
  stale: record({ reason: text }),
}

const anyEvent = record({
  kind: (v) => typeof v === 'string' && Object.hasOwn(events, v),
  at: text,
  by: text,
})

/** Reads a log event; null where the text is not one. */
export function readEventText(json: string): ChangeEvent | null {
  const value = parse(json)
  if (!anyEvent(value)) return null
  const event = value as ChangeEvent
  return events[event.kind](event) ? event : null
}

const approval = record({
  change,
  revision: count,
  commit: object,
  base: objectOrNull,
  tree: object,
  digest,
  messageHash: text,
  policyHash: text,
  checks: list(checkResult),
  by: text,
  via: text,
  at: text,
  expires: textOrNull,
  rule: optional(rule),
})

/** Reads the body of an approval's tag; null where the text is not one. */
export function readApprovalText(json: string): Omit<Approval, 'tag'> | null {
  const value = parse(json)
  return approval(value) ? (value as Omit<Approval, 'tag'>) : null
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

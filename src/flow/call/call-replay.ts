import { isRecord } from '../../dialects/arguments.ts'
import { validateMinoArguments } from '../../dialects/mino.ts'
import { dialectFor } from '../../dialects/registry.ts'
import { parseJson } from '../../intake/json.ts'
import type { DialectName, ToolItem } from '../../model/batch.ts'
import { limits } from '../../model/limits.ts'
import type { JournalEntry, KeptText } from '../../store/sessions.ts'
import { type CallRecord, callsOf } from '../../store/turns.ts'

/** Version of the rules that {@link canonicalArguments} applies. A journal keeps it beside each call that was begun. */
export const argumentsVersion = 1

export interface Replayed {
  readonly calls: readonly CallRecord[]
  /** Why the journal does not hold together, each as a sentence. Empty = it does. */
  readonly faults: readonly string[]
}

/**
 * Replays a session's journal: every step must follow from the one before, and every call that was begun must pass the
 * check of its arguments again, with the same canonical arguments.
 *
 * Looks at arguments alone. No project file is read, so that a session loads whatever has become of the files it
 * edited. Calls that were begun under another version of the rules are taken as they stand.
 *
 * @param textOf - The kept text of an entry; null = it is not at hand, and is then not checked.
 */
export function replayJournal(
  journal: readonly JournalEntry[],
  textOf: (kept: KeptText) => string | null = (kept) => ('text' in kept ? kept.text : null),
): Replayed {
  const { calls, faults } = callsOf(journal)
  const wrong = calls.flatMap((call) => argumentsFault(call, textOf) ?? [])
  return { calls, faults: [...faults, ...wrong] }
}

function argumentsFault(
  { entry, start }: CallRecord,
  textOf: (kept: KeptText) => string | null,
): string | null {
  if (start === null || start.version !== argumentsVersion) return null
  const [given, begun] = [textOf(entry.arguments), textOf(start.arguments)]
  if (given === null || begun === null) return null
  const input = inputOf(given)
  const canonical =
    input === null || entry.dialect === null
      ? null
      : canonicalArguments(entry.dialect, { tool: entry.tool, input }, start.directory)
  if (canonical === null) return `start of ${entry.call}: its arguments do not pass their check`
  return canonical === begun
    ? null
    : `start of ${entry.call}: it was begun with other arguments than it came with`
}

function inputOf(text: string): ToolItem['input'] | null {
  const json = parseJson(text, limits.jsonMaxDepth)
  return json.kind === 'value' && isRecord(json.value) ? json.value : null
}

/**
 * The arguments of a call in the one form that its system's own check gives them, or null where that refuses them. By
 * form alone: no file is looked at.
 *
 * @param root - Absolute path of the work tree's root.
 */
export function canonicalArguments(dialect: DialectName, call: ToolItem, root: string): string | null {
  if (dialect === 'mino') {
    const validated = validateMinoArguments(call.tool, call.input)
    return validated.kind === 'valid' ? validated.canonical : null
  }
  const context = { item: 0, step: 0, root }
  const adapter = dialectFor(dialect)
  const read = adapter?.readCall?.(call, context) ?? null
  const isTaken =
    read === null
      ? adapter?.translate(call, context).kind === 'edits' || isUndo(dialect, call)
      : 'kind' in read
  return isTaken ? stableJson(call.input) : null
}

/** The editor's `undo_edit` is no edit of a text: it is an undo of galley's. */
export const isUndo = (dialect: DialectName, call: ToolItem): boolean =>
  dialect === 'anthropic-editor' && call.input['command'] === 'undo_edit'

/** JSON with the keys of every object in order, so that equal values have equal texts. */
export function stableJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableJson).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${stableJson(value[key])}`).join(',')}}`
}

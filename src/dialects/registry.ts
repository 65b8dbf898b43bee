import type { Batch, BatchItem, DialectName, ToolItem } from '../model/batch.ts'
import type { Dialect, DialectContext, DialectProfile, Translation } from '../model/dialect.ts'
import type { Edit } from '../model/edit.ts'
import { limits } from '../model/limits.ts'
import type { Failure } from '../model/resolution.ts'
import { quote } from '../policy/quote.ts'
import { agentZero } from './agent-zero.ts'
import { anthropicEditor } from './anthropic-editor.ts'
import { failureOf, refusedWith } from './arguments.ts'
import { translateBlocks } from './blocks.ts'
import { translateOperation } from './canonical.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { type Detection, detectAmong } from './detect.ts'
import { translateEnvelope } from './envelope.ts'
import { gemini } from './gemini.ts'
import { Room } from './git-binary.ts'
import { mcpFilesystem } from './mcp-filesystem.ts'
import { mino } from './mino.ts'
import { translateDiff } from './unified-diff.ts'
import { zapmyco } from './zapmyco.ts'

/** Every dialect with tools of its own. Where several mean the same by a call, the first is its dialect. */
export const dialects: readonly Dialect[] = [
  mino,
  zapmyco,
  agentZero,
  codex,
  claudeCode,
  anthropicEditor,
  mcpFilesystem,
  gemini,
]

/** The profile of items with "op": nothing beyond what the policy says. */
const openProfile: DialectProfile = { order: 'original', maxTier: 'indent', needsRead: false }

export type TranslatedBatch =
  | {
      readonly kind: 'edits'
      readonly edits: readonly Edit[]
      /** By item. */
      readonly profiles: readonly DialectProfile[]
      /** By item; null for galley's own operations. */
      readonly dialects: readonly (DialectName | null)[]
    }
  | { readonly kind: 'refused'; readonly failures: readonly Failure[] }

/** The dialect of this name, or null where it is a form of text, which has no tools. */
export const dialectFor = (name: DialectName): Dialect | null =>
  dialects.find((dialect) => dialect.name === name) ?? null

/** Finds the dialect of a tool call; see {@link detectAmong}. */
export const detect = (call: ToolItem, dialect: DialectName | 'auto', context: DialectContext): Detection =>
  detectAmong(dialects, call, dialect, context)

/**
 * Translates every item of a batch into edits, with the step in which each applies. Nothing of any file is looked at.
 *
 * Items in a row that refer to the files as they were share one step; an item that sees the results of those before
 * it begins a new one. Which of the two holds is the batch's `order`, else the system's own for its tool calls, and
 * `original` for items with "op".
 *
 * @param context - `root`: absolute path of the work tree's root, for systems that send absolute paths.
 * @returns the edits, or the failures of all items.
 */
export function translateBatch(batch: Batch, context: { readonly root: string }): TranslatedBatch {
  if (batch.items.length === 0) return { kind: 'refused', failures: [emptyBatch] }
  const steps = new StepWalk()
  const room = new Room(limits.binaryPatchMaxBytes + limits.batchMaxBytes)
  const edits: Edit[] = []
  const failures: Failure[] = []
  const systems: System[] = []
  batch.items.forEach((batchItem, item) => {
    const system = systemOf(batchItem, batch, { item, step: 0, root: context.root })
    if (system.kind === 'refused') {
      failures.push(system.failure)
      return
    }
    systems.push(system)
    const step = steps.begin(batch.order ?? system.profile.order)
    const translation = system.translate({ item, step, root: context.root })
    if (translation.kind === 'refused') {
      for (const failure of translation.failures) failures.push(failure)
      return
    }
    if (!room.take(dataBytes(translation.edits))) {
      failures.push(tooMuchData(item))
      return
    }
    for (const edit of translation.edits) edits.push(edit)
    steps.end(translation.nextStep)
  })
  if (failures.length > 0) return { kind: 'refused', failures }
  return {
    kind: 'edits',
    edits,
    profiles: systems.map(({ profile }) => profile),
    dialects: systems.map(({ name }) => name),
  }
}

/** Bytes of content that the edits carry: a small patch may inflate to a lot. */
const dataBytes = (edits: readonly Edit[]): number =>
  edits.reduce((sum, edit) => {
    if (edit.op === 'write') return sum + edit.content.length
    return edit.op === 'delta' ? sum + edit.delta.length : sum
  }, 0)

const tooMuchData = (item: number): Failure => ({
  item,
  path: '',
  code: 'too-large',
  message: `the files and binary patches of the batch come to more than ${limits.binaryPatchMaxBytes} bytes`,
  data: { maxBytes: limits.binaryPatchMaxBytes },
})

interface System {
  readonly kind: 'system'
  readonly name: DialectName | null
  readonly profile: DialectProfile
  readonly translate: (context: DialectContext) => Translation
}

function systemOf(
  item: BatchItem,
  batch: Batch,
  context: DialectContext,
): System | { readonly kind: 'refused'; readonly failure: Failure } {
  if ('tool' in item) {
    const detection = detect(item, batch.dialect, context)
    if (detection.kind === 'refused') return detection
    const { dialect } = detection
    return {
      kind: 'system',
      name: dialect.name,
      profile: dialect.profile,
      translate: (c) => translateCall(item, dialect, c),
    }
  }
  const system = (name: DialectName | null, translate: System['translate']): System => ({
    kind: 'system',
    name,
    profile: openProfile,
    translate,
  })
  switch (item.op) {
    case 'patch':
      return system('codex', (c) => translateEnvelope(item.text, c))
    case 'diff':
      return system('unified-diff', (c) => translateDiff(item, c))
    case 'blocks':
      return system(batch.dialect === 'cline' ? 'cline' : 'aider', (c) => translateBlocks(item, c))
    default:
      return system(null, (c) => {
        const translated = translateOperation(item, c)
        if (translated.kind === 'refused') return translated
        return { kind: 'edits', edits: [translated.edit], nextStep: c.step + 1 }
      })
  }
}

/** A batch changes files; what only reads one is `galley call`'s. */
function translateCall(call: ToolItem, dialect: Dialect, context: DialectContext): Translation {
  const read = dialect.readCall?.(call, context) ?? null
  if (read === null) return dialect.translate(call, context)
  const message = `${quote(call.tool)} of ${dialect.name} only reads; it is no edit`
  const hint = 'Leave it out of the batch; `galley call` answers it, and "reads" says what was read.'
  return refusedWith(
    failureOf(call, context, { code: 'unknown-tool', message, data: { tool: call.tool }, hint }),
  )
}

/** Numbers the steps of a batch while its items are walked in order. */
class StepWalk {
  #next = 0
  /** The step shared by the run of `original` items that is under way; null within `sequential` ones. */
  #shared: number | null = null

  /** The step of the next item's first edit. */
  begin(order: 'original' | 'sequential'): number {
    if (order === 'sequential') {
      this.#shared = null
      return this.#next
    }
    this.#shared ??= this.#next
    return this.#shared
  }

  /** @param nextStep - The first step that the item did not use. */
  end(nextStep: number): void {
    this.#next = Math.max(this.#next, nextStep)
  }
}

const emptyBatch: Failure = {
  item: 0,
  path: '',
  code: 'empty-batch',
  message: 'the batch has no items',
  data: {},
}

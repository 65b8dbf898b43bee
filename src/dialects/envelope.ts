import type { DialectContext, Translation } from '../model/dialect.ts'
import type { Edit, HunksEdit, Tier } from '../model/edit.ts'
import { limits } from '../model/limits.ts'
import type { Failure } from '../model/resolution.ts'
import { type EnvelopePart, parseEnvelope } from './envelope-parse.ts'
import { fault, faultFailure, isFault, type ParseFault, pathFault } from './parse-fault.ts'
import { requestPath } from './request-path.ts'
import { StepCounter } from './steps.ts'

/** Codex itself ignores space at a line's end and folds typographic characters when it looks for a hunk. */
export const envelopeMaxTier: Tier = 'unicode'

const encoder = new TextEncoder()

/**
 * Translates a Codex `apply_patch` envelope.
 *
 * Each file once is one step; a file that is named again comes in a later step, as Codex applies parts in turn. Add
 * File makes a file that must be absent (Codex would overwrite). Never throws.
 *
 * Refuses `parse-error` (data.line), `empty-batch`, `not-utf8`, `too-large`, and with the codes of the path rules.
 *
 * @param base - Directory that relative paths start from; empty = the work tree's root.
 */
export function translateEnvelope(text: string, context: DialectContext, base = ''): Translation {
  const envelope = parseEnvelope(text)
  if (isFault(envelope)) return { kind: 'refused', failures: [faultFailure(envelope, context.item, 'patch')] }
  const steps = new StepCounter(context.step)
  const edits: Edit[] = []
  const failures: Failure[] = []
  for (const part of envelope.parts) {
    const made = partEdits(part, context, base, steps)
    if (isFault(made)) failures.push(faultFailure(made, context.item, 'patch'))
    else edits.push(...made)
    if (edits.length <= limits.batchMaxEdits) continue
    const message = `the patch makes more than the ${limits.batchMaxEdits} edits that fit in a batch`
    failures.push(faultFailure(fault(part.line, message, { code: 'too-large' }), context.item, 'patch'))
    break
  }
  if (failures.length > 0) return { kind: 'refused', failures }
  return { kind: 'edits', edits, nextStep: steps.next }
}

function partEdits(
  part: EnvelopePart,
  { item, root }: DialectContext,
  base: string,
  steps: StepCounter,
): readonly Edit[] | ParseFault {
  const from = requestPath(part.path, root, base)
  if (from.kind === 'refused') return pathFault(part.line, part.path, from.refusal)
  const path = from.path
  switch (part.kind) {
    case 'add': {
      const content = encoder.encode(part.content)
      return [{ op: 'write', item, step: steps.take(path), path, content, mode: 'create', isText: true }]
    }
    case 'delete':
      return [{ op: 'delete', item, step: steps.take(path), path }]
    case 'update': {
      if (part.to === null) return hunkEdits(part, { item, step: steps.take(path), path })
      const target = requestPath(part.to, root, base)
      if (target.kind === 'refused') return pathFault(part.toLine, part.to, target.refusal)
      const to = target.path
      // Models move a file onto itself to say that it keeps its name; Codex then only edits it.
      if (to === path && part.hunks.length > 0) return hunkEdits(part, { item, step: steps.take(path), path })
      if (to === path)
        return fault(part.toLine, 'the file is moved to where it is', { code: 'no-change', path })
      const step = steps.take(path, to)
      return [...hunkEdits(part, { item, step, path }), { op: 'move', item, step, path, to }]
    }
  }
}

function hunkEdits(
  part: Extract<EnvelopePart, { readonly kind: 'update' }>,
  place: Pick<HunksEdit, 'item' | 'step' | 'path'>,
): readonly Edit[] {
  if (part.hunks.length === 0) return []
  return [{ op: 'hunks', ...place, flavour: 'envelope', hunks: part.hunks, maxTier: envelopeMaxTier }]
}

import type { HunksEdit, Tier } from '../model/edit.ts'
import type { FileText } from './file-text.ts'
import { hunkClaims } from './hunk-splices.ts'
import { failed, type Outcome } from './outcome.ts'
import { placeEnvelope } from './place-envelope.ts'
import { placeUnified } from './place-unified.ts'
import { moreLenient } from './tiers.ts'

/** Resolves all hunks of one file. They refer to the file as it was and stand in its order. */
export function resolveHunks(text: FileText, edit: HunksEdit, maxTier: Tier): Outcome {
  const file = edit.flavour === 'unified' ? text.asGit : text
  const what = `patch of ${edit.path}`
  if (edit.hunks.length === 0) return failed('parse-error', `${what}: it has no hunk`)
  for (const [index, hunk] of edit.hunks.entries()) {
    const where = `${what}: hunk ${index + 1} (line ${hunk.sourceLine} of the patch)`
    if (hunk.lines.length === 0) return failed('parse-error', `${where} has no line`)
    if (hunk.lines.every((line) => line.kind === 'context')) {
      return failed('no-change', `${where} has context only, no line to add or remove`)
    }
  }
  const placing =
    edit.flavour === 'unified' ? placeUnified(file, edit, maxTier) : placeEnvelope(file, edit, maxTier)
  if (placing.kind === 'failed') return placing
  return {
    kind: 'claims',
    claims: placing.hunks.flatMap((placed) => hunkClaims(file, edit, placed)),
    tier: placing.hunks.reduce<Tier>((tier, placed) => moreLenient(tier, placed.tier), 'exact'),
    carried: false,
    remarks: [],
  }
}

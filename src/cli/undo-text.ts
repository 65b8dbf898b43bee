import type { UndoPreview } from '../flow/undo/undo.ts'
import { encodeDiff } from '../review/unified-diff.ts'
import { visible } from '../review/visible.ts'
import { laterText } from './overlap-text.ts'
import { diffText, shortId, shortRef } from './text.ts'
import type { Terminal } from './verb.ts'

/** What an undo would be, for people. */
export function previewText(preview: UndoPreview, terminal: Terminal): string {
  const head = `would stage on ${shortRef(preview.onto)}@${shortId(preview.base)}: ${visible(preview.title)}\n`
  return `${head}${laterText(preview.later)}\n${diffText(preview.pairs, terminal)}`
}

/** The same, for programs: the diff's bytes as text instead of the two sides. */
export function previewValue({ pairs, ...rest }: UndoPreview): Readonly<Record<string, unknown>> {
  return {
    dryRun: true,
    preview: { ...rest, diff: encodeDiff(pairs, { contextLines: 3 }).toString('utf8') },
  }
}

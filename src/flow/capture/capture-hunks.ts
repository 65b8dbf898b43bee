import type { LineHunk } from '../../editing/diff-lines.ts'
import { refuse } from '../../model/error.ts'
import type { DiffFile, DiffSide } from '../../review/diff-file.ts'
import { type NumberedHunk, numberHunks } from '../../review/unified-diff.ts'
import type { CapturedFile } from './capture-files.ts'
import { type CapturedSide, isSpecial } from './capture-special.ts'

/** As the listing shows them, and every surface after it. */
const CONTEXT_LINES = 3

/** A captured file with what was chosen of it. */
export interface ChosenFile {
  readonly file: CapturedFile
  readonly after: { readonly mode: CapturedSide['mode']; readonly bytes: Uint8Array } | null
  /** Some of what the file holds was not chosen. */
  readonly isPart: boolean
}

/** The files of a capture as a diff shows them. */
export function diffOf(files: readonly CapturedFile[]): readonly DiffFile[] {
  const side = (s: CapturedSide | null): DiffSide | null =>
    s === null ? null : { mode: s.mode, blob: s.blob, bytes: s.bytes }
  return files.map((f) => ({ path: f.path, before: side(f.before), after: side(f.after) }))
}

export const hunksOf = (files: readonly CapturedFile[]): readonly NumberedHunk[] =>
  numberHunks(diffOf(files), CONTEXT_LINES)

/**
 * Takes the hunks with these numbers, as the listing gives them. A file of which none is chosen is left out; a change of mode goes with
 * any hunk of its file.
 *
 * @throws GalleyError `out-of-range`, for a number that no hunk has.
 */
export function chooseHunks(
  files: readonly CapturedFile[],
  numbers: readonly number[],
): readonly ChosenFile[] {
  const hunks = hunksOf(files)
  const missing = numbers.find((n) => !hunks.some((h) => h.number === n))
  if (missing !== undefined) {
    refuse('out-of-range', `there is no hunk ${missing}; there are ${hunks.length}`, {
      hunk: missing,
      hunks: hunks.length,
    })
  }
  const wanted = new Set(numbers)
  return files.flatMap((file): readonly ChosenFile[] => {
    const own = hunks.filter((h) => h.path === file.path)
    const chosen = own.filter((h) => wanted.has(h.number))
    if (chosen.length === 0) return []
    if (chosen.length === own.length || isWhole(file)) return [{ file, after: file.after, isPart: false }]
    const mode = file.after?.mode ?? file.before?.mode ?? '100644'
    return [{ file, after: { mode, bytes: applyHunks(file.before?.bytes ?? nothing, chosen) }, isPart: true }]
  })
}

/** A link's target and a submodule's commit have no parts. */
const isWhole = ({ before, after }: CapturedFile): boolean =>
  [before, after].some((side) => side !== null && isSpecial(side.mode))

const nothing = new Uint8Array(0)
const LF = Buffer.from('\n')

/** Applies some hunks of a diff to its old side. */
export function applyHunks(before: Uint8Array, hunks: readonly LineHunk[]): Buffer {
  const lines = splitLines(before)
  const parts: Uint8Array[] = []
  let at = 0
  for (const hunk of hunks) {
    const from = hunk.oldCount === 0 ? hunk.oldStart : hunk.oldStart - 1
    parts.push(...lines.slice(at, from))
    for (const line of hunk.lines) {
      if (line.kind === 'remove') continue
      parts.push(line.text)
      if (line.unterminated !== true) parts.push(LF)
    }
    at = from + hunk.oldCount
  }
  parts.push(...lines.slice(at))
  return Buffer.concat(parts)
}

function splitLines(bytes: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at)
    const next = end === -1 ? bytes.length : end + 1
    lines.push(bytes.subarray(at, next))
    at = next
  }
  return lines
}

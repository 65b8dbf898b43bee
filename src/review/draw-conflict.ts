import diff3Merge from 'diff3'

/** A place where two sides changed the same lines of a base in different ways. Line numbers from 1, of each side's own file. */
export interface DrawnConflict {
  readonly ours: { readonly line: number; readonly text: readonly string[] }
  readonly base: { readonly line: number; readonly text: readonly string[] }
  readonly theirs: { readonly line: number; readonly text: readonly string[] }
}

export type Drawing =
  | { readonly kind: 'drawn'; readonly conflicts: readonly DrawnConflict[]; readonly more: number }
  /** Too long to draw within bounds, or not text. */
  | { readonly kind: 'not-drawn'; readonly reason: string }

/** The algorithm is quadratic in the number of edits: beyond this many lines a conflict is named, not drawn. */
const LINES_MAX = 5_000
const CONFLICTS_MAX = 10
const LINES_SHOWN = 40

/**
 * Draws where two versions of a file conflict, with the base between them, for people. git's own merge decides whether they
 * do; this only shows it.
 */
export function drawConflict(versions: {
  readonly ours: Uint8Array
  readonly base: Uint8Array
  readonly theirs: Uint8Array
}): Drawing {
  const [ours, base, theirs] = [versions.ours, versions.base, versions.theirs].map(splitLines)
  if (!ours || !base || !theirs) return { kind: 'not-drawn', reason: 'not text' }
  if (ours.length + base.length + theirs.length > LINES_MAX)
    return { kind: 'not-drawn', reason: `more than ${LINES_MAX} lines` }
  const conflicts = diff3Merge([...ours], [...base], [...theirs]).flatMap((part) =>
    part.conflict === undefined ? [] : [part.conflict],
  )
  const drawn = conflicts.slice(0, CONFLICTS_MAX).map((c) => ({
    ours: { line: c.aIndex + 1, text: c.a.slice(0, LINES_SHOWN) },
    base: { line: c.oIndex + 1, text: c.o.slice(0, LINES_SHOWN) },
    theirs: { line: c.bIndex + 1, text: c.b.slice(0, LINES_SHOWN) },
  }))
  return { kind: 'drawn', conflicts: drawn, more: conflicts.length - drawn.length }
}

function splitLines(bytes: Uint8Array): readonly string[] | null {
  if (bytes.includes(0)) return null
  const text = new TextDecoder('utf-8').decode(bytes)
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

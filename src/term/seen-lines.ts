import type { Body } from './body.ts'

/** Remembers which lines were on the screen, and says which pieces were so as a whole. */
export interface SeenLines {
  /** @returns Pieces, by their places, that are whole now and were not before. */
  readonly add: (body: Body, lines: { readonly first: number; readonly last: number }) => readonly number[]
}

export function openSeen(): SeenLines {
  let known: Body | null = null
  let left: number[] = []
  let seen = new Uint8Array(0)
  return {
    add: (body, { first, last }) => {
      if (body !== known) {
        // Another scroll: its lines have other places.
        known = body
        seen = new Uint8Array(body.lines.length)
        left = body.starts.map((start, i) => (body.starts[i + 1] ?? body.lines.length) - start)
      }
      const done: number[] = []
      for (let index = first; index <= last; index++) {
        const piece = body.lines[index]?.piece
        if (piece === undefined || seen[index] === 1) continue
        seen[index] = 1
        left[piece] = (left[piece] ?? 0) - 1
        if (left[piece] === 0) done.push(piece)
      }
      return done
    },
  }
}

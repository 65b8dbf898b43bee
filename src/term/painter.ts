import type { Painter } from './review-rows.ts'
import { bodyFor, shownPieces } from './review-state.ts'
import { openSyntax } from './syntax.ts'
import { wordMarks } from './word-marks.ts'

/** Syntax and word marks. Only lines that are drawn are looked at. */
export interface OpenPainter {
  readonly paint: Painter
  readonly close: () => void
}

/** Beside the chunk that this file is bundled into. */
const script = new URL('../syntax-worker.js', import.meta.url)

/** @param onReady - More colours are known: draw again. */
export function openPainter(onReady: () => void): OpenPainter {
  const syntax = openSyntax(script, onReady)
  return {
    paint: (state, line, index) => {
      const file = shownPieces(state)[line.piece]?.piece.file
      const side = line.kind === 'remove' ? file?.before : file?.after
      const number = line.kind === 'remove' ? line.old : line.fresh
      const isCode = side?.mode.startsWith('100') === true && number !== undefined
      const tokens = isCode
        ? syntax.paintsOf(side.bytes, file?.path ?? '', number, line.kind !== 'context')
        : []
      return [...tokens, ...wordMarks(bodyFor(state), index)]
    },
    close: syntax.close,
  }
}

import type { DialectContext, Translation } from '../../src/model/dialect.ts'
import type { Edit } from '../../src/model/edit.ts'
import { root } from './in-memory.ts'

/** Item 3, first step 5: numbers that nothing gives by accident. */
export const context: DialectContext = { item: 3, step: 5, root }

/** The edits of a translation, without what every edit has; a refusal as its codes and lines. */
export function shown(translation: Translation): unknown {
  if (translation.kind === 'refused') {
    return translation.failures.map(({ code, data }) => ('line' in data ? `${code} ${data['line']}` : code))
  }
  return translation.edits.map(({ item: _, ...edit }) => readable(edit))
}

/** Steps from the first on, and the number of steps used. */
export function stepsOf(translation: Translation): {
  readonly steps: readonly number[]
  readonly used: number
} {
  if (translation.kind === 'refused') return { steps: [], used: 0 }
  const steps = translation.edits.map(({ step }) => step - context.step)
  return { steps, used: translation.nextStep - context.step }
}

export const editsOf = (translation: Translation): readonly Edit[] => {
  if (translation.kind === 'edits') return translation.edits
  throw new Error(`refused: ${translation.failures.map(({ message }) => message).join('; ')}`)
}

/** Bytes as text, and steps from the first on. */
function readable(edit: Omit<Edit, 'item'>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(edit).map(([key, value]: readonly [string, unknown]) => {
      if (key === 'step') return [key, Number(value) - context.step]
      if (value instanceof Uint8Array) return [key, Buffer.from(value).toString('latin1')]
      return [key, key === 'hunks' ? (value as readonly unknown[]).map(readableHunk) : value]
    }),
  )
}

const SIGNS: Readonly<Record<string, string>> = { context: ' ', add: '+', remove: '-' }

function readableHunk(hunk: unknown): unknown {
  const { lines, ...rest } = hunk as {
    readonly lines: readonly { kind: string; text: Uint8Array; unterminated?: boolean }[]
  }
  const body = lines.map(
    ({ kind, text, unterminated }) =>
      `${SIGNS[kind]}${Buffer.from(text).toString('latin1')}${unterminated === true ? '\\' : ''}`,
  )
  return { ...rest, lines: body }
}

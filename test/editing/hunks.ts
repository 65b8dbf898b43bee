import type { Hunk, HunkLine } from '../../src/model/edit.ts'
import type { Draft } from './submit.ts'

/** A unified diff's hunks in short: `@3` (the old start) and then lines with their signs; `\` marks a missing newline. */
export function unified(text: string): Draft {
  return {
    op: 'hunks',
    flavour: 'unified',
    hunks: parse(text, (head) => ({ anchors: [], oldStart: head === '' ? null : Number(head) })),
  }
}

/** An envelope's hunks in short: `@anchor` or `@` alone; `$` marks the end of the file. */
export function envelope(text: string, more: Partial<Extract<Draft, { op: 'hunks' }>> = {}): Draft {
  const hunks = parse(text, (head) => ({ anchors: head === '' ? [] : head.split('|'), oldStart: null }))
  return { op: 'hunks', flavour: 'envelope', hunks, ...more }
}

const kinds: Readonly<Record<string, HunkLine['kind']>> = { ' ': 'context', '-': 'remove', '+': 'add' }

function parse(text: string, headOf: (head: string) => Pick<Hunk, 'anchors' | 'oldStart'>): readonly Hunk[] {
  const hunks: { head: string; lines: HunkLine[]; endOfFile: boolean }[] = []
  for (const line of text.split('\n')) {
    const last = hunks[hunks.length - 1]
    const kind = kinds[line[0] ?? '']
    if (line.startsWith('@')) hunks.push({ head: line.slice(1), lines: [], endOfFile: false })
    else if (line === '$' && last !== undefined) last.endOfFile = true
    else if (line === '\\' && last !== undefined) {
      const marked = last.lines.pop()
      if (marked !== undefined) last.lines.push({ ...marked, unterminated: true })
    } else if (kind !== undefined && last !== undefined)
      last.lines.push({ kind, text: Buffer.from(line.slice(1)) })
  }
  return hunks.map(({ head, lines, endOfFile }, index) => ({
    ...headOf(head),
    lines,
    endOfFile,
    sourceLine: index + 1,
  }))
}

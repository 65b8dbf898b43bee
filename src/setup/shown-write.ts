import type { PlannedWrite } from './setup.ts'

/** The lines that a planned write takes out and puts in, as a diff shows them. */
export function shownWrite({ before, after }: Pick<PlannedWrite, 'before' | 'after'>): string {
  const [old, next] = [linesOf(before ?? ''), linesOf(after)]
  let head = 0
  while (head < Math.min(old.length, next.length) && old[head] === next[head]) head++
  let tail = 0
  const room = Math.min(old.length, next.length) - head
  while (tail < room && old[old.length - 1 - tail] === next[next.length - 1 - tail]) tail++
  const gone = old.slice(head, old.length - tail).map((line) => `- ${line}`)
  const come = next.slice(head, next.length - tail).map((line) => `+ ${line}`)
  return [...gone, ...come].join('\n')
}

const linesOf = (text: string): readonly string[] =>
  text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)

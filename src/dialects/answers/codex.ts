import type { NativeAnswers } from '../../model/call.ts'
import type { ResolvedFile } from '../../model/resolution.ts'
import { foundText, othersText } from './native-text.ts'

/** Codex's answers: the list of files, those added first, then those changed or moved, then those deleted. */
export const codexAnswers: NativeAnswers = {
  // Codex reads by its shell.
  read: () => ({ kind: 'refused', text: 'Codex has no tool that only reads a file' }),
  done: ({ files }) => {
    const moved = new Set(files.flatMap((file) => file.renamedFrom ?? []))
    const letters = files.flatMap((file) => {
      const letter = letterOf(file)
      return letter === 'D' && moved.has(file.path) ? [] : [{ letter, path: file.path }]
    })
    const listed = ['A', 'M', 'D'].flatMap((letter) => letters.filter((file) => file.letter === letter))
    const lines = listed.map(({ letter, path }) => `${letter} ${path}\n`)
    return `Success. Updated the following files:\n${lines.join('')}`
  },
  refused: (_call, refusals) => {
    const [first] = refusals
    return first === undefined ? '' : `${foundText(first)}${othersText(refusals)}`
  },
}

function letterOf(file: ResolvedFile): 'A' | 'M' | 'D' {
  if (file.after.kind === 'absent') return 'D'
  return file.before.kind === 'absent' && file.renamedFrom === undefined ? 'A' : 'M'
}

import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { keyReviewFiles } from '../../src/flow/review/open-review.ts'
import { bodyOf } from '../../src/term/body.ts'
import { openSyntax } from '../../src/term/syntax.ts'
import { wordMarks } from '../../src/term/word-marks.ts'
import { builtProgram } from '../helpers/galley.ts'

const bytes = (text: string) => Buffer.from(text)

/** The words that are marked in each changed line, joined. */
function marked(before: string, after: string): readonly string[] {
  const side = (text: string) => ({ mode: '100644' as const, blob: text, bytes: bytes(text) })
  const pieces = keyReviewFiles([{ path: 'a', before: side(before), after: side(after) }])
  const body = bodyOf({ pieces, comments: [], drafts: [], context: new Map() })
  return body.lines.flatMap((line, index) => {
    if (line.kind !== 'add' && line.kind !== 'remove') return []
    const text = `${line.text}`
    return [
      wordMarks(body, index)
        .map(({ from, to }) => text.slice(from, to))
        .join('|'),
    ]
  })
}

describe('word marks', () => {
  test.each([
    ['const a = one\n', 'const a = two\n', ['one', 'two']],
    ['f(a, b)\n', 'f(a, b, c)\n', ['', ', c']],
    ['f(a)\ng(b)\n', 'f(x)\ng(y)\n', ['a', 'b', 'x', 'y']],
    ['quite another line\n', 'zzz\n', ['', '']],
    ['old\n', 'old\nand more\n', ['']],
    ['日本 a\n', '日本 b\n', ['a', 'b']],
    [`${'a '.repeat(600)}x\n`, `${'a '.repeat(600)}y\n`, ['', '']],
  ])('%j → %j', (before, after, expected) => expect(marked(before, after)).toEqual(expected))
})

describe('syntax colours', () => {
  const script = new URL('syntax-worker.js', pathToFileURL(builtProgram))

  test('come from the whole file, and a file made to be slow has none and holds up nothing', async () => {
    const slow = bytes(`${' '.repeat(60)}\n`.repeat(4_000))
    const plain = bytes('/* a\n b */\nconst x = "1"\n')
    let ready: () => void = () => undefined
    const isReady = new Promise<void>((resolve) => {
      ready = resolve
    })
    const syntax = openSyntax(script, ready)
    const colours = (of: Uint8Array, line: number) =>
      syntax.paintsOf(of, 'b.ts', line, false).map(({ style }) => style)
    expect([colours(slow, 1), colours(plain, 1)]).toEqual([[], []])
    await isReady
    expect([1, 2, 3].map((line) => colours(plain, line))).toEqual([['2'], ['2'], ['35', '33']])
    expect(colours(slow, 1)).toEqual([])
    syntax.close()
  })
})

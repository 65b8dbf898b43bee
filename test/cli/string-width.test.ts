import { expect, test } from 'vitest'
import { stringWidth } from '../../src/cli/string-width.ts'

test.each([
  ['', 0],
  ['galley propose <batch.json>', 27],
  ['\u001b[1mbold\u001b[22m', 4],
  ['naïve – “quoted” …', 18],
  ['e\u0301', 1],
  ['漢字', 4],
  ['한글', 4],
  ['🎉', 2],
  ['a\u200bb', 2],
  ['\u0007', 0],
])('%j takes %i columns', (text, columns) => {
  expect(stringWidth(text)).toBe(columns)
})

import { expect, test } from 'vitest'
import { nearestName } from '../../src/model/nearest-name.ts'

const known = ['path', 'old', 'new', 'content', 'expected', 'executable', 'timeoutSeconds']

test.each([
  ['pth', 'path'],
  ['PATH', 'path'],
  ['contnet', 'content'],
  ['contents', 'content'],
  ['exectuable', 'executable'],
  ['old_string', 'old'],
  ['newText', 'new'],
  ['file_path', 'path'],
  ['timeoutsecond', 'timeoutSeconds'],
])('%s most likely means %s', (word, meant) => {
  expect(nearestName(word, known)).toBe(meant)
})

test.each(['banana', '', 'x'.repeat(1_000_000), '__proto__'])('nothing is near %.20s', (word) => {
  expect(nearestName(word, known)).toBeNull()
})

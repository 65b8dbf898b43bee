import { expect, test } from 'vitest'
import { takenText } from '../../src/editing/taken-lines.ts'

const bytes = (text: string | null) => (text === null ? null : Buffer.from(text))

test.each([
  ['a\n', 'a\nx\ny\n', 'a\nx\ny\nz\n', 'takes 2 uncommitted lines along; it changes or removes none of them'],
  ['a\n', 'a\nx\ny\n', 'a\nX\ny\n', 'takes 2 uncommitted lines along; it changes or removes 1 of them'],
  ['a\n', 'a\nx\n', 'a\n', 'takes 1 uncommitted line along; it changes or removes 1 of them'],
  ['a\nb\n', 'a\nB\n', null, 'takes 1 uncommitted line along; it changes or removes 1 of them'],
  ['a\nb\nc\n', 'c\n', 'C\n', 'takes the uncommitted removal of 2 lines along'],
  [
    'a\nb\nc\n',
    'b\nc\nd\n',
    'b\nc\nd\n',
    'takes 1 uncommitted line and the uncommitted removal of 1 line along; it changes or removes none of them',
  ],
  ['a\n', 'a\n', 'b\n', 'takes an uncommitted change of its mode or line endings along'],
  ['a\n', null, 'b\n', 'takes the uncommitted deletion of this file along, and makes it anew'],
  ['a\0', 'b\0', 'b\0', 'takes uncommitted work in a binary file along'],
  ['a\0', 'b\0', 'c\0', 'takes uncommitted work in a binary file along, and replaces it'],
])('from %j over %j to %j: %s', (base, mine, next, text) => {
  expect(takenText({ base: bytes(base), mine: bytes(mine), next: bytes(next) })).toBe(text)
})

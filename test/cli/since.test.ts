import { describe, expect, test } from 'vitest'
import { readSince } from '../../src/cli/since.ts'

const now = Date.parse('2026-11-29T12:00:00.000Z')

describe('a moment as people write it', () => {
  test.each([
    ['2026-11-28', '2026-11-28T00:00:00.000Z'],
    ['2026-11-28T10:30:00Z', '2026-11-28T10:30:00.000Z'],
    ['3 days', '2026-11-26T12:00:00.000Z'],
    ['1 day ago', '2026-11-28T12:00:00.000Z'],
    ['2 Weeks ago', '2026-11-15T12:00:00.000Z'],
    ['36h', '2026-11-28T00:00:00.000Z'],
    ['90 minutes', '2026-11-29T10:30:00.000Z'],
    ['15m', '2026-11-29T11:45:00.000Z'],
    ['1 month', '2026-10-30T12:00:00.000Z'],
    ['yesterday', '2026-11-28T12:00:00.000Z'],
  ])('%s', (text, expected) => {
    expect(readSince(text, now)).toBe(expected)
  })

  test.each(['tomorrow', '', '3', 'days', '3 days hence', '2026-13-45', '-3 days', '1e9 days'])(
    'does not guess what %j means',
    (text) => {
      expect(() => readSince(text, now)).toThrow(expect.objectContaining({ code: 'usage' }))
    },
  )
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readExchangedRef } from '../../src/store/exchange.ts'

const id = 'g7k2m9abcd'

describe('the name of a ref that clones exchange', () => {
  test.each([
    [`refs/galley/log/${id}`, { kind: 'log', id }],
    [`refs/galley/changes/${id}/1`, { kind: 'revision', id, number: 1 }],
    [`refs/galley/changes/${id}/10000`, { kind: 'revision', id, number: 10_000 }],
    [`refs/galley/approvals/${id}/2/0123456789ab`, { kind: 'approval', id, number: 2, tag: '0123456789ab' }],
  ])('%s is read', (ref, expected) => {
    expect(readExchangedRef(ref)).toEqual(expected)
  })

  test.each([
    'refs/galley/log/',
    `refs/galley/log/${id}/1`,
    'refs/galley/log/main',
    `refs/galley/changes/${id}`,
    `refs/galley/changes/${id}/0`,
    `refs/galley/changes/${id}/01`,
    `refs/galley/changes/${id}/10001`,
    `refs/galley/changes/${id}/1/0123456789ab`,
    `refs/galley/changes/${id.toUpperCase()}/1`,
    `refs/galley/approvals/${id}/1`,
    `refs/galley/approvals/${id}/1/0123456789AB`,
    `refs/galley/approvals/${id}/1/0123456789abc`,
    `refs/galley/keys/${id}`,
    `refs/galley/landing/${id}`,
    `refs/galley/log/${id}\n`,
    `x/refs/galley/log/${id}`,
    'refs/heads/main',
  ])('%j is none', (ref) => {
    expect(readExchangedRef(ref)).toBeNull()
  })

  test('is never read from any other text', () => {
    const pattern =
      /^refs\/galley\/(?:log\/g\w{9}|changes\/g\w{9}\/\d+|approvals\/g\w{9}\/\d+\/[0-9a-f]{12})$/
    const part = fc.constantFrom(
      'refs',
      'galley',
      'log',
      'changes',
      'approvals',
      id,
      '1',
      '0',
      '..',
      '',
      '0123456789ab',
      'x',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const ref = parts.join('/')
        if (readExchangedRef(ref) !== null) expect(ref).toMatch(pattern)
      }),
      { numRuns: 10_000 },
    )
  })
})

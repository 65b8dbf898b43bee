import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { coveringMatcher } from '../../src/policy/path-matcher.ts'
import { parsePolicy } from '../../src/policy/policy-file.ts'

const parse = (allowedSigners: string) => parsePolicy(Buffer.from(JSON.stringify({ allowedSigners })))

describe('the list of allowed signers in the policy', () => {
  test.each(['keys/signers', 'signers', 'a b/[x]{1,2}*?!.txt', '!signers', 'ключи/кто'])(
    '%s is protected by being named',
    (path) => {
      const { policy, faults } = parse(path)
      expect(faults).toEqual([])
      expect(policy.allowedSigners).toBe(path)
      expect(coveringMatcher(policy.protect)(path)).not.toBeNull()
    },
  )

  test.each(['/etc/galley/signers', '~/signers'])('%s is outside and protects nothing', (path) => {
    const { policy, faults } = parse(path)
    expect([faults, policy.allowedSigners]).toEqual([[], path])
    expect(policy.protect).toEqual(parsePolicy(null).policy.protect)
  })

  test.each(['../signers', '.git/signers', 'a//b', 'keys\\signers'])('%s is a fault', (path) => {
    expect(parse(path).faults).toMatchObject([{ pointer: '/allowedSigners' }])
  })

  test('is protected or a fault, whatever its path', () => {
    const odd = fc.stringMatching(/^[a-z*?[\]{}!,. +$/-]{1,20}$/)
    fc.assert(
      fc.property(fc.oneof(odd, fc.string({ maxLength: 30 })), (path) => {
        const { policy, faults } = parse(path)
        const isOutside = /^(?:\/|~\/|[A-Za-z]:[\\/])/.test(path)
        if (faults.length > 0 || policy.allowedSigners === null || isOutside) return
        expect(coveringMatcher(policy.protect)(path)).not.toBeNull()
      }),
      { numRuns: 1000 },
    )
  })
})

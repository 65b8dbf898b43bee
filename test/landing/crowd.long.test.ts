import { expect, inject, test } from 'vitest'
import { errorCodes } from '../../src/model/error-codes.ts'
import { faultsOf, gatherCrowd } from './crowd.ts'

test('a crowd that lands in one repository loses nothing, mixes nothing, and is told why where it is refused', {
  timeout: 300_000,
}, async () => {
  expect(inject('buildFailure')).toBeNull()
  using crowd = await gatherCrowd(4, 6)
  expect(faultsOf(crowd, errorCodes)).toEqual([])
  expect(crowd.outcomes).toHaveLength(24)
  // Files of one's own never stand in anybody's way.
  expect(crowd.outcomes.filter(({ code }) => code === null).length).toBeGreaterThanOrEqual(20)
})

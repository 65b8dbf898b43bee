import { expect, test } from 'vitest'
import { indexLockOwner, indexLockText, landingId } from '../../src/store/landing-journal.ts'

test.each([
  ['gtest00000', 'gtest00000-00ff'],
  ['v1.2', 'v1.2-00ff'],
  ['a/b c\nd', 'a_b_c_d-00ff'],
  ['', '-00ff'],
])('a lock on the index that was taken for %j tells whose it is', (label, id) => {
  expect(landingId(label, Uint8Array.of(0, 255))).toBe(id)
  expect(indexLockOwner(indexLockText(id))).toBe(id)
})

test.each(['', 'galley ', 'galley a b\n', 'galley a-00ff', 'DIRC'])(
  'a lock that holds %j is none of ours',
  (text) => {
    expect(indexLockOwner(text)).toBeNull()
  },
)

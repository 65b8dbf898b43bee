import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Change, ChangeEvent, Revision } from '../../src/model/change.ts'
import { foldChange } from '../../src/model/fold-change.ts'
import { changeId, commitId, type Digest, type RefName, tagId, treeId } from '../../src/model/ids.ts'

const at = '2026-01-01T00:00:00.000Z'
const by = 'Ann <ann@example.org>'
const hex = (digit: string) => digit.repeat(40)

const revision = (number: number): Revision => ({
  number,
  commit: commitId(hex('1')),
  tree: treeId(hex('2')),
  base: null,
  digest: '3'.repeat(64) as Digest,
  manifest: [],
  files: [],
  remarks: [],
  reads: [],
})

const start: readonly ChangeEvent[] = [
  {
    ...{ kind: 'proposed', at, by, title: 't', body: '', agent: null, onto: 'refs/heads/main' as RefName },
    ...{ stackedOn: null, key: null, batchHash: '', undoes: [], redoes: [] },
  },
  { kind: 'staged', at, by, revision: revision(1), reason: 'proposed' },
]
const approved = (number: number): ChangeEvent => ({
  ...{ kind: 'approved', at, by, revision: number, digest: '3'.repeat(64) as Digest },
  ...{ tag: tagId(hex('4')), via: 'cli' },
})
const rejected = (number: number): ChangeEvent => ({
  kind: 'rejected',
  at,
  by,
  revision: number,
  reason: 'no',
})
const restaged: ChangeEvent = { kind: 'restaged', at, by, revision: revision(2), reason: 'again' }
const landed: ChangeEvent = {
  ...{ kind: 'landed', at, by, revision: 1 },
  landing: { ref: 'refs/heads/main' as RefName, before: null, after: commitId(hex('5')) },
}
const checked: ChangeEvent = { kind: 'checked', at, by, revision: 1, checks: [] }
const commented: ChangeEvent = { kind: 'commented', at, by, revision: 1, text: 'hm' }
const stale: ChangeEvent = { kind: 'stale', at, by, reason: 'gone' }

const fold = (...events: readonly ChangeEvent[]): Change =>
  foldChange(changeId('g7k2m9abcd'), [...start, ...events])

describe('the fold of two logs that were joined', () => {
  test('a no stays a no, wherever it stands among yeses, checks and comments', () => {
    const others = fc.array(fc.constantFrom(approved(1), checked, commented, rejected(1)), { maxLength: 6 })
    fc.assert(
      fc.property(others, others, (before, after) => {
        expect(fold(...before, rejected(1), ...after).state).toBe('rejected')
      }),
      { numRuns: 1000 },
    )
  })

  test('what landed stays landed, whatever was decided meanwhile', () => {
    const others = fc.array(fc.constantFrom(approved(1), checked, commented, rejected(1), stale), {
      maxLength: 6,
    })
    fc.assert(
      fc.property(others, (after) => {
        expect(fold(approved(1), landed, ...after).state).toBe('landed')
      }),
      { numRuns: 1000 },
    )
  })

  test('what is said of an earlier revision is nothing to the later one', () => {
    const late = fc.array(fc.constantFrom(approved(1), checked, commented, rejected(1)), { maxLength: 6 })
    fc.assert(
      fc.property(late, (after) => {
        expect(fold(restaged, ...after)).toMatchObject({ state: 'staged', approvals: [], rejection: null })
      }),
      { numRuns: 1000 },
    )
  })

  test('two yeses are two approvals', () => {
    expect(fold(approved(1), approved(1)).approvals).toHaveLength(2)
  })
})

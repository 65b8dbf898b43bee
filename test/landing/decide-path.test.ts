import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  combine,
  decideFile,
  decideIndexEntry,
  type PathFacts,
  type Version,
} from '../../src/landing/decide-path.ts'

const version = fc.record({
  mode: fc.constantFrom('100644', '100755', '120000'),
  id: fc.constantFrom('one', 'two', 'three'),
})
const place: fc.Arbitrary<Version | null> = fc.option(version, { freq: 4 })

/** What a place holds after the decision, or null where that is not known before a merge. */
function result(
  mine: Version | null,
  base: Version | null,
  next: Version | null,
): Version | null | 'merged' | 'overlap' {
  const to = combine(mine, base, next)
  if (to.kind === 'keep') return mine
  if (to.kind === 'remove') return null
  if (to.kind === 'set') return to.to
  return to.kind === 'merge' ? 'merged' : 'overlap'
}

describe('combining a place with a step', () => {
  test('gives the new version where the place holds the old one, and nothing to do where it holds the new one', () => {
    fc.assert(
      fc.property(place, place, (base, next) => {
        expect(result(base, base, next)).toEqual(next)
        expect(combine(next, base, next)).toEqual({ kind: 'keep' })
      }),
      { numRuns: 10_000 },
    )
  })

  test('never drops a version that is neither: it stays, it is merged, or the landing is refused', () => {
    fc.assert(
      fc.property(place, place, place, (mine, base, next) => {
        const after = result(mine, base, next)
        const isKnown = (a: Version | null, b: Version | null) => a?.mode === b?.mode && a?.id === b?.id
        if (isKnown(mine, base) || isKnown(mine, next) || typeof after === 'string') return
        expect(after).not.toBeNull()
        expect(mine).not.toBeNull()
        // What the user changed of it is what stands there after: content, executable bit, or both.
        if (mine?.id !== base?.id) expect(after?.id).toBe(mine?.id)
        if (mine?.mode !== base?.mode) expect(after?.mode).toBe(mine?.mode)
      }),
      { numRuns: 10_000 },
    )
  })

  test('merges nothing but regular files', () => {
    fc.assert(
      fc.property(place, place, place, (mine, base, next) => {
        const to = combine(mine, base, next)
        if (to.kind !== 'merge') return
        for (const side of [mine, base, next]) expect(side?.mode).toMatch(/^100/)
        expect(new Set([to.mine, to.base, to.next]).size).toBe(3)
      }),
      { numRuns: 10_000 },
    )
  })
})

const facts = (over: Partial<PathFacts>): PathFacts => {
  const base = { mode: '100644', id: 'old' }
  const next = { mode: '100644', id: 'new' }
  return {
    path: 'a',
    base,
    next,
    rawBase: over.base === undefined ? base : over.base,
    rawNext: over.next === undefined ? next : over.next,
    index: null,
    bound: undefined,
    stays: false,
    along: undefined,
    takenOver: [],
    standing: { kind: 'absent' },
    makesRoom: false,
    trustsExecutableBit: true,
    isOutsideCone: false,
    ...over,
  }
}

const file = (id: string, executable = false) =>
  ({
    kind: 'file',
    id,
    executable,
    permissions: executable ? 0o755 : 0o644,
    owner: 0,
    group: 0,
    identity: '1:1',
    links: 1,
  }) as const

describe('deciding about a working file', () => {
  test('a file that is left out and absent stays absent', () => {
    expect(decideFile(facts({ isOutsideCone: true }))).toEqual({ kind: 'keep' })
  })

  test("executable bits that mean nothing are no change of the user's", () => {
    const decided = decideFile(facts({ standing: file('old', true), trustsExecutableBit: false }))
    expect(decided).toEqual({ kind: 'set', to: { mode: '100644', id: 'new' } })
  })

  test("a submodule's directory is left alone", () => {
    const link = { mode: '160000', id: 'new' }
    expect(decideFile(facts({ next: link, rawNext: link, standing: { kind: 'directory' } }))).toEqual({
      kind: 'keep',
    })
  })

  test('what the change took over counts as the version before, for the very bytes and mode alone', () => {
    const taken = { mode: '100644', id: 'taken' }
    const takenOver = [{ entry: taken, file: taken }]
    const to = { kind: 'set', to: { mode: '100644', id: 'new' } }
    const index = { ...taken, intentToAdd: false, skipWorktree: false, assumeUnchanged: false }
    expect(decideFile(facts({ takenOver, standing: file('taken') }))).toEqual(to)
    expect(decideIndexEntry(facts({ takenOver, index }))).toEqual(to)
    expect(decideFile(facts({ takenOver, base: null, standing: file('taken') }))).toEqual(to)
    expect(decideFile(facts({ takenOver, standing: file('taken', true) }))).toMatchObject({ kind: 'merge' })
    expect(decideFile(facts({ takenOver, standing: file('other') }))).toMatchObject({ kind: 'merge' })
  })

  test('an intent to add is never dropped', () => {
    const index = {
      mode: '100644',
      id: 'empty',
      intentToAdd: true,
      skipWorktree: false,
      assumeUnchanged: false,
    }
    const decided = decideIndexEntry(facts({ base: null, index, standing: file('mine') }))
    expect(decided).toMatchObject({ kind: 'problem', problem: { code: 'overlaps-uncommitted' } })
  })
})

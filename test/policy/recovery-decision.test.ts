import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { recoveryAction, recoveryDirection, type StepFacts } from '../../src/policy/recovery-decision.ts'

const facts: fc.Arbitrary<StepFacts> = fc.record({
  kind: fc.constantFrom('write', 'create', 'delete'),
  standing: fc.constantFrom('old', 'next', 'absent', 'other'),
  isOldAside: fc.boolean(),
  staged: fc.constantFrom('waiting', 'linked', 'gone'),
  hasRestarted: fc.boolean(),
})

describe('recovering one file', () => {
  test('the ref alone says which way it goes', () => {
    expect(recoveryDirection(true)).toBe('forward')
    expect(recoveryDirection(false)).toBe('back')
  })

  test('never takes away a file that somebody else made', () => {
    fc.assert(
      fc.property(facts, fc.constantFrom('forward', 'back'), (found, direction) => {
        const action = recoveryAction(direction, found)
        if (found.standing === 'other') expect(['nothing', 'leave']).toContain(action)
      }),
      { numRuns: 10_000 },
    )
  })

  test('goes back only where it had gone forward', () => {
    fc.assert(
      fc.property(facts, (found) => {
        const action = recoveryAction('back', found)
        if (found.kind !== 'create' && !found.isOldAside) expect(action).toBe('nothing')
        if (found.kind === 'create' && found.staged === 'waiting') expect(action).toBe('nothing')
      }),
      { numRuns: 10_000 },
    )
  })

  test.each<[string, StepFacts, string]>([
    [
      'moved away, not yet replaced',
      { kind: 'write', standing: 'absent', isOldAside: true, staged: 'waiting', hasRestarted: false },
      'put-back',
    ],
    [
      'replaced',
      { kind: 'write', standing: 'next', isOldAside: true, staged: 'gone', hasRestarted: false },
      'exchange-back',
    ],
    [
      'replaced, the staged name still there',
      { kind: 'write', standing: 'next', isOldAside: true, staged: 'linked', hasRestarted: false },
      'exchange-back',
    ],
    [
      'replaced, and saved since',
      { kind: 'write', standing: 'other', isOldAside: true, staged: 'gone', hasRestarted: false },
      'leave',
    ],
    [
      'created',
      { kind: 'create', standing: 'next', isOldAside: false, staged: 'gone', hasRestarted: false },
      'take-away',
    ],
    [
      'created by somebody else with the same bytes',
      { kind: 'create', standing: 'next', isOldAside: false, staged: 'waiting', hasRestarted: false },
      'nothing',
    ],
    [
      'deleted',
      { kind: 'delete', standing: 'absent', isOldAside: true, staged: 'gone', hasRestarted: false },
      'put-back',
    ],
    [
      'deleted, and made again by somebody',
      { kind: 'delete', standing: 'other', isOldAside: true, staged: 'gone', hasRestarted: false },
      'leave',
    ],
  ])('back: %s', (_, found, action) => {
    expect(recoveryAction('back', found)).toBe(action)
  })

  test.each<[string, StepFacts, string]>([
    [
      'in place',
      { kind: 'write', standing: 'next', isOldAside: true, staged: 'gone', hasRestarted: false },
      'nothing',
    ],
    [
      'the old file came back with a loss of power',
      { kind: 'write', standing: 'old', isOldAside: false, staged: 'waiting', hasRestarted: false },
      'exchange-new',
    ],
    [
      'the old content was put there by somebody',
      { kind: 'write', standing: 'old', isOldAside: true, staged: 'gone', hasRestarted: false },
      'leave',
    ],
    [
      'deleted by somebody since',
      { kind: 'write', standing: 'absent', isOldAside: true, staged: 'gone', hasRestarted: false },
      'leave',
    ],
    [
      'deleted, as it should be',
      { kind: 'delete', standing: 'absent', isOldAside: true, staged: 'gone', hasRestarted: false },
      'nothing',
    ],
    [
      'a deletion that power loss undid',
      { kind: 'delete', standing: 'old', isOldAside: false, staged: 'gone', hasRestarted: false },
      'remove-old',
    ],
  ])('forward: %s', (_, found, action) => {
    expect(recoveryAction('forward', found)).toBe(action)
  })
})

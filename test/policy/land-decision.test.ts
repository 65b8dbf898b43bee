import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Approval, ChangeState, CheckResult, Revision } from '../../src/model/change.ts'
import { changeId, commitId, type Digest, tagId, treeId } from '../../src/model/ids.ts'
import type { Policy } from '../../src/model/policy.ts'
import { defaultPolicy } from '../../src/policy/default-policy.ts'
import { type ApprovalFact, decideLanding, type LandFacts } from '../../src/policy/land-decision.ts'
import { transition } from './transition.ts'

const digestOf = (letter: string) => letter.repeat(64) as Digest
const base = commitId('1'.repeat(40))
const moved = commitId('2'.repeat(40))
const commit = commitId('3'.repeat(40))
const id = changeId('g7k2m9abcd')
const now = '2026-03-01T12:00:00.000Z'

const revision: Revision = {
  number: 2,
  commit,
  tree: treeId('4'.repeat(40)),
  base,
  digest: digestOf('d'),
  manifest: [transition('src/a.ts')],
  files: [],
  remarks: [],
  reads: [],
}

const approval = (change: Partial<Approval> = {}): ApprovalFact => ({
  kind: 'approval',
  approval: {
    tag: tagId('5'.repeat(40)),
    change: id,
    revision: 2,
    commit,
    base,
    tree: revision.tree,
    digest: revision.digest,
    messageHash: 'm',
    policyHash: 'p',
    checks: [],
    by: 'Ann <ann@example.org>',
    via: 'cli',
    at: '2026-03-01T11:00:00.000Z',
    expires: null,
    ...change,
  },
})

/** With what a rule asks of each path. */
const described: Revision = {
  ...revision,
  files: [{ path: 'src/a.ts', tier: 'exact', added: 1, removed: 1 }],
}

const granting: Policy = {
  ...defaultPolicy,
  autoApprove: { paths: ['src/**'], maxFiles: null, maxLines: null, checks: [], maxTier: 'exact' },
}

const check = (change: Partial<CheckResult> = {}): CheckResult => ({
  name: 'test',
  commit,
  outcome: 'passed',
  required: true,
  exitCode: 0,
  durationMs: 1,
  summary: 'first line',
  ...change,
})

const withCheck: Policy = {
  ...defaultPolicy,
  checks: [
    {
      name: 'test',
      run: { kind: 'shell', line: 'x' },
      tree: 'full',
      timeoutMs: 1,
      paths: [],
      required: true,
    },
  ],
}
const requires = (change: Partial<Policy['approval']>): Policy => ({
  ...defaultPolicy,
  approval: { ...defaultPolicy.approval, ...change },
})

const facts: LandFacts = {
  id,
  state: 'approved',
  revision,
  recomputedDigest: revision.digest,
  messageHash: 'm',
  approvals: [approval()],
  checks: [],
  policy: defaultPolicy,
  tip: base,
  movedPaths: [],
  now,
}
const decide = (change: Partial<LandFacts> = {}) => decideLanding({ ...facts, ...change })
const codeOf = (change: Partial<LandFacts>) => {
  const decision = decide(change)
  return decision.kind === 'refused' ? decision.refusal.code : decision.kind
}

describe('an approved change', () => {
  test('is fast-forwarded where the tip is its base', () => {
    expect(decide()).toEqual({ kind: 'fast-forward' })
  })

  test('is re-parented where the tip moved and none of its files did', () => {
    expect(decide({ tip: moved })).toEqual({ kind: 're-parent' })
  })

  test('is merged where a file of its moved', () => {
    expect(decide({ tip: moved, movedPaths: ['src/a.ts'] })).toEqual({
      kind: 'merge',
      movedPaths: ['src/a.ts'],
    })
  })

  test('becomes the first commit of an unborn branch', () => {
    expect(codeOf({ tip: null, revision: { ...revision, base: null } })).toBe('fast-forward')
    expect(codeOf({ tip: moved, revision: { ...revision, base: null } })).toBe('re-parent')
  })

  test('is refused where its branch is gone', () => {
    expect(codeOf({ tip: null })).toBe('branch-moved')
  })
})

describe('the state', () => {
  test.each<[ChangeState, string]>([
    ['staged', 'fast-forward'],
    ['approved', 'fast-forward'],
    ['rejected', 'wrong-state'],
    ['landed', 'wrong-state'],
    ['undone', 'wrong-state'],
    ['stale', 'wrong-state'],
  ])('%s gives %s', (state, expected) => {
    expect(codeOf({ state })).toBe(expected)
  })
})

describe('tampering is a digest-mismatch', () => {
  test.each<[string, Partial<LandFacts>]>([
    ['the commit holds other bytes than were staged', { recomputedDigest: digestOf('e') }],
    [
      'the approval of this revision names another digest',
      { approvals: [approval({ digest: digestOf('e') })] },
    ],
    ['message or author are not those approved', { messageHash: 'other' }],
    [
      'one of two approvals of this revision names another digest',
      { approvals: [approval(), approval({ digest: digestOf('e') })] },
    ],
  ])('%s', (_, change) => {
    expect(codeOf(change)).toBe('digest-mismatch')
  })

  test('but an approval of an earlier revision is only no approval', () => {
    expect(codeOf({ approvals: [approval({ revision: 1, digest: digestOf('e') })] })).toBe('not-approved')
  })

  test('an approval of an earlier revision with the very same digest stands', () => {
    expect(codeOf({ approvals: [approval({ revision: 1, commit: moved })] })).toBe('fast-forward')
  })
})

describe('approvals', () => {
  test.each<[string, Partial<LandFacts>, string]>([
    ['none', { approvals: [] }, 'not-approved'],
    ['one of another change', { approvals: [approval({ change: changeId('gzzzzzzzzz') })] }, 'not-approved'],
    ['one that does not hold', { approvals: [{ kind: 'broken', ref: 'refs/x', reason: 'r' }] }, 'forged'],
    [
      'one that does not hold beside one that does',
      { approvals: [{ kind: 'broken', ref: 'refs/x', reason: 'r' }, approval()] },
      'fast-forward',
    ],
    ['one that expired', { approvals: [approval({ expires: '2026-03-01T11:59:59Z' })] }, 'expired'],
    ['one that expires this instant', { approvals: [approval({ expires: now })] }, 'expired'],
    ['one whose expiry cannot be read', { approvals: [approval({ expires: 'soon' })] }, 'expired'],
    [
      'one that has not expired',
      { approvals: [approval({ expires: '2026-03-01T12:00:01Z' })] },
      'fast-forward',
    ],
    [
      'one expired and one not',
      { approvals: [approval({ expires: '2026-01-01T00:00:00Z' }), approval()] },
      'fast-forward',
    ],
    ['one where two are needed', { policy: requires({ count: 2 }) }, 'not-approved'],
    [
      'two by one person where two are needed',
      {
        policy: requires({ count: 2 }),
        approvals: [approval(), approval({ by: 'A. N. <ANN@example.org>' })],
      },
      'not-approved',
    ],
    [
      'two by two where two are needed',
      { policy: requires({ count: 2 }), approvals: [approval(), approval({ by: 'Bob <bob@example.org>' })] },
      'fast-forward',
    ],
    [
      'two by two, one expired',
      {
        policy: requires({ count: 2 }),
        approvals: [approval(), approval({ by: 'Bob <b@x>', expires: '2026-01-01T00:00:00Z' })],
      },
      'expired',
    ],
    [
      'one by the command line where a terminal is needed',
      { policy: requires({ requires: 'terminal' }) },
      'not-approved',
    ],
    [
      'one at a terminal where a terminal is needed',
      { policy: requires({ requires: 'terminal' }), approvals: [approval({ via: 'terminal' })] },
      'fast-forward',
    ],
    [
      'one unsigned where a signature is needed',
      { policy: requires({ requires: 'signature' }) },
      'not-approved',
    ],
    [
      'one signed where a signature is needed',
      { policy: requires({ requires: 'signature' }), signedTags: [tagId('5'.repeat(40))] },
      'fast-forward',
    ],
    [
      'a rule that grants it now',
      { policy: granting, approvals: [approval({ via: 'rule' })], revision: described },
      'fast-forward',
    ],
    [
      'a rule that has been withdrawn',
      { approvals: [approval({ via: 'rule' })], revision: described },
      'not-approved',
    ],
  ])('%s', (_, change, expected) => {
    expect(codeOf(change)).toBe(expected)
  })

  test.each([
    ['rule', 'not-approved'],
    ['mcp-client', 'not-approved'],
    ['cli', 'fast-forward'],
    ['web', 'fast-forward'],
    ['terminal', 'fast-forward'],
  ] as const)('via %s of a protected path give %s', (via, expected) => {
    const change = {
      revision: { ...revision, manifest: [transition('.github/workflows/ci.yml')] },
      approvals: [approval({ via })],
    }
    expect(codeOf(change)).toBe(expected)
  })

  test.each([
    ['rule', 'not-approved'],
    ['mcp-client', 'not-approved'],
    ['cli', 'fast-forward'],
    ['terminal', 'fast-forward'],
  ] as const)('via %s of uncommitted work that goes along give %s', (via, expected) => {
    const remark = { kind: 'takes-uncommitted', item: 0, path: 'docs/a.md', text: '' } as const
    const taking = { ...described, remarks: [remark] }
    const decision = decideLanding({
      ...facts,
      policy: granting,
      revision: taking,
      approvals: [approval({ via })],
    })
    expect(decision.kind === 'refused' ? decision.refusal.code : decision.kind).toBe(expected)
    if (decision.kind === 'refused')
      expect(decision.refusal.message).toContain(
        'uncommitted work in docs/a.md goes along and needs a person',
      )
  })
})

describe('a file that the agent relied on and that moved', () => {
  test('refuses where the policy says so, and only there', () => {
    const refuses: Policy = { ...defaultPolicy, freshness: { reads: 'refuse', carry: false } }
    expect(codeOf({ policy: refuses, movedReads: ['src/clock.ts'] })).toBe('stale')
    expect(codeOf({ policy: refuses, movedReads: [] })).toBe('fast-forward')
    expect(codeOf({ movedReads: ['src/clock.ts'] })).toBe('fast-forward')
  })
})

describe('checks', () => {
  test.each<[string, Partial<LandFacts>, string]>([
    ['passed', { checks: [check()] }, 'fast-forward'],
    ['failed', { checks: [check({ outcome: 'failed' })] }, 'checks-failed'],
    ['timed out', { checks: [check({ outcome: 'timed-out' })] }, 'checks-failed'],
    ['not there', { checks: [] }, 'check-missing'],
    ['could not run', { checks: [check({ outcome: 'missing' })] }, 'check-missing'],
    ['passed on another commit', { checks: [check({ commit: moved })] }, 'check-missing'],
    ['passed after it had failed', { checks: [check({ outcome: 'failed' }), check()] }, 'fast-forward'],
    ['failed after it had passed', { checks: [check(), check({ outcome: 'failed' })] }, 'checks-failed'],
    [
      'one failed, one missing',
      { checks: [check({ name: 'built-in', outcome: 'failed' })] },
      'checks-failed',
    ],
    [
      'failed, not required',
      { checks: [check(), check({ name: 'style', required: false, outcome: 'failed' })] },
      'fast-forward',
    ],
  ])('%s', (_, change, expected) => {
    expect(codeOf({ policy: withCheck, ...change })).toBe(expected)
  })

  test('that apply to other paths only are not missed', () => {
    const [only] = withCheck.checks
    if (only === undefined) throw new Error('no check')
    expect(codeOf({ policy: { ...withCheck, checks: [{ ...only, paths: ['*.go'] }] } })).toBe('fast-forward')
  })
})

test('the first of several reasons is given: state, tampering, approval, expiry, checks, branch', () => {
  const steps: Partial<LandFacts>[] = [
    { state: 'rejected' },
    { recomputedDigest: digestOf('e') },
    { approvals: [] },
    { approvals: [approval({ expires: '2026-01-01T00:00:00Z' })] },
    { policy: withCheck, checks: [check({ outcome: 'failed' })] },
    { policy: withCheck, checks: [] },
    { tip: null },
  ]
  const codes = steps.map((_, index) => codeOf(Object.assign({}, ...steps.slice(index).reverse())))
  expect(codes).toEqual([
    'wrong-state',
    'digest-mismatch',
    'not-approved',
    'expired',
    'checks-failed',
    'check-missing',
    'branch-moved',
  ])
})

test('nothing lands without an approval of its very digest, message and author', () => {
  const letter = fc.constantFrom('d', 'e')
  const someApproval = fc.record({
    digest: letter.map(digestOf),
    messageHash: fc.constantFrom('m', 'n'),
    revision: fc.constantFrom(1, 2),
  })
  fc.assert(
    fc.property(
      letter,
      fc.constantFrom('m', 'n'),
      fc.array(someApproval, { maxLength: 3 }),
      fc.boolean(),
      (digest, messageHash, approvals, isMoved) => {
        const decision = decide({
          recomputedDigest: digestOf(digest),
          messageHash,
          approvals: approvals.map((one) => approval(one)),
          tip: isMoved ? moved : base,
        })
        if (decision.kind === 'refused') return
        expect(digest).toBe('d')
        expect(
          approvals.some((one) => one.digest === revision.digest && one.messageHash === messageHash),
        ).toBe(true)
      },
    ),
    { numRuns: 5000 },
  )
})

import { describe, expect, test } from 'vitest'
import type { CheckResult, RevisionFile } from '../../src/model/change.ts'
import { commitId } from '../../src/model/ids.ts'
import type { AutoApprove, CheckCommand, Policy } from '../../src/model/policy.ts'
import { autoApproves } from '../../src/policy/auto-approve.ts'
import { defaultPolicy } from '../../src/policy/default-policy.ts'
import { applicableChecks } from '../../src/policy/required-checks.ts'
import { transition } from './transition.ts'

const commit = commitId('c'.repeat(40))
const rule: AutoApprove = { paths: ['docs/**'], maxFiles: 2, maxLines: 10, checks: ['lint'], maxTier: 'eol' }
const command = (change: Partial<CheckCommand>): CheckCommand => ({
  name: 'test',
  run: { kind: 'shell', line: 'x' },
  tree: 'full',
  timeoutMs: 1,
  paths: [],
  required: true,
  ...change,
})
const result = (change: Partial<CheckResult>): CheckResult => ({
  name: 'lint',
  commit,
  outcome: 'passed',
  required: true,
  exitCode: 0,
  durationMs: 1,
  summary: '',
  ...change,
})
const file = (path: string, change: Partial<RevisionFile> = {}): RevisionFile => ({
  path,
  tier: 'exact',
  added: 3,
  removed: 2,
  ...change,
})
const facts = (change: object = {}) => ({
  manifest: [transition('docs/a.md'), transition('docs/b.md')],
  files: [file('docs/a.md'), file('docs/b.md', { tier: 'eol' })],
  checks: [result({})],
  remarks: [],
  ...change,
})
const policyWith = (change: Partial<Policy> = {}): Policy => ({
  ...defaultPolicy,
  autoApprove: rule,
  ...change,
})

test('a rule approves what stays within all of it, and its text is the record', () => {
  const verdict = autoApproves(policyWith(), facts())
  expect(verdict).toEqual({ kind: 'yes', rule: JSON.stringify({ autoApprove: rule }) })
})

describe('a rule does not approve', () => {
  const noReason = (policy: Policy, change: object = {}) => {
    const verdict = autoApproves(policy, facts(change))
    return verdict.kind === 'no' ? verdict.reason : 'yes'
  }

  test.each<[string, Policy, object, string]>([
    ['anything where there is none', policyWith({ autoApprove: null }), {}, 'no autoApprove'],
    ['in read-only mode', policyWith({ mode: 'read-only' }), {}, 'read-only'],
    [
      'where a terminal is required',
      policyWith({ approval: { requires: 'terminal', count: 1, expiresAfterHours: null } }),
      {},
      'terminal',
    ],
    [
      'where a signature is required',
      policyWith({ approval: { requires: 'signature', count: 1, expiresAfterHours: null } }),
      {},
      'signature',
    ],
    [
      'where two approvers are',
      policyWith({ approval: { requires: 'any', count: 2, expiresAfterHours: null } }),
      {},
      'count is 2',
    ],
    ['nothing', policyWith(), { manifest: [], files: [] }, 'nothing changes'],
    ['a denied path', policyWith({ deny: ['docs/a.md'] }), {}, 'denies'],
    [
      'uncommitted work that goes along',
      policyWith(),
      { remarks: [{ kind: 'takes-uncommitted', item: 0, path: 'docs/a.md', text: '' }] },
      'uncommitted work in "docs/a.md" goes along',
    ],
    ['a new file that git ignores', policyWith(), { ignored: ['docs/a.md'] }, 'ignore rules cover it'],
    ['a protected path', policyWith({ protect: ['docs/b*'] }), {}, 'is protected'],
    [
      'a new executable bit',
      policyWith(),
      { manifest: [transition('docs/a.md', '100644', '100755')], files: [file('docs/a.md')] },
      'becomes executable',
    ],
    [
      'a symbolic link',
      policyWith(),
      { manifest: [transition('docs/a.md', '000000', '120000')], files: [file('docs/a.md')] },
      'symbolic link',
    ],
    [
      'a path that no glob matches',
      policyWith(),
      { manifest: [transition('src/a.md')], files: [file('src/a.md')] },
      'no pattern',
    ],
    [
      'a path in another letter case',
      policyWith(),
      { manifest: [transition('Docs/a.md')], files: [file('Docs/a.md')] },
      'no pattern',
    ],
    ['too many files', policyWith({ autoApprove: { ...rule, maxFiles: 1 } }), {}, '2 paths change'],
    ['too many lines', policyWith({ autoApprove: { ...rule, maxLines: 9 } }), {}, '10 lines change'],
    [
      'lines that cannot be counted',
      policyWith(),
      { files: [file('docs/a.md', { added: null }), file('docs/b.md')] },
      'is binary',
    ],
    ['a path without a record of its match', policyWith(), { files: [file('docs/a.md')] }, 'not recorded'],
    [
      'a match beyond its tier',
      policyWith(),
      { files: [file('docs/a.md', { tier: 'unicode' }), file('docs/b.md')] },
      'tier "unicode"',
    ],
    ['without the check that it names', policyWith(), { checks: [] }, '"lint" did not run'],
    ['with that check failed', policyWith(), { checks: [result({ outcome: 'failed' })] }, '"lint" failed'],
    [
      'with that check too slow',
      policyWith(),
      { checks: [result({ outcome: 'timed-out' })] },
      '"lint" timed out',
    ],
    [
      'with that check unable to run',
      policyWith(),
      { checks: [result({ outcome: 'missing' })] },
      '"lint" did not run',
    ],
    [
      'with another required check failed',
      policyWith(),
      { checks: [result({}), result({ name: 'x', outcome: 'failed' })] },
      '"x" failed',
    ],
    [
      'without a required check of the policy',
      policyWith({ checks: [command({})] }),
      {},
      '"test" did not run',
    ],
    [
      'with results of another commit',
      policyWith(),
      { commit: commitId('d'.repeat(40)) },
      '"lint" did not run',
    ],
  ])('%s', (_, policy, change, reason) => {
    expect(noReason(policy, change)).toContain(reason)
  })

  test('but a failed check that nobody requires is no reason', () => {
    const checks = [result({}), result({ name: 'style', required: false, outcome: 'failed' })]
    expect(autoApproves(policyWith(), facts({ checks, commit })).kind).toBe('yes')
  })

  test('nor are binary files without a bound on lines', () => {
    const policy = policyWith({ autoApprove: { ...rule, maxLines: null } })
    const files = [file('docs/a.md', { added: null, removed: null }), file('docs/b.md')]
    expect(autoApproves(policy, facts({ files })).kind).toBe('yes')
  })
})

test('a check applies where it has no globs or one of them matches', () => {
  const checks = [
    command({ name: 'all' }),
    command({ name: 'docs', paths: ['docs'] }),
    command({ name: 'ts', paths: ['*.ts'] }),
  ]
  const applicable = applicableChecks(policyWith({ checks }), [transition('Docs/a.md')])
  expect(applicable.map(({ name }) => name)).toEqual(['all', 'docs'])
})

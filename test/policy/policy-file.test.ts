import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { defaultPolicy, defaultProtect } from '../../src/policy/default-policy.ts'
import { parsePolicy, policyRefusal } from '../../src/policy/policy-file.ts'

const encode = (value: unknown) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const parse = (value: unknown) => parsePolicy(encode(value))

function policyOf(value: unknown) {
  const { policy, faults } = parse(value)
  expect(faults).toEqual([])
  return policy
}

describe('a policy', () => {
  test('without a file is the default, and so is an empty object', () => {
    expect(parsePolicy(null)).toEqual({ policy: defaultPolicy, faults: [] })
    expect(policyOf('{}')).toEqual(defaultPolicy)
    expect(policyOf({ $schema: 'https://example.org/x' })).toEqual(defaultPolicy)
  })

  test('has the defaults of DESIGN.md', () => {
    expect(defaultPolicy).toMatchObject({
      mode: 'read-write',
      deny: [],
      autoApprove: null,
      checkHooks: true,
      recheck: 'full',
      freshness: { reads: 'warn', carry: false },
      matching: { maxTier: 'unicode' },
      commit: { author: 'user' },
      approval: { requires: 'any', count: 1, expiresAfterHours: null },
      sign: 'none',
    })
  })

  test('takes every key', () => {
    const policy = policyOf({
      mode: 'full',
      deny: ['secrets/**', '*.pem'],
      protect: ['db/**', '.envrc'],
      autoApprove: { paths: ['docs/**'], maxFiles: 3, maxLines: 40, checks: ['lint'], maxTier: 'eol' },
      checks: [
        {
          name: 'lint',
          run: ['npx', 'biome', ''],
          tree: 'touched',
          timeoutSeconds: 1.5,
          paths: ['*.ts'],
          required: false,
        },
        { name: 'test', run: 'npm test' },
      ],
      recheck: 'touched',
      limits: { fileMaxBytes: 1000, batchMaxEdits: 10, batchMaxFiles: 5 },
      freshness: { reads: 'refuse', carry: true },
      matching: { maxTier: 'exact' },
      commit: { author: 'agent' },
      approval: { requires: 'signature', count: 2, expiresAfterHours: 0.5 },
      sign: 'ssh',
      allowedSigners: '/etc/galley/signers',
      guard: ['main', 'release/*'],
      setup: { run: 'npm ci', lockFiles: ['package-lock.json'] },
    })
    expect(policy).toEqual({
      mode: 'full',
      deny: ['secrets/**', '*.pem'],
      protect: [...defaultProtect, 'db/**'],
      autoApprove: { paths: ['docs/**'], maxFiles: 3, maxLines: 40, checks: ['lint'], maxTier: 'eol' },
      checks: [
        {
          name: 'lint',
          run: { kind: 'argv', argv: ['npx', 'biome', ''] },
          tree: 'touched',
          timeoutMs: 1500,
          paths: ['*.ts'],
          required: false,
        },
        {
          name: 'test',
          run: { kind: 'shell', line: 'npm test' },
          tree: 'full',
          timeoutMs: limits.checkDefaultTimeoutMs,
          paths: [],
          required: true,
        },
      ],
      checkHooks: true,
      recheck: 'touched',
      limits: { fileMaxBytes: 1000, batchMaxEdits: 10, batchMaxFiles: 5 },
      freshness: { reads: 'refuse', carry: true },
      matching: { maxTier: 'exact' },
      commit: { author: 'agent' },
      approval: { requires: 'signature', count: 2, expiresAfterHours: 0.5 },
      sign: 'ssh',
      allowedSigners: '/etc/galley/signers',
      guard: ['main', 'release/*'],
      setup: { run: { kind: 'shell', line: 'npm ci' }, lockFiles: ['package-lock.json'] },
    })
  })

  test('takes checks as an object too', () => {
    const policy = policyOf({
      checks: { commands: [{ name: 'a', run: ['x'] }], hooks: false, recheck: 'touched' },
    })
    expect(policy.checks.map(({ name }) => name)).toEqual(['a'])
    expect([policy.checkHooks, policy.recheck]).toEqual([false, 'touched'])
    expect(policyOf({ recheck: 'touched', checks: { hooks: false } }).recheck).toBe('touched')
  })

  test('has the default of what stands under null, where none is a meaning', () => {
    const value = {
      autoApprove: null,
      allowedSigners: null,
      setup: null,
      approval: { expiresAfterHours: null },
    }
    expect(policyOf(value)).toEqual(defaultPolicy)
  })

  test('fills what a rule of autoApprove leaves out with the strictest', () => {
    expect(policyOf({ autoApprove: { paths: ['docs/**'] } }).autoApprove).toEqual({
      paths: ['docs/**'],
      maxFiles: null,
      maxLines: null,
      checks: [],
      maxTier: 'exact',
    })
  })
})

describe('a fault of the policy is named with its pointer', () => {
  test.each([
    [{ mod: 'full' }, '/mod', 'unknown key "mod"; the nearest known is "mode"'],
    [
      { mode: 'readonly' },
      '/mode',
      'expected one of "read-only", "read-write", "full" (most likely "read-only")',
    ],
    [{ mode: null }, '/mode', 'found null'],
    [{ deny: 'secrets' }, '/deny', 'expected a list, found text "secrets"'],
    [{ deny: ['ok', 7] }, '/deny/1', 'expected a glob, found number 7'],
    [{ deny: [''] }, '/deny/0', 'the pattern is empty'],
    [{ deny: ['/etc'] }, '/deny/0', 'absolute'],
    [{ deny: ['!a'] }, '/deny/0', '"!"'],
    [{ protect: ['a/../b'] }, '/protect/0', '".." part'],
    [{ protect: ['[a'] }, '/protect/0', 'no "]"'],
    [{ autoApprove: {} }, '/autoApprove/paths', '"paths" is missing'],
    [{ autoApprove: ['docs'] }, '/autoApprove', 'expected an object, found a list'],
    [
      { autoApprove: { paths: ['a'], maxfiles: 3 } },
      '/autoApprove/maxfiles',
      'the nearest known is "maxFiles"',
    ],
    [
      { autoApprove: { paths: ['a'], maxFiles: 0 } },
      '/autoApprove/maxFiles',
      'expected a whole number from 1',
    ],
    [
      { autoApprove: { paths: ['a'], maxTier: 'fuzzy' } },
      '/autoApprove/maxTier',
      'expected one of "exact", "eol"',
    ],
    [{ checks: 'npm test' }, '/checks', 'expected an object, found text "npm test"'],
    [{ checks: [{ run: 'x' }] }, '/checks/0/name', '"name" is missing'],
    [{ checks: [{ name: 'a' }] }, '/checks/0/run', '"run" is missing'],
    [{ checks: [{ name: 'a', run: [] }] }, '/checks/0/run', 'a list of arguments that begins with a program'],
    [{ checks: [{ name: 'a', run: ['x', 1] }] }, '/checks/0/run', 'found a list'],
    [{ checks: [{ name: 'a', run: ' ' }] }, '/checks/0/run', 'a line for the shell'],
    [{ checks: [{ name: 'a', run: 'x\0y' }] }, '/checks/0/run', 'a line for the shell'],
    [{ checks: [{ name: 'a\nb', run: 'x' }] }, '/checks/0/name', 'one line'],
    [
      { checks: [{ name: 'a', run: 'x', tree: 'none' }] },
      '/checks/0/tree',
      'expected one of "touched", "full"',
    ],
    [
      { checks: [{ name: 'a', run: 'x', timeoutSeconds: 0 }] },
      '/checks/0/timeoutSeconds',
      'a number above 0',
    ],
    [{ checks: [{ name: 'a', run: 'x', timeout: 5 }] }, '/checks/0/timeout', 'unknown key "timeout"'],
    [
      {
        checks: [
          { name: 'a', run: 'x' },
          { name: 'a', run: 'y' },
        ],
      },
      '/checks/1/name',
      'two checks have the name "a"',
    ],
    [{ checks: { hook: true } }, '/checks/hook', 'the nearest known is "hooks"'],
    [{ checks: { hooks: 'yes' } }, '/checks/hooks', 'expected true or false'],
    [
      { recheck: 'full', checks: { recheck: 'touched' } },
      '/recheck',
      '"recheck" is "full" here and "touched" in "checks"',
    ],
    [{ limits: { fileMaxBytes: '1 MB' } }, '/limits/fileMaxBytes', 'expected a whole number from 1'],
    [
      { limits: { batchMaxEdits: limits.batchMaxEdits + 1 } },
      '/limits/batchMaxEdits',
      'expected a whole number',
    ],
    [{ freshness: { read: 'warn' } }, '/freshness/read', 'the nearest known is "reads"'],
    [{ approval: { requires: 'sig' } }, '/approval/requires', '"signature"'],
    [{ approval: { count: 1.5 } }, '/approval/count', 'found number 1.5'],
    [{ approval: { expiresAfterHours: -1 } }, '/approval/expiresAfterHours', 'above 0'],
    [{ sign: 'gpg' }, '/sign', 'expected one of "none", "ssh"'],
    [{ allowedSigners: '' }, '/allowedSigners', 'not empty'],
    [{ guard: ['/main'] }, '/guard/0', 'absolute'],
    [{ setup: {} }, '/setup/run', '"run" is missing'],
    [{ setup: { run: 'x', lockFiles: ['../lock'] } }, '/setup/lockFiles/0', 'climbs above the root'],
    [{ __proto__x: 1 }, '/__proto__x', 'unknown key'],
  ])('%j', (value, pointer, message) => {
    expect(parse(value).faults).toEqual([
      expect.objectContaining({ pointer, message: expect.stringContaining(message) }),
    ])
  })

  test.each([
    ['', 1, 1, 'the end of the text'],
    ['{\n  "mode": "full",\n}', 3, 1, 'expected a key'],
    ['{"mode":"full","mode":"full"}', 1, 16, 'stands twice'],
    ['[]', 1, 1, 'expected an object, found a list'],
    ['null', 1, 1, 'found null'],
    ['{"a":'.repeat(100), 1, 321, 'nested deeper'],
  ])('also of a file that is no object: %j', (text, line, column, message) => {
    expect(parse(text).faults).toEqual([
      { line, column, pointer: '', message: expect.stringContaining(message) },
    ])
  })

  test('also of a file that is no UTF-8, or too large', () => {
    expect(parsePolicy(Uint8Array.of(0x22, 0xff, 0x22)).faults[0]?.message).toContain('UTF-8')
    expect(parsePolicy(new Uint8Array(limits.policyMaxBytes + 1)).faults[0]?.message).toContain('more than')
  })
})

describe('the faults of one file', () => {
  const text = `{
  "mode": "rw",
  "deny": ["/a", "ok", "../b"],
  "autoApprove": { "maxFiles": 0 },
  "checks": [ { "nam": "x", "run": 1 } ],
  "x": 1
}`

  test('are all listed at once, in the order of the text, with line and column', () => {
    expect(parse(text).faults.map(({ line, column, pointer }) => [line, column, pointer])).toEqual([
      [2, 11, '/mode'],
      [3, 12, '/deny/0'],
      [3, 24, '/deny/2'],
      [4, 18, '/autoApprove/paths'],
      [4, 32, '/autoApprove/maxFiles'],
      [5, 15, '/checks/0/name'],
      [5, 17, '/checks/0/nam'],
      [5, 36, '/checks/0/run'],
      [6, 3, '/x'],
    ])
  })

  test('make one refusal', () => {
    const refusal = policyRefusal(parse(text).faults)
    expect(refusal?.code).toBe('invalid-policy')
    expect(refusal?.message).toMatch(
      /^\.galley\.json has 9 faults: line 2, \/mode: expected one of .*; line 6, \/x: unknown key "x"/,
    )
    expect(refusal?.data['faults']).toHaveLength(9)
    expect(policyRefusal([])).toBeNull()
  })
})

test('no JSON value makes the reader throw, and what it reads without faults it reads into a whole policy', () => {
  const key = fc.constantFrom(
    'mode',
    'deny',
    'protect',
    'checks',
    'approval',
    'limits',
    'guard',
    'setup',
    'autoApprove',
    'x',
  )
  const value = fc.oneof(
    fc.constantFrom<unknown>('full', [], ['a'], {}, null, 1, [{}], { paths: ['a'] }),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 4 }), (file) => {
      const { policy } = parse(file)
      expect(Object.keys(policy).sort()).toEqual(Object.keys(defaultPolicy).sort())
      expect(policy.protect.slice(0, defaultProtect.length)).toEqual(defaultProtect)
    }),
    { numRuns: 1000 },
  )
})

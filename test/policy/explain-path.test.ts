import { describe, expect, test } from 'vitest'
import type { Tier } from '../../src/model/edit.ts'
import type { PermissionMode } from '../../src/model/policy.ts'
import { explainPath } from '../../src/policy/explain-path.ts'
import { parsePolicy } from '../../src/policy/policy-file.ts'

const { policy } = parsePolicy(
  Buffer.from(
    JSON.stringify({
      deny: ['secret/**'],
      autoApprove: { paths: ['docs/**', '*.md'], maxLines: 50, maxTier: 'trailing-space' },
      checks: [{ name: 'lint', run: ['true'], paths: ['docs/**'] }],
    }),
  ),
)

/** Lines, tier and checks of the four columns. */
const columns: readonly (readonly [number, Tier, 'passed' | 'failed'])[] = [
  [10, 'exact', 'passed'],
  [60, 'exact', 'passed'],
  [10, 'indent', 'passed'],
  [10, 'exact', 'failed'],
]
const [asked, denied, guarded, rule] = [
  'the mode that was asked with: "read-only"',
  '/deny: "secret/**"',
  '/protect: ".git*"',
  '/autoApprove',
]
const refused = Array(4).fill(`refused by ${asked}`) as readonly string[]
const person = Array(4).fill(`person by ${rule}`) as readonly string[]
/** A change of each path in each column. */
const rows: Readonly<Record<string, readonly string[]>> = {
  'docs/a.md': [`rule by ${rule}/paths: "docs/**"`, ...person.slice(1)],
  'src/a.ts': person,
  'secret/k': Array(4).fill(`refused by ${denied}`),
  '.github/w.yml': Array(4).fill(`person by ${guarded}`),
  // No check is about it, so that none can fail.
  'README.md': [
    `rule by ${rule}/paths: "*.md"`,
    person[1] ?? '',
    person[2] ?? '',
    `rule by ${rule}/paths: "*.md"`,
  ],
}
const modes: readonly PermissionMode[] = ['read-only', 'read-write', 'full']

describe('who decides, and what says so', () => {
  const table = modes.flatMap((permissionMode) =>
    Object.entries(rows).flatMap(([path, answers]) =>
      columns.map(([lines, tier, checks], column) => ({
        permissionMode,
        path,
        lines,
        tier,
        checks,
        answer: permissionMode === 'read-only' ? refused[column] : answers[column],
      })),
    ),
  )

  test.each(table)(
    '$permissionMode, $path, $lines lines, $tier, checks $checks: $answer',
    ({ answer, ...change }) => {
      const { decision, by } = explainPath(policy, { ...change, oldMode: '100644', newMode: '100644' })
      expect(`${decision} by ${by}`).toBe(answer)
    },
  )

  test('there are sixty', () => {
    expect(table.length).toBe(60)
  })

  test.each([
    ['000000', '100755', 'person', 'becomes executable'],
    ['000000', '120000', 'person', 'is a symbolic link'],
    ['160000', '000000', 'person', 'was a submodule'],
    ['100644', '000000', 'rule', 'every condition of the rule is met'],
  ] as const)('%s to %s: %s, for it %s', (oldMode, newMode, decision, why) => {
    const change = {
      path: 'docs/a',
      oldMode,
      newMode,
      lines: 1,
      tier: 'exact',
      permissionMode: 'full',
      checks: 'passed',
    } as const
    expect(explainPath(policy, change)).toMatchObject({ decision, why })
  })
})

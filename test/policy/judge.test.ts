import { describe, expect, test } from 'vitest'
import type { Edit } from '../../src/model/edit.ts'
import { type FileMode, manifestOf } from '../../src/model/manifest.ts'
import type { Policy } from '../../src/model/policy.ts'
import { defaultPolicy } from '../../src/policy/default-policy.ts'
import {
  judgeManifest,
  judgePathForReading,
  judgePaths,
  judgeTransitions,
  matchesAny,
  protectedPaths,
  strictest,
} from '../../src/policy/judge.ts'
import { transition } from './transition.ts'

const policyWith = (change: Partial<Policy>): Policy => ({ ...defaultPolicy, ...change })
const deletion = (path: string, item = 0): Edit => ({ op: 'delete', item, step: 0, path })
const zeroItem = () => 0

describe('the stricter of two modes', () => {
  test.each([
    ['read-only', 'full', 'read-only'],
    ['full', 'read-only', 'read-only'],
    ['read-write', 'full', 'read-write'],
    ['read-write', 'read-only', 'read-only'],
    ['full', 'full', 'full'],
  ] as const)('of %s and %s is %s', (a, b, expected) => {
    expect(strictest(a, b)).toBe(expected)
  })
})

describe('edits', () => {
  test('of denied paths fail, each with its item and pattern', () => {
    const policy = policyWith({ deny: ['secrets/**', '*.pem'] })
    const failures = judgePaths(policy, [
      deletion('a', 0),
      deletion('secrets/x', 1),
      deletion('Keys/A.PEM', 2),
    ])
    expect(failures).toEqual([
      {
        code: 'denied-path',
        message: 'edit "secrets/x": the policy denies it with "secrets/**"',
        data: { path: 'secrets/x', pattern: 'secrets/**' },
        item: 1,
        path: 'secrets/x',
      },
      expect.objectContaining({ code: 'denied-path', item: 2, path: 'Keys/A.PEM' }),
    ])
  })

  test('are judged by both ends of moves and copies', () => {
    const policy = policyWith({ deny: ['secrets/**'] })
    const both: Edit[] = [
      { op: 'move', item: 0, step: 0, path: 'a', to: 'secrets/a' },
      { op: 'copy', item: 1, step: 0, path: 'secrets/b', to: 'b' },
    ]
    expect(judgePaths(policy, both).map(({ item, path }) => [item, path])).toEqual([
      [0, 'secrets/a'],
      [1, 'secrets/b'],
    ])
  })

  test('all fail where the mode is read-only', () => {
    expect(judgePaths(policyWith({ mode: 'read-only' }), [deletion('a'), deletion('b', 1)])).toEqual([
      expect.objectContaining({ code: 'read-only', item: 0 }),
      expect.objectContaining({ code: 'read-only', item: 1 }),
    ])
  })

  test('of a fresh default policy are all allowed', () => {
    expect(judgePaths(defaultPolicy, [deletion('.github/workflows/ci.yml'), deletion('a')])).toEqual([])
  })
})

test('a denied path may not be read either', () => {
  const policy = policyWith({ deny: ['.env*'], mode: 'read-only' })
  expect(judgePathForReading(policy, 'pkg/.ENV.local')?.code).toBe('denied-path')
  expect(judgePathForReading(policy, 'src/env.ts')).toBeNull()
})

test('a path matches a list by any of its patterns', () => {
  expect(matchesAny(['*.ts', 'docs'], 'docs/a.md')).toBe(true)
  expect(matchesAny(['*.ts'], 'a.md')).toBe(false)
  expect(matchesAny([], 'a')).toBe(false)
})

describe('a transition is refused', () => {
  test.each([
    ['of a denied path', transition('Secrets/x', '100644', '100644'), 'denied-path'],
    ['that deletes a denied path', transition('secrets/x', '100644', '000000'), 'denied-path'],
    ['into a .git', transition('sub/.GIT/hooks/x', '000000', '100644'), 'path-invalid'],
  ])('%s', (_, change, code) => {
    const failures = judgeTransitions(policyWith({ deny: ['secrets'] }), [change], () => 7)
    expect(failures).toEqual([expect.objectContaining({ code, item: 7, path: change.path })])
  })

  test('but not where it edits, adds or deletes a file, a link or a submodule', () => {
    const manifest = [
      transition('l', '100644', '120000'),
      transition('s', '000000', '160000'),
      transition('a', '100644', '100644'),
      transition('b', '000000', '100755'),
      transition('c', '120000', '000000'),
    ]
    expect(judgeTransitions(defaultPolicy, manifest, zeroItem)).toEqual([])
  })
})

const isProtected = (path: string, oldMode: FileMode = '100644', newMode: FileMode = '100644') =>
  protectedPaths(defaultPolicy, [transition(path, oldMode, newMode)]).length > 0

describe('by default a person is needed for', () => {
  test.each([
    ...[
      '.galley.json',
      '.gitignore',
      '.gitattributes',
      '.gitmodules',
      'sub/.gitignore',
      '.github/workflows/ci.yml',
    ],
    ...[
      '.github/CODEOWNERS',
      '.GitHub/workflows/x.yml',
      '.gitlab-ci.yml',
      '.gitlab/ci/x.yml',
      '.circleci/config.yml',
    ],
    ...[
      'Jenkinsfile',
      'azure-pipelines.yml',
      '.travis.yml',
      'bitbucket-pipelines.yml',
      '.woodpecker.yml',
      '.drone.yml',
    ],
    ...[
      '.buildkite/pipeline.yml',
      'appveyor.yml',
      '.husky/pre-commit',
      'lefthook.yml',
      '.pre-commit-config.yaml',
    ],
    ...[
      '.githooks/x',
      'pkg/.gitattributes',
      'lefthook-local.yml',
      '.lefthook-local.json',
      '.config/lefthook.jsonc',
      '.lefthook-local/pre-commit/x.sh',
      'pkg/.husky/pre-push',
      '.lintstagedrc.mjs',
      'commitlint.config.ts',
      '.overcommit.yml',
      '.npmrc',
      'pkg/.npmrc',
      '.yarnrc',
      '.yarnrc.yml',
      '.yarn/releases/yarn-4.cjs',
      '.pnpmfile.cjs',
      '.pnp.loader.mjs',
      'bunfig.toml',
      '.cargo/config.toml',
      '.mvn/extensions.xml',
      'gradle/wrapper/gradle-wrapper.properties',
      '.bazelrc',
      '.mise.toml',
      'mise.local.toml',
      '.tool-versions',
      '.bashrc',
      '.config/git/config',
      '.devcontainer/devcontainer.json',
      'x.code-workspace',
      '.dir-locals.el',
      '.azuredevops/x.yml',
      '.envrc',
      'pkg/.envrc',
      '.vscode/tasks.json',
      'pkg/.vscode/x',
    ],
    ...[
      '.idea/workspace.xml',
      '.claude/settings.json',
      'pkg/.claude/settings.json',
      '.mcp.json',
      'CLAUDE.md',
    ],
    ...[
      'AGENTS.md',
      'docs/agents.md',
      '.cursor/rules/x.mdc',
      '.cursorrules',
      '.codex/config.toml',
      '.gemini/settings.json',
    ],
    ...[
      '.aider.conf.yml',
      '.clinerules',
      '.windsurf/x',
      '.continue/config.json',
      '.github/copilot-instructions.md',
    ],
  ])('%s', (path) => {
    expect(isProtected(path)).toBe(true)
  })

  test('a new executable bit, on a new file or an old one', () => {
    expect(isProtected('run.sh', '100644', '100755')).toBe(true)
    expect(isProtected('run.sh', '000000', '100755')).toBe(true)
    expect(protectedPaths(defaultPolicy, [transition('run.sh', '100644', '100755')])).toEqual([
      { path: 'run.sh', reason: 'becomes executable' },
    ])
  })

  test('the end of a symbolic link or submodule', () => {
    expect(isProtected('ln', '120000', '000000')).toBe(true)
    expect(isProtected('sub', '160000', '100644')).toBe(true)
  })
})

describe('no person is needed for', () => {
  test.each([
    'src/a.ts',
    'src/hooks/use-x.ts',
    'hooks/use-x.ts',
    'hooks/pre-push', // where git's hooks do lie there, the clone protects them
    'Makefile',
    'docs/npmrc.md',
    'gradle/libs.versions.toml',
    'src/agent/x.ts',
    'src/yarn.ts',
    'README.md',
    'package.json',
    'git/x',
    'vscode/x',
    'docs/claude.txt',
  ])('%s', (path) => {
    expect(isProtected(path)).toBe(false)
  })

  test('an executable file that stays one, or a lost executable bit', () => {
    expect(isProtected('run.sh', '100755', '100755')).toBe(false)
    expect(isProtected('run.sh', '100755', '100644')).toBe(false)
  })
})

describe('a whole manifest', () => {
  const manifest = manifestOf([transition('src/a.ts'), transition('.envrc')])
  const facts = { mode: 'full', itemOf: zeroItem } as const

  test('needs a person where one path is protected', () => {
    expect(judgeManifest(defaultPolicy, manifest, facts)).toEqual({
      denied: [],
      protectedPaths: [{ path: '.envrc', reason: 'protected by ".envrc"' }],
      decision: 'person',
    })
  })

  test('may be approved by a rule where none is', () => {
    expect(judgeManifest(defaultPolicy, [transition('src/a.ts')], facts).decision).toBe('rule-or-person')
  })

  test('is refused where one path is denied, whatever allows it', () => {
    const policy = policyWith({
      deny: ['src'],
      autoApprove: { paths: ['**'], maxFiles: null, maxLines: null, checks: [], maxTier: 'indent' },
    })
    const judgement = judgeManifest(policy, manifest, facts)
    expect(judgement.decision).toBe('refused')
    expect(judgement.denied).toEqual([expect.objectContaining({ code: 'denied-path', path: 'src/a.ts' })])
  })

  test('is refused where either mode is read-only', () => {
    for (const [policyMode, mode] of [
      ['read-only', 'full'],
      ['full', 'read-only'],
    ] as const) {
      const judgement = judgeManifest(policyWith({ mode: policyMode }), manifest, { ...facts, mode })
      expect(judgement.decision).toBe('refused')
      expect(judgement.denied.map(({ code }) => code)).toEqual(['read-only', 'read-only'])
    }
  })
})

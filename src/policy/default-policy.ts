import { limits } from '../model/limits.ts'
import type { Policy } from '../model/policy.ts'

/**
 * Paths whose change always needs a person (DESIGN.md section 10): they run code on someone's machine, or change what
 * is seen, checked or allowed. Directories of editors and agents count at any depth, since those tools look there.
 */
export const defaultProtect: readonly string[] = [
  '.galley.json',
  '.git*',
  // Continuous integration.
  '.github/**',
  '.gitlab-ci.yml',
  '.circleci/**',
  '.buildkite/**',
  '.forgejo/**',
  '.semaphore/**',
  '.teamcity/**',
  '.woodpecker*',
  '.drone.yml',
  '.travis.yml',
  '.cirrus.yml',
  '.appveyor.yml',
  'appveyor.yml',
  'azure-pipelines*.yml',
  'bitbucket-pipelines.yml',
  'Jenkinsfile*',
  // Hooks.
  '.husky/**',
  'lefthook.yml',
  '.lefthook.yml',
  'lefthook.{yaml,json,toml}',
  '.lefthook.{yaml,json,toml}',
  '.lefthook/**',
  '.pre-commit-config.yaml',
  '.pre-commit-hooks.yaml',
  'hooks/**',
  // What shells and editors run when a directory is entered or opened.
  '.envrc',
  '**/.vscode/**',
  '**/.idea/**',
  // What agents obey.
  '.mcp.json',
  '**/.claude/**',
  'CLAUDE.md',
  'CLAUDE.local.md',
  'AGENTS.md',
  'AGENTS.override.md',
  'GEMINI.md',
  'QWEN.md',
  '**/.agents/**',
  '**/.codex/**',
  '**/.cursor/**',
  '.cursorrules',
  '**/.gemini/**',
  '**/.qwen/**',
  '**/.opencode/**',
  'opencode.json{,c}',
  '.aider*',
  '.cline*',
  '**/.continue/**',
  '**/.windsurf/**',
  '.windsurfrules',
  '.roo*',
  '**/.kiro/**',
  '**/.junie/**',
  '**/.augment/**',
  '.goosehints',
]

/** The policy of a repository without a `.galley.json`, and the value of every key that the file leaves out. */
export const defaultPolicy: Policy = {
  mode: 'read-write',
  deny: [],
  protect: defaultProtect,
  autoApprove: null,
  checks: [],
  checkHooks: true,
  recheck: 'full',
  limits: {
    fileMaxBytes: limits.fileMaxBytes,
    batchMaxEdits: limits.batchMaxEdits,
    batchMaxFiles: limits.batchMaxEdits,
  },
  freshness: { reads: 'warn', carry: false },
  matching: { maxTier: 'unicode' },
  commit: { author: 'user' },
  approval: { requires: 'any', count: 1, expiresAfterHours: null },
  sign: 'none',
  allowedSigners: null,
  guard: [],
  setup: null,
}

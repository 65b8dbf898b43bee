import type { Tier } from './edit.ts'

/** `.galley.json` with every default filled in. */
export interface Policy {
  readonly mode: PermissionMode
  readonly deny: readonly string[]
  /** Defaults and the file's own; a change to one of these always needs a person. */
  readonly protect: readonly string[]
  readonly autoApprove: AutoApprove | null
  readonly checks: readonly CheckCommand[]
  /** Run the team's own pre-commit and commit-msg hooks as a check. */
  readonly checkHooks: boolean
  /** `full`: re-run every required check after re-parenting; `touched`: only those whose paths the change touches. */
  readonly recheck: 'full' | 'touched'
  readonly limits: {
    readonly fileMaxBytes: number
    readonly batchMaxEdits: number
    readonly batchMaxFiles: number
  }
  readonly freshness: { readonly reads: 'refuse' | 'warn'; readonly carry: boolean }
  readonly matching: { readonly maxTier: Tier }
  readonly commit: { readonly author: 'user' | 'agent' }
  readonly approval: {
    readonly requires: 'any' | 'terminal' | 'signature'
    readonly count: number
    readonly expiresAfterHours: number | null
  }
  readonly sign: 'none' | 'ssh'
  readonly allowedSigners: string | null
  /** Branch name globs whose new commits must be approved. */
  readonly guard: readonly string[]
  readonly setup: { readonly run: Command; readonly lockFiles: readonly string[] } | null
}

export type PermissionMode = 'read-only' | 'read-write' | 'full'

/** An argument list, or a line for `/bin/sh -c`. */
export type Command =
  | { readonly kind: 'argv'; readonly argv: readonly string[] }
  | { readonly kind: 'shell'; readonly line: string }

export interface CheckCommand {
  readonly name: string
  readonly run: Command
  readonly tree: 'touched' | 'full'
  readonly timeoutMs: number
  /** Runs only when a path of the change matches; empty = always. */
  readonly paths: readonly string[]
  /** A failing check that is not required is reported and does not stop the landing. */
  readonly required: boolean
}

export interface AutoApprove {
  readonly paths: readonly string[]
  readonly maxFiles: number | null
  readonly maxLines: number | null
  /** Names of checks that must have passed. */
  readonly checks: readonly string[]
  readonly maxTier: Tier
}

/** A fault of the policy file, with its place. */
export interface PolicyFault {
  readonly line: number
  readonly column: number
  /** JSON pointer. */
  readonly pointer: string
  readonly message: string
}

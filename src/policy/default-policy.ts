import { limits } from '../model/limits.ts'
import type { Policy } from '../model/policy.ts'
import { protectedKinds } from './default-protect.ts'

/** The paths that are protected from the start, and why: `protectedKinds`. */
export const defaultProtect: readonly string[] = protectedKinds.flatMap(({ patterns }) => patterns)

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

import { decodeUtf8, parseJson } from '../intake/json.ts'
import type { Refusal } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import type { Policy, PolicyFault } from '../model/policy.ts'
import { defaultPolicy, defaultProtect } from './default-policy.ts'
import { readChecks } from './policy-checks.ts'
import { FaultNotes, type Field, orElse, orNull, readMembers, wordOf } from './policy-reader.ts'
import {
  readApproval,
  readAutoApprove,
  readCommit,
  readFreshness,
  readLimits,
  readMatching,
  readSetup,
} from './policy-sections.ts'
import { protectionOf, readGlobs, readSignersPath } from './policy-values.ts'

export interface ParsedPolicy {
  /** With every default filled in. Not to be used where there are faults: a faulty key has its default then. */
  readonly policy: Policy
  readonly faults: readonly PolicyFault[]
}

/**
 * Reads `.galley.json` (DESIGN.md sections 9, 10, 11 and 14). Every fault is listed, in the order of the text; an
 * unknown key is one. All keys may be left out:
 *
 * - `mode`: `"read-only"`, `"read-write"` (default) or `"full"`.
 * - `deny`, `protect`: lists of globs (`glob.ts` says how they match); `protect` adds to the defaults.
 * - `autoApprove`: `{ paths, maxFiles, maxLines, checks, maxTier }` or null; `paths` is needed, `maxTier` is `"exact"`
 *   unless given.
 * - `checks`: a list of `{ name, run, tree, timeoutSeconds, paths, required }`, or an object `{ commands, hooks,
 *   recheck }` with that list as `commands`. `run` is a list of arguments or a line for the shell; `tree` is
 *   `"touched"` or `"full"` (default), `required` true unless given. `hooks` (default true) runs the repository's own
 *   hooks as a check; `recheck` is `"full"` (default) or `"touched"`, and may stand at the top as well.
 * - `limits`: `{ fileMaxBytes, batchMaxEdits, batchMaxFiles }`.
 * - `freshness`: `{ reads: "refuse" | "warn", carry }` · `matching`: `{ maxTier }` · `commit`: `{ author }`.
 * - `approval`: `{ requires: "any" | "terminal" | "signature", count, expiresAfterHours }`.
 * - `sign`: `"none"` or `"ssh"` · `allowedSigners`: a file of the repository, which is protected by that, or an absolute path (or
 *   `~/…`) outside of it · `guard`: globs of branches.
 * - `setup`: `{ run, lockFiles }` or null.
 *
 * @param bytes - The file's bytes; null where there is no such file, which means the defaults.
 */
export function parsePolicy(bytes: Uint8Array | null): ParsedPolicy {
  if (bytes === null) return { policy: defaultPolicy, faults: [] }
  if (bytes.length > limits.policyMaxBytes) {
    return unread(`the file has ${bytes.length} bytes, more than ${limits.policyMaxBytes}`)
  }
  const text = decodeUtf8(bytes)
  if (typeof text !== 'string') return unread(text.message)
  const json = parseJson(text, limits.jsonMaxDepth)
  if (json.kind === 'refused') return unread(json.refusal.message, json.refusal)
  const notes = new FaultNotes(json)
  const policy = readPolicy({ value: json.value, way: [], notes })
  return { policy, faults: notes.sorted() }
}

/** Makes one refusal, `invalid-policy`, of all faults of the file; null where there are none. */
export function policyRefusal(faults: readonly PolicyFault[], file = '.galley.json'): Refusal | null {
  if (faults.length === 0) return null
  const lines = faults.map(
    (f) => `line ${f.line}, ${f.pointer === '' ? 'the file' : f.pointer}: ${f.message}`,
  )
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
  return { code: 'invalid-policy', message: `${file} has ${count}: ${lines.join('; ')}`, data: { faults } }
}

function unread(message: string, refusal?: Refusal): ParsedPolicy {
  const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 1)
  const line = numberOf(refusal?.data['line'])
  const column = numberOf(refusal?.data['column'])
  return { policy: defaultPolicy, faults: [{ line, column, pointer: '', message }] }
}

const keys = [
  '$schema',
  'mode',
  'deny',
  'protect',
  'autoApprove',
  'checks',
  'recheck',
  'limits',
  'freshness',
  'matching',
  'commit',
  'approval',
  'sign',
  'allowedSigners',
  'guard',
  'setup',
]

function readPolicy(field: Field): Policy {
  const member = readMembers(field, keys)
  if (member === undefined) return defaultPolicy
  const allowedSigners = orNull(member('allowedSigners'), readSignersPath)
  return {
    ...readChecks(member('checks'), member('recheck')),
    mode: orElse(member('mode'), wordOf(['read-only', 'read-write', 'full']), defaultPolicy.mode),
    deny: orElse(member('deny'), readGlobs, defaultPolicy.deny),
    protect: [
      ...new Set([
        ...defaultProtect,
        ...orElse(member('protect'), readGlobs, []),
        ...protectionOf(allowedSigners),
      ]),
    ],
    autoApprove: orNull(member('autoApprove'), readAutoApprove),
    limits: orElse(member('limits'), readLimits, defaultPolicy.limits),
    freshness: orElse(member('freshness'), readFreshness, defaultPolicy.freshness),
    matching: orElse(member('matching'), readMatching, defaultPolicy.matching),
    commit: orElse(member('commit'), readCommit, defaultPolicy.commit),
    approval: orElse(member('approval'), readApproval, defaultPolicy.approval),
    sign: orElse(member('sign'), wordOf(['none', 'ssh']), defaultPolicy.sign),
    allowedSigners,
    guard: orElse(member('guard'), readGlobs, defaultPolicy.guard),
    setup: orNull(member('setup'), readSetup),
  }
}

import type { Refusal } from '../model/error.ts'
import type { Manifest, Transition } from '../model/manifest.ts'
import type { PermissionMode, Policy } from '../model/policy.ts'
import type { Failure } from '../model/resolution.ts'
import { coveringMatcher } from './path-matcher.ts'
import { isDotGit } from './paths.ts'
import { quote } from './quote.ts'

const modes: readonly PermissionMode[] = ['read-only', 'read-write', 'full']

/** Returns the mode that allows less. */
export const strictest = (a: PermissionMode, b: PermissionMode): PermissionMode =>
  modes.indexOf(a) < modes.indexOf(b) ? a : b

/**
 * Judges what a revision would change, whatever asked for it: `denied-path`; `path-invalid` for a path into a `.git`, which no
 * reader of requests lets through either. Where links lead is judged by their targets, which no manifest holds (`flow/judge-links.ts`).
 *
 * @param itemOf - The item of the batch that a path belongs to, for the failure.
 */
export function judgeTransitions(
  policy: Policy,
  manifest: Manifest,
  itemOf: (path: string) => number,
): readonly Failure[] {
  return manifest.flatMap((transition) => {
    const refusal = transitionRefusal(policy, transition)
    return refusal === null ? [] : [{ ...refusal, item: itemOf(transition.path), path: transition.path }]
  })
}

/** A path whose change needs a person, and why. */
export interface ProtectedPath {
  readonly path: string
  readonly reason: string
}

/**
 * Lists the paths whose change always needs a person: those that `protect` covers, every new executable bit, and
 * every symbolic link or submodule that comes, moves or goes.
 */
export function protectedPaths(policy: Policy, manifest: Manifest): readonly ProtectedPath[] {
  const protects = coveringMatcher(policy.protect)
  return manifest.flatMap((transition) => {
    const reason = protection(transition, protects(transition.path))
    return reason === null ? [] : [{ path: transition.path, reason }]
  })
}

export interface ManifestJudgement {
  readonly denied: readonly Failure[]
  readonly protectedPaths: readonly ProtectedPath[]
  /** `refused`: may not be staged. `person`: no rule may approve it. `rule-or-person`: a rule may. */
  readonly decision: 'refused' | 'person' | 'rule-or-person'
}

/** Judges a whole revision in the mode in force (the strictest of the policy's and the caller's). */
export function judgeManifest(
  policy: Policy,
  manifest: Manifest,
  facts: { readonly mode: PermissionMode; readonly itemOf: (path: string) => number },
): ManifestJudgement {
  const isReadOnly = strictest(policy.mode, facts.mode) === 'read-only'
  const denied = isReadOnly
    ? manifest.map(({ path }) => ({ ...readOnly(path), item: facts.itemOf(path), path }))
    : judgeTransitions(policy, manifest, facts.itemOf)
  const guarded = protectedPaths(policy, manifest)
  const decision = denied.length > 0 ? 'refused' : guarded.length > 0 ? 'person' : 'rule-or-person'
  return { denied, protectedPaths: guarded, decision }
}

/** The refusal of a path that `deny` covers, or null. */
export function denial(policy: Policy, path: string, wish: 'read' | 'edit'): Refusal | null {
  const pattern = coveringMatcher(policy.deny)(path)
  if (pattern === null) return null
  const message = `${wish} ${quote(path)}: the policy denies it with ${quote(pattern)}`
  return { code: 'denied-path', message, data: { path, pattern } }
}

/** The refusal of any edit in the mode `read-only`. */
export const readOnly = (path: string): Refusal => ({
  code: 'read-only',
  message: `edit ${quote(path)}: the mode is read-only`,
  data: { path },
})

function transitionRefusal(policy: Policy, { path }: Transition): Refusal | null {
  if (path.split('/').some(isDotGit)) {
    return {
      code: 'path-invalid',
      message: `change ${quote(path)}: a part of it is a spelling of .git`,
      data: { path },
    }
  }
  return denial(policy, path, 'edit')
}

function protection({ oldMode, newMode }: Transition, pattern: string | null): string | null {
  if (pattern !== null) return `protected by ${quote(pattern)}`
  if (newMode === '100755' && oldMode !== '100755') return 'becomes executable'
  if (newMode === '120000') return 'is a symbolic link'
  if (newMode === '160000') return 'is a submodule'
  if (oldMode === '120000') return 'was a symbolic link'
  return oldMode === '160000' ? 'was a submodule' : null
}

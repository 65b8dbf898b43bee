import type { ChangeId } from '../model/ids.ts'
import { changeId, isChangeId } from '../model/ids.ts'
import type { Manifest, Transition } from '../model/manifest.ts'
import type { Verdict } from '../model/verdict.ts'

/** What a commit's message claims. It proves nothing: anybody can write it. */
export interface Claims {
  /** Ids as they stand in `Galley-Change` lines, well formed or not; each once. */
  readonly changes: readonly string[]
  /** There is a `Galley-Agent` line. */
  readonly byAgent: boolean
}

/**
 * Reads the `Galley-` lines of a message, wherever they stand: a squash keeps those of its parts in the middle, and `git merge --squash`
 * indents them.
 */
export function claimsOf(message: string): Claims {
  const changes = new Set<string>()
  let byAgent = false
  for (const line of message.split('\n')) {
    const colon = line.indexOf(':')
    if (colon === -1) continue
    const key = line.slice(0, colon).trim().toLowerCase()
    if (key === 'galley-agent') byAgent = true
    if (key === 'galley-change')
      changes.add(
        line
          .slice(colon + 1)
          .trim()
          .slice(0, 80),
      )
  }
  return { changes: [...changes], byAgent }
}

/** What the approvals in the store came to for one commit. */
export type Cover =
  | { readonly kind: 'covered'; readonly changes: readonly ChangeId[] }
  /** It changes nothing, or nothing that a merge made anew would not change. */
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'uncovered'
      readonly paths: readonly string[]
      /** Why an approval of these very transitions does not count; empty where there is none. */
      readonly reason: string
    }

export interface JudgedCommit {
  readonly claims: Claims
  readonly cover: Cover
  /** The claimed changes that have an approval which counts, whatever it covers. */
  readonly knownClaims: ReadonlySet<string>
  /** Every commit must be covered: the branch is guarded, or an agent is at work. */
  readonly isStrict: boolean
}

/** The verdict on one commit, with the reason in words (DESIGN.md section 14). */
export function judgeCommit(facts: JudgedCommit): { readonly verdict: Verdict; readonly reason: string } {
  const { claims, cover, isStrict } = facts
  const unknown = claims.changes.filter((id) => !facts.knownClaims.has(id))
  if (cover.kind !== 'uncovered') {
    if (unknown.length === 0)
      return { verdict: cover.kind === 'covered' ? 'approved' : 'carried', reason: '' }
    return { verdict: 'forged', reason: `it names ${namesOf(unknown)}, which has no approval that counts` }
  }
  if (cover.reason !== '') {
    const isClaimed = claims.changes.length > 0 || claims.byAgent || isStrict
    return { verdict: isClaimed ? 'unapproved' : 'human', reason: cover.reason }
  }
  if (claims.changes.length > 0) {
    return {
      verdict: 'forged',
      reason: `it names ${namesOf(claims.changes)}, whose approval covers other bytes or does not exist`,
    }
  }
  if (claims.byAgent) return { verdict: 'unapproved', reason: 'an agent made it, and no approval covers it' }
  return { verdict: isStrict ? 'unapproved' : 'human', reason: '' }
}

const namesOf = (ids: readonly string[]): string => {
  const named = ids.slice(0, 5).map((id) => (isChangeId(id) ? changeId(id) : JSON.stringify(id)))
  return ids.length > 5 ? `${named.join(', ')} and ${ids.length - 5} more` : named.join(', ')
}

/** Whether a commit made each step of an approved manifest: then it has used that approval, whatever else it did. */
export function makesEachStep(transitions: Manifest, manifest: Manifest): boolean {
  const made = new Map(transitions.map((t) => [t.path, t]))
  return manifest.length > 0 && manifest.every((step) => isSame(made.get(step.path), step))
}

const isSame = (a: Transition | undefined, b: Transition): boolean =>
  a !== undefined &&
  a.oldMode === b.oldMode &&
  a.oldBlob === b.oldBlob &&
  a.newMode === b.newMode &&
  a.newBlob === b.newBlob

/** The paths at which a merge differs from what it comes to when made anew, as steps from its first parent; null where it took a parent's side against the other. */
export function residueOf(fromFirstParent: Manifest, differing: Manifest): Manifest | null {
  const steps = new Map(fromFirstParent.map((t) => [t.path, t]))
  const residue = differing.flatMap(({ path }) => steps.get(path) ?? [])
  return residue.length === differing.length ? residue : null
}

import type { ChangeId } from '../model/ids.ts'
import { changeId, isChangeId } from '../model/ids.ts'
import type { Manifest, Transition } from '../model/manifest.ts'
import type { Verdict } from '../model/verdict.ts'
import type { Claims } from './claims.ts'
import { type ApprovedManifest, composeTransitions, newSide, oldSide, type Side } from './transition-chain.ts'

/** The rule itself, as values: `src/flow/verify/README.md` says it in words, and why each part holds. */

/** An approved manifest that may be used for a step. Its key is the change's id. */
export interface Candidate extends ApprovedManifest {
  readonly key: ChangeId
  /** Why its approvals do not count for this step; null = they do, as far as anybody has asked. */
  readonly refusal: string | null
}

/** One step of a branch's first-parent line: a commit against the one before. */
export interface Step<C extends Candidate = Candidate> {
  readonly commit: string
  readonly transitions: Manifest
  readonly claims: Claims
  /** Only covered steps may be on this branch. */
  readonly isStrict: boolean
  /** In order of preference; those that the message names, or that a side of the merge brings, are among them. */
  readonly candidates: readonly C[]
  /** What stands at paths that the step does not change and that candidates touch. */
  readonly outside: ReadonlyMap<string, Side>
  /** Of a merge: what merging the changes of its side anew came to, and what is left of the step then. */
  readonly remerged?: Remerged<C>
}

export interface Remerged<C extends Candidate = Candidate> {
  readonly used: readonly C[]
  /** From the tree of that merge to the step's. */
  readonly rest: Manifest
  readonly outside: ReadonlyMap<string, Side>
}

export type Cover<C extends Candidate = Candidate> =
  | { readonly kind: 'covered'; readonly used: readonly C[]; readonly how: How }
  /** The step changes nothing. */
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'uncovered'
      readonly paths: readonly string[]
      /** Why approvals that would cover it do not count; empty where there are none. */
      readonly reason: string
    }

/** One manifest is the step; several make it one after another; the clean re-merge of some does. */
export type How = 'exact' | 'composed' | 'remerged'

/** Which step of a branch has used which change's approval. */
export type Used = ReadonlyMap<ChangeId, string>

/**
 * Finds approvals that cover a step: whole manifests, each unused on this branch, that one after another make exactly its transitions, those
 * that the message names among them.
 */
export function coverStep<C extends Candidate>(step: Step<C>, used: Used): Cover<C> {
  const { transitions, candidates } = step
  if (transitions.length === 0) return { kind: 'nothing' }
  // The usual commit that somebody made by hand.
  if (candidates.length === 0) return { kind: 'uncovered', paths: transitions.map((t) => t.path), reason: '' }
  const unused = candidates.filter((one) => one.refusal === null && !used.has(one.key))
  const found = compose(step, unused)
  if (found !== null) return found
  const paths = uncoveredPaths(step, unused)
  // That an approval is used up or does not count is only told where it would have made the difference.
  const instead = compose(step, candidates)
  const missed = instead?.used.find((one) => !unused.includes(one))
  return { kind: 'uncovered', paths, reason: missed === undefined ? '' : whyNot(missed, used) }
}

function compose<C extends Candidate>(
  step: Step<C>,
  approved: readonly C[],
): Extract<Cover<C>, { kind: 'covered' }> | null {
  const named = step.claims.changes
  const same = approved.find(({ key, manifest }) => isStep(manifest, step) && named.every((id) => id === key))
  if (same !== undefined) return { kind: 'covered', used: [same], how: 'exact' }
  const chain = composeTransitions(step.transitions, approved, step.outside, named)
  if (chain.kind === 'composed') {
    const used = chain.used as readonly C[]
    return { kind: 'covered', used, how: 'composed' }
  }
  if (step.remerged === undefined) return null
  const { used, rest, outside } = step.remerged
  if (!used.every((one) => approved.includes(one))) return null
  const keys = new Set<string>(used.map((one) => one.key))
  const others = approved.filter((one) => !keys.has(one.key))
  const due = named.filter((id) => !keys.has(id))
  const more = composeTransitions(rest, others, outside, due)
  if (more.kind !== 'composed') return null
  return { kind: 'covered', used: [...used, ...(more.used as readonly C[])], how: 'remerged' }
}

const isStep = (manifest: Manifest, { transitions }: Step): boolean =>
  manifest.length === transitions.length && manifest.every((t, i) => isSame(transitions[i], t))

function uncoveredPaths(step: Step, unused: readonly Candidate[]): readonly string[] {
  const chain = composeTransitions(step.transitions, unused, step.outside)
  return chain.kind === 'uncovered' ? chain.paths : step.transitions.map((t) => t.path)
}

const whyNot = (one: Candidate, used: Used): string => {
  const by = used.get(one.key)
  return by === undefined
    ? `${one.key} does not count: ${one.refusal ?? ''}`
    : `${one.key} was approved once, and ${by.slice(0, 12)} has used that`
}

/** The verdict on a step, with the reason in words. */
export function judgeStep(
  step: Pick<Step, 'claims' | 'isStrict'>,
  cover: Cover,
  isCarried: boolean,
): { readonly verdict: Verdict; readonly reason: string } {
  const { claims, isStrict } = step
  if (cover.kind === 'covered') return { verdict: isCarried ? 'carried' : 'approved', reason: '' }
  const names = namesOf(claims.changes)
  if (cover.kind === 'nothing') {
    if (claims.changes.length === 0) return { verdict: 'carried', reason: '' }
    return { verdict: 'forged', reason: `it names ${names}, and changes nothing` }
  }
  const isClaimed = claims.changes.length > 0
  if (isClaimed && cover.reason === '') {
    return {
      verdict: 'forged',
      reason: `it names ${names}, whose approval covers other bytes or does not exist`,
    }
  }
  const isFailure = isStrict || claims.byAgent || isClaimed
  const reason =
    cover.reason === '' && claims.byAgent ? 'an agent made it, and no approval covers it' : cover.reason
  return { verdict: isFailure ? 'unapproved' : 'human', reason }
}

const namesOf = (ids: readonly string[]): string => {
  const named = ids.slice(0, 5).map((id) => (isChangeId(id) ? changeId(id) : JSON.stringify(id)))
  return ids.length > 5 ? `${named.join(', ')} and ${ids.length - 5} more` : named.join(', ')
}

/**
 * The changes that a step has used up, whatever became of it: those that cover it; where it is not covered, those whose every transition it
 * makes, whatever else it does. Of several with one manifest, one.
 */
export function usedBy(step: Step, cover: Cover, used: Used): readonly ChangeId[] {
  if (cover.kind === 'covered') return cover.used.map((one) => one.key)
  if (cover.kind === 'nothing') return []
  const made = new Map(step.transitions.map((t) => [t.path, t]))
  const keys: ChangeId[] = []
  const seen = new Set<string>()
  for (const { key, manifest } of step.candidates) {
    if (used.has(key) || keys.includes(key) || !manifest.every((t) => isSame(made.get(t.path), t))) continue
    const sides = JSON.stringify(manifest)
    if (!seen.has(sides)) keys.push(key)
    seen.add(sides)
  }
  return keys
}

const isSame = (a: Transition | undefined, b: Transition): boolean =>
  a?.path === b.path && oldSide(a) === oldSide(b) && newSide(a) === newSide(b)

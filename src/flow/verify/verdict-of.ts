import type { LoggedCommit } from '../../git/commit-log.ts'
import type { CommitVerdict, Explanation, Verdict } from '../../model/verdict.ts'
import type { ApprovalPool } from './approval-pool.ts'
import type { Asked, FoundCover } from './cover-step.ts'
import type { JudgeRequest } from './range-request.ts'
import type { StepPolicy } from './step-policy.ts'
import type { Verifier } from './verifier.ts'

/** A commit's own date counts where a history is looked at; it never lies ahead of now. */
export function momentOf(verifier: Verifier, { at }: JudgeRequest, commit: LoggedCommit): string {
  if (at !== 'commit') return at
  const now = verifier.world.clock.now()
  const made = commit.committedAt * 1000
  return new Date(made >= 0 && made <= now ? made : now).toISOString()
}

export interface JudgedStep {
  readonly found: FoundCover
  readonly judged: { readonly verdict: Verdict; readonly reason: string }
  readonly policy: StepPolicy
  readonly explains: boolean | undefined
}

/** How approvals are held against a step's policy, at its moment. */
export function askedBy(
  verifier: Verifier,
  pool: ApprovalPool,
  request: JudgeRequest,
  { policy, commit }: { readonly policy: StepPolicy; readonly commit: LoggedCommit },
): Asked {
  const at = momentOf(verifier, request, commit)
  const { isStrict, rules } = policy
  return {
    isStrict,
    refusalOf: (covering, made) =>
      made === undefined ? pool.refusalOf(covering, rules, at) : pool.judge(covering, rules, at, made),
  }
}

/** The verdict as it is told, with what a look at this one commit shows beside it. */
export function verdictOf(
  pool: ApprovalPool,
  commit: LoggedCommit,
  { found, judged, policy, explains }: JudgedStep,
): CommitVerdict {
  const { step, cover } = found
  const { verdict, reason } = judged
  const broken = step.claims.changes.flatMap((id) => pool.broken.get(id) ?? [])[0]
  const used = cover.kind === 'covered' ? cover.used : []
  return {
    commit: commit.commit,
    title: commit.message.split('\n', 1)[0] ?? '',
    verdict,
    changes: used.map((one) => one.key),
    paths: cover.kind === 'uncovered' ? cover.paths.map(shownPath) : [],
    reason: verdict === 'forged' && broken !== undefined ? `${reason}; ${broken}` : reason,
    ...(explains === true ? { explanation: explanationOf(found, commit, policy) } : {}),
  }
}

function explanationOf({ step, cover }: FoundCover, commit: LoggedCommit, policy: StepPolicy): Explanation {
  const used = cover.kind === 'covered' ? cover.used : []
  return {
    from: commit.parents[0] ?? null,
    guardedBy: policy.guardedBy,
    how: cover.kind === 'covered' ? cover.how : null,
    transitions: step.transitions.map((t) => ({ ...t, path: shownPath(t.path) })),
    used: used.map(({ covering, made }) => ({
      change: covering.key,
      revision: covering.revision,
      digest: covering.digest,
      made: made?.map((t) => ({ ...t, path: shownPath(t.path) })) ?? null,
      approvals: covering.approvals.map(({ approval: { by, via, at, rule } }) => ({
        by,
        via,
        at,
        rule: rule?.text ?? null,
      })),
    })),
  }
}

/** A name that is not UTF-8 is shown as git shows it. */
export const shownPath = (path: string): string =>
  path.startsWith('\0')
    ? `"${path.slice(1).replaceAll(/[^\x20-\x7e]|["\\]/g, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`
    : path

import { GalleyError } from '../../model/error.ts'
import { isZeroId } from '../../model/ids.ts'
import type { Policy } from '../../model/policy.ts'
import type { CommitVerdict } from '../../model/verdict.ts'

export interface Unapproved {
  /** What is refused, at the beginning of the sentence. */
  readonly what: string
  readonly failures: readonly CommitVerdict[]
  readonly agent: string | null
  readonly branch: string | null
  readonly guardedBy: string | null
  readonly policy: Policy
}

/**
 * Refuses what a hook was asked about: which paths no approval covers, why that is asked for, who may approve, and the one command
 * that goes on.
 *
 * @throws GalleyError `unapproved`, or `forged` where a commit claims what is not so.
 */
export function refuseUnapproved(facts: Unapproved): never {
  const { what, failures, agent, branch, guardedBy } = facts
  const paths = [...new Set(failures.flatMap((failure) => failure.paths))]
  const [worst] = [...failures].sort(
    (a, b) => Number(b.verdict === 'forged') - Number(a.verdict === 'forged'),
  )
  const why = agent === null ? `${branch ?? 'the branch'} is guarded` : `an agent is at work: ${agent} is set`
  const commits = failures.filter((failure) => !isZeroId(failure.commit)).map((failure) => failure.commit)
  throw new GalleyError({
    code: worst?.verdict === 'forged' ? 'forged' : 'unapproved',
    message: `${what} ${predicate(paths, commits)} (${why})${reasonOf(worst)}`,
    data: { paths, commits, branch, guardedBy, agent },
    hint: hintOf(facts, worst, commits.length === 0),
  })
}

function hintOf({ policy }: Unapproved, worst: CommitVerdict | undefined, isStaged: boolean): string {
  return expiredHint(worst) ?? `${isStaged ? STAGED : commitHint(worst)}. ${whoMayApprove(policy)}`
}

/** What helps where a commit was approved once, and by the clock of whoever verifies that is too long ago; null for any other. */
export function expiredHint(verdict: CommitVerdict | undefined): string | null {
  if (verdict === undefined || !/ expired at \d{4}-/.test(verdict.reason)) return null
  const id = /\bg[0-9a-z]{9}\b/.exec(verdict.reason)?.[0] ?? '<id>'
  return `A person approves the landed change anew (\`galley approve ${id}\`), and \`galley push\` takes that to the server; then go on as before.`
}

const STAGED = 'Make a change of what is staged: `galley capture --staged`'

/** What helps where a commit stands that no approval covers. */
export function commitHint(verdict: CommitVerdict | undefined): string {
  const before = verdict === undefined ? 'HEAD~1' : `${verdict.commit.slice(0, 12)}^`
  return `Where it was approved, \`galley fetch\` takes that in, or \`galley push\` takes it there. A commit of your own becomes a change: \`git reset --soft ${before}\`, then \`galley capture --staged\`, and land that`
}

function predicate(paths: readonly string[], commits: readonly string[]): string {
  if (paths.length === 0) return 'is not approved'
  const count = paths.length === 1 ? 'one path' : `${paths.length} paths`
  const named = commits.slice(0, 3).map((id) => id.slice(0, 12))
  return `changes ${count} that no approval covers${named.length === 0 ? '' : `, in ${named.join(', ')}`}`
}

const reasonOf = (worst: CommitVerdict | undefined): string =>
  worst === undefined || worst.reason === '' ? '' : `: ${worst.reason}`

/** In one sentence, by the policy. */
export function whoMayApprove({ approval, allowedSigners }: Policy): string {
  const people =
    approval.count === 1 ? 'A person may approve it' : `${approval.count} different people must approve it`
  const how = {
    any: '',
    terminal: ', at a terminal',
    signature: `, with a key of ${allowedSigners ?? 'the list of allowed signers'}`,
  }[approval.requires]
  return `${people}${how} (\`galley approve <id>\`), not the agent.`
}

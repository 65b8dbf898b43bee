import { resolve } from 'node:path'
import { verify as verifyFlow } from '../../flow/verify/verify.ts'
import { GalleyError } from '../../model/error.ts'
import type { ErrorCode } from '../../model/error-codes.ts'
import { refusalOf } from '../../model/refusal-of.ts'
import { type CommitVerdict, isFailure, type Verdict, type Verification } from '../../model/verdict.ts'
import { paintFor } from '../../review/colour.ts'
import { visible } from '../../review/visible.ts'
import { errorText } from '../errors.ts'
import { sarifOf } from '../sarif.ts'
import type { Verb } from '../verb.ts'

const PATHS_SHOWN = 10

export const verify: Verb = {
  usage: 'verify [range] [options]',
  summary: 'Check every commit of a range against the approvals, from the objects alone.',
  details:
    "Recomputes what each commit changes and holds it against the approvals of this repository (galley's store, or refs/galley/* on a server).\nEnds with code 1 where a commit is unapproved or forged. Which branches are guarded, and whose approval counts, is read from the commit\nthat the range starts at. Without a range: what the branch has and its upstream has not.",
  examples: [
    ['galley verify origin/main..HEAD --onto main', 'in CI, for what is to go to main'],
    ['galley verify main~100..main --require-signature', 'only signed approvals count'],
    ['galley verify origin/main..HEAD --sarif > galley.sarif', 'for a forge to show'],
  ],
  options: (yargs) =>
    yargs
      .option('onto', { type: 'string', describe: 'The branch that the commits are for' })
      .option('require-signature', {
        type: 'boolean',
        default: false,
        describe: 'Only signed approvals count',
      })
      .option('allowed-signers', {
        type: 'string',
        describe: "Who may approve by signature: a file outside the repository, in place of the policy's",
      })
      .option('now', {
        type: 'boolean',
        default: false,
        describe: 'Approvals must not have expired by now; otherwise by the date of each commit',
      })
      .option('sarif', { type: 'boolean', default: false, describe: 'Print SARIF 2.1.0' }),
  run: async (context, args) => {
    const [range] = args['_'] as readonly string[]
    const { onto, 'allowed-signers': signers } = args
    const found = await verifyFlow(await context.world(), {
      range: range ?? '@{upstream}..HEAD',
      ...(typeof onto === 'string' ? { onto } : {}),
      ...(typeof signers === 'string' ? { allowedSigners: resolve(context.cwd, signers) } : {}),
      requireSignature: args['require-signature'] === true,
      now: args['now'] === true,
    })
    const failure = failureOf(found)
    if (failure !== null && !context.json) context.terminal.note(errorText(failure))
    const exitCode = failure === null ? 0 : 1
    const value = failure === null ? { ...found } : { ok: false, error: failure }
    const text =
      args['sarif'] === true
        ? `${JSON.stringify(sarifOf(found), null, 2)}\n`
        : textOf(found, context.terminal.useColour)
    return { value, text, exitCode }
  },
}

/** The one refusal that stands for all commits that fail: the gravest. */
function failureOf(found: Verification) {
  const failures = found.commits.filter((commit) => isFailure(commit.verdict))
  const [first] = failures
  if (first === undefined) return null
  const worst = failures.find((commit) => commit.verdict === 'forged') ?? first
  const code: ErrorCode = worst.verdict === 'forged' ? 'forged' : 'unapproved'
  const guard = found.guardedBy === null ? '' : ` (${found.onto ?? 'the branch'} is guarded)`
  const message = `${failures.length} of ${found.commits.length} commits ${failures.length === 1 ? 'does' : 'do'} not stand${guard}: ${worst.commit.slice(0, 12)} is ${worst.verdict}`
  return refusalOf(new GalleyError({ code, message, data: { ...found } }))
}

function textOf(found: Verification, isColoured: boolean): string {
  const paint = paintFor(isColoured)
  const colour: Readonly<Record<Verdict, (text: string) => string>> = {
    approved: paint.good,
    carried: paint.good,
    human: (text) => text,
    unapproved: paint.bad,
    forged: paint.bad,
  }
  const lines = found.commits.map((c) => {
    const changes = c.changes.length === 0 ? '' : `  ${c.changes.slice(0, 5).join(' ')}`
    const verdict = colour[c.verdict](c.verdict.padEnd(10))
    return `${verdict} ${c.commit.slice(0, 12)}${changes}  ${visible(c.title)}\n${whyText(c)}`
  })
  const counts = Object.entries(found.counts).filter(([, count]) => count > 0)
  const sum = counts.map(([verdict, count]) => `${count} ${verdict}`).join(', ')
  return `${lines.join('')}${found.commits.length} commits${sum === '' ? '' : `: ${sum}`}\n`
}

function whyText(found: CommitVerdict): string {
  if (!isFailure(found.verdict)) return ''
  const reason = found.reason === '' ? '' : `           ${visible(found.reason)}\n`
  const paths = found.paths.slice(0, PATHS_SHOWN).map((path) => `           not covered: ${visible(path)}\n`)
  const more = found.paths.length - paths.length
  return `${reason}${paths.join('')}${more > 0 ? `           and ${more} more\n` : ''}`
}

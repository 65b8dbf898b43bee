import { resolve } from 'node:path'
import { commitHint, expiredHint } from '../../flow/hooks/hook-refusal.ts'
import { verify as verifyFlow } from '../../flow/verify/verify.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import type { ErrorCode } from '../../model/error-codes.ts'
import type { Transition } from '../../model/manifest.ts'
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
  summary: 'Check what commits change against the approvals, from the objects alone.',
  details:
    "Recomputes what each commit changes and holds it against the approvals of this repository (galley's store, or refs/galley/* on a server)\nand their logs. A guarded branch is its first-parent line: each step of it is judged by the policy of the state before, and each approval is\nused once. Ends with code 1 where a commit is unapproved or forged. Without a range: what the branch has and its upstream has not.",
  examples: [
    ['galley verify origin/main..HEAD --onto main', 'in CI, for what is to go to main'],
    ['galley verify main~100..main --require-signature', 'only signed approvals count'],
    ['galley verify --explain main', 'what the verdict on one commit rests on'],
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
      .option('explain', {
        type: 'string',
        describe: 'One commit instead of a range: its step, and the approvals that cover it',
      })
      .option('sarif', { type: 'boolean', default: false, describe: 'Print SARIF 2.1.0' }),
  run: async (context, args) => {
    const [range] = args['_'] as readonly string[]
    const { onto, explain, 'allowed-signers': signers } = args
    if (typeof explain === 'string' && range !== undefined)
      refuse('usage', '--explain takes one commit, and no range beside it', { range, explain })
    const found = await verifyFlow(await context.world(), {
      range: range ?? '@{upstream}..HEAD',
      ...(typeof onto === 'string' ? { onto } : {}),
      ...(typeof signers === 'string' ? { allowedSigners: resolve(context.cwd, signers) } : {}),
      ...(typeof explain === 'string' ? { explain } : {}),
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
  const hint = expiredHint(worst) ?? `${commitHint(worst)}.`
  return refusalOf(new GalleyError({ code, message, data: { ...found }, hint }))
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
    return `${verdict} ${c.commit.slice(0, 12)}${changes}  ${visible(c.title)}\n${whyText(c)}${explanationText(c)}`
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

const HOW = {
  exact: 'the step is what was approved',
  composed: 'several approved changes, one after another',
  remerged: 'a merge made the approved changes anew, cleanly, on what the branch had',
} as const

function explanationText({ explanation }: CommitVerdict): string {
  if (explanation === undefined) return ''
  const { from, guardedBy, how, transitions, used } = explanation
  const state = from === null ? 'nothing: it is the first' : from.slice(0, 12)
  const guard =
    guardedBy === null ? 'nothing guards the branch there' : `"${visible(guardedBy)}" guards the branch`
  const lines = [
    `from       ${state}, whose policy counts: ${guard}`,
    ...transitions.map((t) => `step       ${stepText(t)}`),
    ...(how === null ? [] : [`covered    ${HOW[how]}`]),
    ...used.flatMap(({ change, revision, digest, made, approvals }) => [
      `used       ${change}, revision ${revision}, digest ${digest.slice(0, 12)}`,
      ...(made ?? []).map((t) => `           made anew: ${stepText(t)}`),
      ...approvals.map(
        ({ by, via, at, rule }) =>
          `           by ${visible(by)}, via ${via}, ${at}${rule === null ? '' : `, rule ${visible(rule)}`}`,
      ),
    ]),
  ]
  return lines.map((line) => `           ${line}\n`).join('')
}

const stepText = ({ path, oldMode, oldBlob, newMode, newBlob }: Transition): string =>
  `${oldMode} ${oldBlob.slice(0, 12)} -> ${newMode} ${newBlob.slice(0, 12)}  ${visible(path)}`

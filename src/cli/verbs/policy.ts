import { checkPolicyFile } from '../../flow/check-policy.ts'
import { explainPolicy } from '../../flow/explain-policy.ts'
import { type Tier, tiers } from '../../model/edit.ts'
import { visible } from '../../review/visible.ts'
import { usageError } from '../errors.ts'
import { permissionModeOf, permissionModeOption } from '../permission-mode.ts'
import type { Answer, Arguments, CliContext, Verb } from '../verb.ts'

export const policy: Verb = {
  usage: 'policy <check|explain> [path] [options]',
  summary: 'Check the policy file (.galley.json), or say who decides on a change to a path, and why.',
  details:
    '`check` looks at the file in the work tree, or at that of HEAD, and lists every fault with its line. `explain` says what the policy in force\nmakes of a change to one path: refused, a person, or a rule; which part of it says so; and which checks run.',
  examples: [
    ['galley policy check', 'the file as it stands in the work tree'],
    ['galley policy check --head', 'the one in force'],
    ['galley policy explain src/a.ts --lines 40', 'who decides on forty lines there'],
  ],
  options: (yargs) =>
    yargs
      .option('head', {
        type: 'boolean',
        default: false,
        describe: "Of check: look at HEAD's, which is in force",
      })
      .option('lines', { type: 'number', default: 1, describe: 'Of explain: lines added and removed' })
      .option('tier', {
        choices: tiers,
        default: 'exact',
        describe: 'Of explain: how leniently the old text was matched',
      })
      .option('deletes', { type: 'boolean', default: false, describe: 'Of explain: the file is deleted' })
      .option('checks', {
        choices: ['passed', 'failed'],
        default: 'passed',
        describe: 'Of explain: what the checks come to',
      })
      .option('permission-mode', permissionModeOption),
  run: async (context, args) => {
    const [word, path] = args['_'] as readonly string[]
    if (word === 'explain') return explain(context, args, path)
    if (word !== 'check') throw usageError('`galley policy check`, or `galley policy explain <path>`')
    if (path !== undefined) throw usageError('`galley policy check` takes no path')
    const found = await checkPolicyFile(await context.world(), args['head'] === true)
    return {
      value: { ...found },
      text: found.exists ? '.galley.json is good.\n' : 'There is no .galley.json; the defaults hold.\n',
    }
  },
}

const WORDS = { refused: 'is refused', person: 'needs a person', rule: 'is approved by rule' } as const

async function explain(context: CliContext, args: Arguments, path: string | undefined): Promise<Answer> {
  if (path === undefined) throw usageError('which path? `galley policy explain <path>`')
  const lines = Number(args['lines'])
  if (!Number.isSafeInteger(lines) || lines < 0) throw usageError('--lines is a number of lines')
  const { permissionMode = 'full' } = permissionModeOf(args)
  const found = await explainPolicy(await context.world(), {
    path: String(path),
    lines,
    tier: args['tier'] as Tier,
    deletes: args['deletes'] === true,
    checks: args['checks'] === 'failed' ? 'failed' : 'passed',
    permissionMode,
  })
  const checks = found.checks.map(({ name, required }) => `${visible(name)}${required ? ', required' : ''}`)
  const ran = checks.length === 0 ? '' : `  checks   ${checks.join('; ')}\n`
  const what = found.exists ? (args['deletes'] === true ? 'deleting' : 'a change to') : 'a new file'
  return {
    value: { ...found },
    text: `${what} ${visible(found.path)} ${WORDS[found.decision]}\n  by       ${visible(found.by)}\n  because  ${visible(found.why)}\n${ran}`,
  }
}

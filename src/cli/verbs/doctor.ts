import { execPath } from 'node:process'
import { type Examined, examine } from '../../flow/doctor/doctor.ts'
import { shimsOf } from '../../flow/hooks/hook-shims.ts'
import type { World } from '../../flow/world.ts'
import { GalleyError } from '../../model/error.ts'
import { hintFor } from '../../model/error-codes.ts'
import { type Finding, problem } from '../../model/finding.ts'
import { withUnseenShown } from '../../model/unseen.ts'
import { paintFor } from '../../review/colour.ts'
import { examineDoors } from '../../setup/doors.ts'
import { machineOf, stateDirectoryOf } from '../setup-place.ts'
import type { CliContext, Verb } from '../verb.ts'

export const doctor: Verb = {
  usage: 'doctor [--fix]',
  summary: 'Look at everything a landing needs, and say what is wrong and what puts it right.',
  details:
    "Looks at git, this repository's state, landings that were cut off, locks, the private store, the policy, your identity, scratch trees,\nhooks, and the doors of agents' clients: each is tried. Changes nothing without --fix. Ends with code 1 where something is to be put right.",
  examples: [
    ['galley doctor', 'when something was refused, and you wonder why'],
    ['galley doctor --fix', 'finish what was cut off, put displaced hooks back'],
  ],
  options: (yargs) =>
    yargs.option('fix', {
      type: 'boolean',
      default: false,
      describe: 'Finish or roll back cut-off landings, and put displaced hooks back',
    }),
  run: async (context, args) => {
    const shims = await shimsOf(context.program, execPath)
    const opened = await context.world().catch(withoutWorld)
    const examined =
      'findings' in opened ? opened : await examine(opened, { shims, fix: args['fix'] === true })
    const doors = 'findings' in opened ? [] : await examineDoorsOf(context, opened)
    const found = withFindings(examined, doors)
    const text = textOf(found, context.terminal.useColour)
    return { value: { ...found }, text, exitCode: found.healthy ? 0 : 1 }
  },
}

/** The clients of agents that are connected here, each tried as its client starts it. */
async function examineDoorsOf(context: CliContext, world: World): Promise<readonly Finding[]> {
  const root = world.repository.workTree
  const machine = machineOf(context)
  if (root === null || machine === null) return []
  return examineDoors({ root, machine, stateDirectory: stateDirectoryOf(machine) })
}

const withFindings = (examined: Examined, more: readonly Finding[]): Examined => ({
  ...examined,
  healthy: examined.healthy && more.every(({ state }) => state !== 'problem'),
  findings: [...examined.findings, ...more],
})

/** A repository that git cannot open is a finding too; where there is none, there is nothing to examine. */
function withoutWorld(error: unknown): Examined {
  if (!(error instanceof GalleyError) || error.code === 'not-a-repository') throw error
  const text = `${error.message} (${error.code}): ${String(error.data['stderr'] ?? '')}`
  return {
    healthy: false,
    findings: [problem('repository', text, error.hint ?? hintFor(error.code))],
    repaired: [],
  }
}

const WORDS = { good: 'ok', note: 'note', problem: 'problem' } as const

function textOf({ findings, repaired }: Examined, isColoured: boolean): string {
  const paint = paintFor(isColoured)
  const colour = { good: paint.good, note: (text: string) => text, problem: paint.bad } as const
  const done = repaired.map(
    (sentence) => `${paint.good('repaired'.padEnd(8))} ${withUnseenShown(sentence)}\n`,
  )
  const rows = findings.map(({ about, state, text, advice }) => {
    const first = `${colour[state](WORDS[state].padEnd(8))} ${about.padEnd(10)} ${withUnseenShown(text)}\n`
    return advice === null ? first : `${first}${' '.repeat(20)}${withUnseenShown(advice)}\n`
  })
  return [...done, ...rows].join('')
}

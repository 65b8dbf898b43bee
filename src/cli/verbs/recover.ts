import { finishInterrupted } from '../../flow/recover.ts'
import { visible } from '../../review/visible.ts'
import type { Verb } from '../verb.ts'

type RecoveredLanding = NonNullable<Awaited<ReturnType<typeof finishInterrupted>>>['landings'][number]

function landingText({ label, ref, outcome, left, remarks }: RecoveredLanding): string {
  const done = outcome === 'finished' ? 'finished' : 'rolled back'
  const rows = [
    `the landing of ${label} on ${ref} was ${done}`,
    ...left.map(({ path }) => `  left as somebody has changed it since: ${path}`),
    ...remarks.map((remark) => `  note: ${remark}`),
  ]
  return rows.map((row) => `${visible(row)}\n`).join('')
}

export const recover: Verb = {
  usage: 'recover',
  summary: 'Finish or roll back a landing that was killed. Every verb that writes does this first.',
  examples: [['galley recover', 'after a crash']],
  options: (yargs) => yargs,
  run: async (context) => {
    const report = await finishInterrupted(await context.world())
    const landings = (report?.landings ?? []).map(landingText)
    const text = landings.length === 0 ? 'Nothing to recover.\n' : landings.join('')
    return { value: { recovery: report }, text }
  },
}

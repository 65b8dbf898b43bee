import { finishInterrupted } from '../../flow/recover.ts'
import { visible } from '../../review/visible.ts'
import type { Verb } from '../verb.ts'

type Recovered = NonNullable<Awaited<ReturnType<typeof finishInterrupted>>>
type RecoveredLanding = Recovered['landings'][number]

function landingText({ label, ref, outcome, left, remarks }: RecoveredLanding): string {
  const done = outcome === 'finished' ? 'finished' : 'rolled back'
  const rows = [
    `the landing of ${label} on ${ref} was ${done}`,
    ...left.map(({ path }) => `  left as somebody has changed it since: ${path}`),
    ...remarks.map((remark) => `  note: ${remark}`),
  ]
  return rows.map((row) => `${visible(row)}\n`).join('')
}

const recordText = ({ id, ref, failure }: Recovered['recorded'][number]): string =>
  `${visible(failure === null ? `${id} is in ${ref}: its log says so now` : `${id} is in ${ref}, and its log could not be told: ${failure}`)}\n`

export const recover: Verb = {
  usage: 'recover',
  summary: 'Finish or roll back a landing that was killed. Every verb that writes does this first.',
  examples: [['galley recover', 'after a crash']],
  options: (yargs) => yargs,
  run: async (context) => {
    const report = await finishInterrupted(await context.world())
    const rows = [...(report?.landings ?? []).map(landingText), ...(report?.recorded ?? []).map(recordText)]
    const text = rows.length === 0 ? 'Nothing to recover.\n' : rows.join('')
    return { value: { recovery: report }, text }
  },
}

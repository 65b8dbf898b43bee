import type { finishInterrupted } from '../flow/recover.ts'
import { visible } from '../review/visible.ts'

type Recovered = NonNullable<Awaited<ReturnType<typeof finishInterrupted>>>

/** What a recovery did, a line each: for `recover`, and for the verb that found something to recover. */
export const recoveredLines = (report: Recovered | null): readonly string[] =>
  [...(report?.landings ?? []).flatMap(landingLines), ...(report?.recorded ?? []).map(recordLine)].map(
    visible,
  )

function landingLines({
  label,
  ref,
  outcome,
  left,
  remarks,
}: Recovered['landings'][number]): readonly string[] {
  const done = outcome === 'finished' ? 'finished' : 'rolled back'
  return [
    `the landing of ${label} on ${ref}, which had been cut off, was ${done}`,
    ...left.map(
      ({ path }) =>
        `  left as it is, since somebody has changed it meanwhile; it may hold lines of the landing: ${path}`,
    ),
    ...remarks.map((remark) => `  note: ${remark}`),
  ]
}

const recordLine = ({ id, ref, failure }: Recovered['recorded'][number]): string =>
  failure === null
    ? `${id} is in ${ref}: its log says so now`
    : `${id} is in ${ref}, and its log could not be told: ${failure}`

/**
 * Lets processes propose, approve and land in one repository at once, and counts what landed, what was refused, how
 * long the longest call took, and what is wrong afterwards:
 *
 *     npm run bench -- crowd [processes, default 16] [changes in all, default 400]
 */
import { errorCodes } from '../../src/model/error-codes.ts'
import { faultsOf, gatherCrowd } from '../landing/crowd.ts'

const [members = 16, changes = 400] = process.argv.slice(2).map(Number)

const begun = performance.now()
using crowd = await gatherCrowd(members, Math.ceil(changes / members))
const tally: Record<string, number> = {}
const passing: Record<string, number> = {}
for (const outcome of crowd.outcomes) {
  const what = outcome.code ?? 'landed'
  tally[what] = (tally[what] ?? 0) + 1
  for (const [code, count] of Object.entries(outcome.passing)) passing[code] = (passing[code] ?? 0) + count
}
const calls = crowd.outcomes.map(({ longestMs }) => longestMs).sort((a, b) => a - b)
const seconds = (ms = 0) => `${(ms / 1000).toFixed(1)} s`
process.stdout.write(
  `${crowd.outcomes.length} changes of ${members} processes in ${seconds(performance.now() - begun)}\n` +
    `ends: ${JSON.stringify(tally)}; refusals on the way: ${JSON.stringify(passing)}\n` +
    `longest call of a change: median ${seconds(calls[calls.length >> 1])}, longest ${seconds(calls.at(-1))}\n`,
)
for (const fault of faultsOf(crowd, errorCodes)) {
  process.stdout.write(`FAULT ${fault}\n`)
  process.exitCode = 1
}

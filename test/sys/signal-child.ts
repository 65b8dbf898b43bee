/** Says when a task begins and ends, and then goes on for ever. With an argument, the task lets signals go in its middle. */
import { writeSync } from 'node:fs'
import { holdingSignals } from '../../src/sys/hold-signals.ts'

async function main(): Promise<void> {
  await holdingSignals(async (letGo) => {
    writeSync(1, 'begun\n')
    await new Promise((resolve) => setTimeout(resolve, 200))
    if (process.argv[2] !== undefined) {
      letGo()
      // A signal comes by way of the system.
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    }
    writeSync(1, 'ended\n')
  })
  setInterval(() => undefined, 1000)
}

void main()

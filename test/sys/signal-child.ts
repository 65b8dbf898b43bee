/** Says when a task begins and ends, and then goes on for ever. */
import { writeSync } from 'node:fs'
import { holdingSignals } from '../../src/sys/hold-signals.ts'

async function main(): Promise<void> {
  await holdingSignals(async () => {
    writeSync(1, 'begun\n')
    await new Promise((resolve) => setTimeout(resolve, 200))
    writeSync(1, 'ended\n')
  })
  setInterval(() => undefined, 1000)
}

void main()

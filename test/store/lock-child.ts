/** Counts in a file while it has the lock, a number of times; may kill itself while it has it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLandingLock } from '../../src/store/lock.ts'
import { systemClock } from '../../src/sys/clock.ts'

async function main(directory: string, rounds: number, diesAt: number): Promise<void> {
  const counter = join(directory, 'counter')
  for (let n = 0; n < rounds; n++) {
    await withLandingLock(directory, systemClock, `child ${process.pid}`, async () => {
      const value = Number(readFileSync(counter, 'utf8'))
      if (n === diesAt) process.kill(process.pid, 'SIGKILL')
      await systemClock.sleep(1)
      writeFileSync(counter, String(value + 1))
    })
  }
}

void main(process.argv[2] ?? '', Number(process.argv[3]), Number(process.argv[4]))

/**
 * Lets every verb that writes meet a device that is full, has no inode left, or is read-only, with a little more room
 * each time, until it gets through. Each refusal has to have its code and to leave everything as it was. Needs root
 * and loop devices:
 *
 *     npm run bench -- full-disk [bytes more each time, default 8192] [inodes more each time, default 1]
 */
import {
  mountSmallDisk,
  type SmallDisk,
  type Stage,
  stages,
  type Tried,
  tryAgainst,
} from '../landing/full-disk.ts'
import { bundleVerb } from '../landing/verb-trial.ts'

const [bytes = 8192, inodes = 1] = process.argv.slice(2).map(Number)
let faults = 0

function tell(what: string, tried: readonly Tried[]): void {
  const codes: Record<string, number> = {}
  for (const { code } of tried) codes[code ?? 'done'] = (codes[code ?? 'done'] ?? 0) + 1
  process.stdout.write(`${what}: ${JSON.stringify(codes)}\n`)
  for (const [n, one] of tried.entries())
    for (const fault of one.faults) {
      faults++
      process.stdout.write(`FAULT ${what}, try ${n}: ${fault}\n`)
    }
}

/** Ever less in the way, until it is done twice. */
function untilDone(attempt: (n: number) => Tried): readonly Tried[] {
  const tried: Tried[] = []
  for (let n = 0; n < 500 && tried.filter(({ code }) => code === null).length < 2; n++) tried.push(attempt(n))
  return tried
}

function meet(program: string, disk: SmallDisk, stage: Stage): void {
  const full = (put: () => void) => tryAgainst(program, stage, { put, lift: disk.lift })
  tell(
    `${stage.name}, no inodes`,
    untilDone((n) => full(() => disk.leaveInodes(n * inodes))),
  )
  tell(
    `${stage.name}, no bytes`,
    untilDone((n) => full(() => disk.leaveBytes(n * bytes))),
  )
  const readOnly = { put: () => disk.remount('ro'), lift: () => disk.remount('rw') }
  tell(`${stage.name}, read-only`, [tryAgainst(program, stage, readOnly)])
}

const { program, remove } = await bundleVerb()
try {
  using disk = mountSmallDisk(16, 2000)
  for (const stage of stages(program, disk.directory)) meet(program, disk, stage)
} finally {
  remove()
}
if (faults > 0) process.exitCode = 1

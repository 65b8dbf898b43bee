/**
 * Kills landings at random instants and at every system call that changes something, counted over all processes and
 * threads of the landing, and checks each time that the next command makes everything all old or all new. With one file
 * it is an overwrite; with more, overwrites, renames, deletions, creations and changes of the mode alone. Needs Linux and
 * `cc`:
 *
 *     npm run bench -- kills [random kills, default 500] [files in the change, default 3]
 *       [try every so many-th system call, default 1; 0 = none]
 */
import {
  bundleLanding,
  copyScene,
  ended,
  killGroup,
  recoverAndCheck,
  type Scene,
  setScene,
  startLanding,
} from '../landing/kill-harness.ts'
import type { NewContent } from '../landing/stage-change.ts'
import { compileKiller, type Killer, outcomeOf } from './kill-at.ts'

const randomKills = Number(process.argv[2] ?? 500)
const fileCount = Number(process.argv[3] ?? 3)
const stride = Number(process.argv[4] ?? 1)

const KINDS = ['overwrite', 'rename', 'delete', 'create', 'mode']

function content(): { readonly files: Record<string, string>; readonly changes: Record<string, NewContent> } {
  const files: Record<string, string> = {}
  const changes: Record<string, NewContent> = {}
  if (fileCount === 1) return { files: { 'one.txt': 'old\n' }, changes: { 'one.txt': 'new\n' } }
  for (let n = 0; n < fileCount; n++) {
    const path = `d${n % 5}/f${n}.txt`
    const kind = KINDS[n % KINDS.length]
    if (kind !== 'create') files[path] = `old ${n}\n`
    if (kind === 'overwrite' || kind === 'create') changes[path] = `new ${n}\n`
    if (kind === 'delete') changes[path] = null
    // A rename is a deletion and a creation.
    if (kind === 'rename') Object.assign(changes, { [path]: null, [`moved/f${n}.txt`]: `old ${n}\n` })
    if (kind === 'mode') changes[path] = { content: `old ${n}\n`, executable: true }
  }
  return { files, changes }
}

interface Tally {
  old: number
  new: number
  whole: number
  bad: number
}

async function check(copy: Scene, what: string, tally: Tally): Promise<void> {
  try {
    tally[await recoverAndCheck(copy)]++
  } catch (error) {
    tally.bad++
    process.stdout.write(`BAD ${what}: ${(error as Error).message}\n`)
  }
}

async function killAtCalls(killer: Killer, program: string, scene: Scene): Promise<Tally> {
  const tally: Tally = { old: 0, new: 0, whole: 0, bad: 0 }
  for (let nth = 1; tally.whole === 0; nth += stride) {
    using copy = copyScene(scene)
    const end = await ended(startLanding(program, copy, '', killer.at(nth)))
    const { killed } = outcomeOf(end)
    await check(copy, `call ${nth}, ${killed ?? 'the end'}`, tally)
    if (killed === null && !end.said.includes('landed')) throw new Error(`it failed by itself: ${end.said}`)
    if (killed === null) tally.whole++
  }
  return tally
}

async function killAtRandom(program: string, scene: Scene): Promise<Tally> {
  const tally: Tally = { old: 0, new: 0, whole: 0, bad: 0 }
  let spanMs = 400
  for (let n = 0; n < randomKills; n++) {
    using copy = copyScene(scene)
    const child = startLanding(program, copy, '')
    const end = ended(child)
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    const begun = performance.now()
    const timer = setTimeout(() => killGroup(child), Math.random() * spanMs)
    const { signal } = await end
    clearTimeout(timer)
    if (signal === null) {
      tally.whole++
      spanMs = 0.9 * spanMs + 0.1 * (performance.now() - begun)
    }
    await check(copy, `random ${n}`, tally)
  }
  return tally
}

async function main(): Promise<void> {
  const { program, remove } = await bundleLanding()
  const { files, changes } = content()
  const scene = await setScene(files, changes)
  process.stdout.write(`random: ${JSON.stringify(await killAtRandom(program, scene))}\n`)
  if (stride > 0) {
    using killer = compileKiller()
    process.stdout.write(`at system calls: ${JSON.stringify(await killAtCalls(killer, program, scene))}\n`)
  }
  scene.repo[Symbol.dispose]()
  remove()
}

void main()

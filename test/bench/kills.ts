/**
 * Kills landings at every system call that changes something, and at random instants, and checks each time
 * that the next command makes everything all old or all new. Needs strace. With one file it is an overwrite; with
 * more, creations, overwrites, deletions, renames and changes of the mode alone:
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

const randomKills = Number(process.argv[2] ?? 500)
const fileCount = Number(process.argv[3] ?? 3)
const stride = Number(process.argv[4] ?? 1)

/** Whatever changes a name, a file's bytes or its attributes. */
const CALLS = [
  ...['rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink', 'unlinkat', 'mkdir', 'mkdirat', 'rmdir'],
  ...[
    'symlink',
    'fsync',
    'fdatasync',
    'ftruncate',
    'pwrite64',
    'fchmod',
    'chmod',
    'fchown',
    'utimensat',
    'write',
    'openat',
  ],
]
/** Calls that a starting node makes by the hundred; these are tried further apart. */
const FREQUENT: Readonly<Record<string, number>> = { openat: 7, write: 7 }

function content(): { readonly files: Record<string, string>; readonly changes: Record<string, NewContent> } {
  const files: Record<string, string> = {}
  const changes: Record<string, NewContent> = {}
  if (fileCount === 1) return { files: { 'one.txt': 'old\n' }, changes: { 'one.txt': 'new\n' } }
  for (let n = 0; n < fileCount; n++) {
    const path = `d${n % 5}/f${n}.txt`
    const kind = n % 5
    if (kind !== 1) files[path] = `old ${n}\n`
    if (kind === 0 || kind === 1) changes[path] = `new ${n}\n`
    if (kind === 2) changes[path] = null
    // A rename is a deletion and a creation.
    if (kind === 3) Object.assign(changes, { [path]: null, [`moved/f${n}.txt`]: `old ${n}\n` })
    if (kind === 4) changes[path] = { content: `old ${n}\n`, executable: true }
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

async function killAtCalls(program: string, scene: Scene): Promise<Tally> {
  const tally: Tally = { old: 0, new: 0, whole: 0, bad: 0 }
  for (const call of CALLS) {
    for (let when = 1; when < 2000; when += stride * (FREQUENT[call] ?? 1)) {
      using copy = copyScene(scene)
      const strace = ['strace', '-f', '-qq', '-e', 'signal=none', '-e', `trace=${call}`]
      const child = startLanding(program, copy, '', [
        ...strace,
        '-e',
        `inject=${call}:signal=SIGKILL:when=${when}`,
      ])
      // The call's own process dies at once; the rest of the group as soon as strace tells of it.
      child.stderr?.on('data', (chunk: Buffer) => {
        if (chunk.includes('SIGKILL')) killGroup(child)
      })
      const end = await ended(child)
      await check(copy, `${call} ${when}`, tally)
      if (!end.said.includes('SIGKILL') && end.code === 0) {
        tally.whole++
        break
      }
    }
    process.stdout.write(`${call}: ${JSON.stringify(tally)}\n`)
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
  if (stride > 0)
    process.stdout.write(`at system calls: ${JSON.stringify(await killAtCalls(program, scene))}\n`)
  scene.repo[Symbol.dispose]()
  remove()
}

void main()

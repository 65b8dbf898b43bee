import { spawn } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { landCommit } from '../../src/landing/land-commit.ts'
import { makeRepo } from '../helpers/repo.ts'
import { leftovers, stageChange } from './stage-change.ts'

/** Swaps directories for links that lead out, and back, as fast as it can, until its input ends. */
const ATTACKER = `
const { renameSync, symlinkSync, unlinkSync, lstatSync } = require('node:fs')
const [tree, outside] = process.argv.slice(1)
const targets = [[tree + '/deep', outside], [tree + '/deep/er', outside + '/er']]
let swaps = 0, isOver = false
const spin = () => { const end = performance.now() + Math.random() * 3; while (performance.now() < end); }
const swap = ([directory, link]) => {
  try {
    renameSync(directory, directory + '.aside')
    symlinkSync(link, directory)
    swaps++
    spin()
  } catch {}
}
const back = ([directory]) => {
  const isThere = (name) => lstatSync(name, { throwIfNoEntry: false })
  if (isThere(directory + '.aside') === undefined) return
  if (isThere(directory)?.isSymbolicLink()) unlinkSync(directory)
  try { renameSync(directory + '.aside', directory) } catch {}
}
const round = () => {
  const target = targets[Math.random() < 0.5 ? 0 : 1]
  swap(target)
  back(target)
  // Pauses of all lengths, so that some landings get as far as to place their files.
  if (!isOver) setTimeout(round, Math.random() < 0.5 ? 0 : Math.random() ** 3 * 400)
  else { for (const one of targets) back(one); process.stdout.write(String(swaps)) }
}
process.stdin.resume().on('end', () => { isOver = true })
round()
`

export interface Attacked {
  /** How often a directory was swapped for a link. */
  readonly swaps: number
  readonly landed: number
  /** By code. */
  readonly refused: Readonly<Record<string, number>>
  /** What changed outside the work tree: has to be nothing. */
  readonly outside: readonly string[]
  /** Files of which `git status` speaks at the end: others than none where a directory was made anew while its name was missing. */
  readonly unsettled: number
  readonly leftovers: readonly string[]
  readonly commits: number
}

/** Lands creations, overwrites and deletions while another process swaps their directories for links that lead out. */
export async function attackBySwaps(tries: number): Promise<Attacked> {
  await using repo = makeRepo({ files: { 'deep/er/b.txt': 'b\n', 'deep/c.txt': 'c\n', 'a.txt': 'a\n' } })
  const outside = join(repo.home, 'outside')
  mkdirSync(join(outside, 'er'), { recursive: true })
  // The very names and bytes that a landing looks for.
  for (const name of ['er/b.txt', 'c.txt', 'victim']) writeFileSync(join(outside, name), `${name} of mine\n`)
  const before = look(outside)
  const attacker = spawn(process.execPath, ['-e', ATTACKER, repo.dir, outside], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let said = ''
  attacker.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const ended = new Promise((resolve) => attacker.on('close', resolve))
  const refused: Record<string, number> = {}
  let landed = 0
  for (let n = 0; n < tries; n++) {
    const request = await stageChange(repo, changesOf(n))
    await landCommit(request).then(
      () => landed++,
      ({ code = 'none' }: { code?: string }) => {
        refused[code] = (refused[code] ?? 0) + 1
      },
    )
  }
  attacker.stdin.end()
  await ended
  return {
    swaps: Number(said),
    landed,
    refused,
    outside: differences(before, look(outside)),
    unsettled: repo
      .git('status', '--porcelain')
      .split('\n')
      .filter((line) => line !== '').length,
    leftovers: leftovers(repo),
    commits: Number(repo.git('rev-list', '--count', 'HEAD')),
  }
}

const changesOf = (n: number) => ({
  'deep/er/b.txt': `B ${n}\n`,
  'deep/c.txt': `C ${n}\n`,
  [`deep/er/n${n}.txt`]: 'n\n',
  [`deep/d${n}/e/f.txt`]: 'f\n',
})

const differences = (a: readonly string[], b: readonly string[]): readonly string[] => [
  ...a.filter((line) => !b.includes(line)),
  ...b.filter((line) => !a.includes(line)),
]

/** Names, bytes, permissions and times of everything in a directory, its own too. */
function look(directory: string): readonly string[] {
  return ['', ...readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()].map((name) => {
    const file = join(directory, name)
    const { mode, mtimeMs, ctimeMs, ino } = lstatSync(file)
    const bytes = lstatSync(file).isFile() ? readFileSync(file, 'utf8') : ''
    return [name, mode, mtimeMs, ctimeMs, ino, bytes].join(' ')
  })
}

/**
 * Measures the full screen of a review, as ratios in one run (DESIGN.md section 16): the first hunk on a terminal against a bare start of
 * node; opening 50 files with 2,000 changed lines; a key's effect among 20,000. Run by hand: `npm run bench -- review [rounds, default 20]`.
 */
import { spawn } from 'node:child_process'
import { open } from '../../src/flow/galley.ts'
import { lookAtReview } from '../../src/flow/review/open-review.ts'
import { openWorld } from '../../src/flow/world.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { press } from '../../src/term/review-keys.ts'
import { viewOf } from '../../src/term/review-rows.ts'
import { stateOf } from '../../src/term/review-run.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const rounds = Number(process.argv[2] ?? 20)
const built = new URL('../../dist/galley.js', import.meta.url).pathname

const least = (taken: readonly number[]): number => Math.min(...taken)
const linesOf = (count: number, word: string): string =>
  Array.from({ length: count }, (_, i) => `const v${i} = "${word}" // ${i}\n`).join('')

async function proposed(files: number, lines: number): Promise<TestRepo> {
  const names = Array.from({ length: files }, (_, i) => `src/f${i}.ts`)
  const repo = makeRepo({ files: Object.fromEntries(names.map((name) => [name, linesOf(lines, 'old')])) })
  const galley = await open(repo.dir, { env: { ...repo.env } })
  const edits = names.map((path) => ({ op: 'write', path, content: linesOf(lines, 'new') }))
  await galley.propose({ batch: { version: 1, title: 'A change', edits } })
  await galley.close()
  return repo
}

/** Until a command at a terminal of its own (`script` makes one) has written these words. */
function untilShown(repo: TestRepo, command: string, words: string): Promise<number> {
  const begun = performance.now()
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: repo.dir,
    env: { ...repo.env, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // What writes its words and ends is gone by then.
  child.stdin.on('error', () => undefined)
  let shown = ''
  let taken = 0
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString('utf8')
    if (taken > 0 || !shown.includes(words)) return
    taken = performance.now() - begun
    child.stdin.write('q')
  })
  return new Promise((resolve) => child.on('close', () => resolve(taken)))
}

async function firstHunk(): Promise<void> {
  const repo = await proposed(3, 10)
  const [bare, review]: [number[], number[]] = [[], []]
  const node = JSON.stringify(process.execPath)
  for (let round = 0; round < rounds; round++) {
    bare.push(await untilShown(repo, `${node} -e 'process.stdout.write("here")'`, 'here'))
    review.push(await untilShown(repo, `${node} ${built} review`, 'undecided'))
  }
  const ratio = (least(review) / least(bare)).toFixed(2)
  process.stdout.write(`first hunk: ${least(review).toFixed(0)} ms, ${ratio} x a start of node (bound: 4)\n`)
  repo[Symbol.dispose]()
}

async function keys(files: number, lines: number): Promise<void> {
  const repo = await proposed(files, lines)
  const world = await openWorld(repo.dir, { env: { ...repo.env }, clock: systemClock })
  const [change] = await (await open(repo.dir, { env: { ...repo.env } }))
    .status()
    .then(({ pending }) => pending)
  const begun = performance.now()
  const inHand = await lookAtReview(world, change?.id ?? '')
  let state = stateOf(inHand, { at: 1, count: 1 }, { columns: 120, rows: 40 })
  viewOf(state, () => [])
  const opened = performance.now() - begun
  const taken: number[] = []
  for (const text of 'jjjjjyyyyynnGgk J]][u'.repeat(5)) {
    const from = performance.now()
    state = press(state, { name: text, text, isControl: false }).state
    viewOf(state, () => [])
    taken.push(performance.now() - from)
  }
  const worst = Math.max(...taken).toFixed(1)
  const memory = (process.memoryUsage().rss / 1024 / 1024).toFixed(0)
  process.stdout.write(
    `${files} files, ${2 * files * lines} lines: open ${opened.toFixed(0)} ms, slowest key ${worst} ms, ${memory} MiB\n`,
  )
  await world.close()
  repo[Symbol.dispose]()
}

await firstHunk()
await keys(50, 20)
await keys(100, 100)

/**
 * Measures a landing against git's own ways, as ratios in one run (DESIGN.md section 16). Run by hand:
 *
 *     npx esbuild test/bench/landing.ts --bundle --platform=node --target=node20 --format=esm
 * --packages=external --outfile=node_modules/.bench/landing.mjs     node node_modules/.bench/landing.mjs
 * [files, default 100000] [rounds, default 5]
 *
 * Makes a repository of that many files in the system's temporary directory and removes it at the end.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { landCommit } from '../../src/landing/land-commit.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { stageChange } from '../landing/stage-change.ts'

const fileCount = Number(process.argv[2] ?? 100_000)
const rounds = Number(process.argv[3] ?? 5)

const pathOf = (n: number): string => {
  const pack = String(Math.floor(n / 1000)).padStart(4, '0')
  return `packages/p${pack}/src/m${Math.floor((n % 1000) / 50)}/s${Math.floor((n % 50) / 10)}/f${n % 10}.ts`
}

const contentOf = (n: number): string =>
  Array.from(
    { length: 40 },
    (_, line) => `export const value${line} = ${n * 1000 + line} // file ${n}\n`,
  ).join('')

function makeLargeRepo(): TestRepo {
  const repo = makeRepo()
  for (let n = 0; n < fileCount; n++) {
    const file = join(repo.dir, pathOf(n))
    if (n % 10 === 0) mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, contentOf(n))
  }
  repo.commit('all')
  repo.git('status')
  return repo
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

function changesOf(count: number, round: number): Record<string, string> {
  const step = Math.max(1, Math.floor(fileCount / count))
  const paths = Array.from({ length: count }, (_, i) => (i * step + round) % fileCount)
  return Object.fromEntries(
    paths.map((n) => [pathOf(n), `${contentOf(n)}// ${count} ${round} ${process.hrtime.bigint()}\n`]),
  )
}

const timed = (task: () => unknown): number => {
  const begun = performance.now()
  task()
  return performance.now() - begun
}

async function measure(repo: TestRepo, count: number) {
  const landed: number[] = []
  const held: number[] = []
  const merged: number[] = []
  const applied: number[] = []
  for (let round = 0; round < rounds; round++) {
    const request = await stageChange(repo, changesOf(count, round * 3))
    const begun = performance.now()
    held.push((await landCommit(request)).locksHeldMs)
    landed.push(performance.now() - begun)

    const other = await stageChange(repo, changesOf(count, round * 3 + 1))
    const pack = execFileSync(
      'git',
      [`--git-dir=${other.store.gitDir}`, 'pack-objects', '-q', '--revs', '--local', '--stdout'],
      {
        input: `${other.after}\n^${other.before}\n`,
      },
    )
    execFileSync('git', ['unpack-objects', '-q'], { cwd: repo.dir, input: pack })
    merged.push(timed(() => repo.git('merge', '-q', '--ff-only', other.after)))

    const third = await stageChange(repo, changesOf(count, round * 3 + 2))
    const diff = execFileSync('git', [
      `--git-dir=${third.store.gitDir}`,
      'diff',
      '--binary',
      third.before ?? '',
      third.after,
    ])
    const input = { cwd: repo.dir, env: repo.env, input: diff }
    applied.push(
      timed(() => {
        execFileSync('git', ['apply', '--index'], input)
        execFileSync('git', ['commit', '-q', '-m', 'x'], { cwd: repo.dir, env: repo.env })
      }),
    )
  }
  const [land, lock, merge, apply] = [landed, held, merged, applied].map(median) as [
    number,
    number,
    number,
    number,
  ]
  const ratio = (value: number) => value.toFixed(2)
  process.stdout.write(
    `${count} files: landing ${land.toFixed(0)} ms, locks held ${lock.toFixed(0)} ms, merge --ff-only ${merge.toFixed(0)} ms, ` +
      `apply + commit ${apply.toFixed(0)} ms; locks/merge ${ratio(lock / merge)} (bound 0.6), landing/apply+commit ${ratio(land / apply)} (bound 0.6)\n`,
  )
}

const repo = makeLargeRepo()
try {
  for (const count of [1, 10, 100]) await measure(repo, count)
} finally {
  repo[Symbol.dispose]()
}

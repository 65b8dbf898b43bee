/**
 * Measures what galley's hooks cost a person: `git commit` of one file with and without them, in turn, as a ratio. By hand:
 *
 *     npm run bench -- hook-cost [files, default 100000] [rounds, default 15]
 *
 * Bound: at most 1.3 × where agents alone are guarded (no node is started). For comparison: on a guarded branch, where the commit is
 * judged, and an agent's commit that is refused. Build first (`npm run build`): the hooks run `dist/galley.js`.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const fileCount = Number(process.argv[2] ?? 100_000)
const rounds = Number(process.argv[3] ?? 15)
const program = join(process.cwd(), 'dist/galley.js')

const pathOf = (n: number): string => `p${Math.floor(n / 1000)}/m${Math.floor((n % 1000) / 50)}/f${n % 50}.ts`

function makeLargeRepo(): TestRepo {
  const repo = makeRepo()
  for (let n = 0; n < fileCount; n++) {
    const file = join(repo.dir, pathOf(n))
    if (n % 50 === 0) mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, `export const value = ${n}\n`)
  }
  repo.write('.galley.json', '{ "protect": ["migrations/**"] }\n')
  repo.commit('all')
  return repo
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

let serial = 0

function timeCommit(repo: TestRepo, more: Readonly<Record<string, string>> = {}): number {
  serial++
  writeFileSync(join(repo.dir, pathOf(serial % fileCount)), `export const value = -${serial}\n`)
  repo.git('add', pathOf(serial % fileCount))
  const begun = performance.now()
  spawnSync('git', ['commit', '--quiet', '-m', `Change ${serial}`], {
    cwd: repo.dir,
    env: { ...repo.env, ...more },
  })
  return performance.now() - begun
}

/** Commits with the hooks and without them, in turn. */
function compare(repo: TestRepo, name: string): void {
  const hooks = join(repo.dir, '.git/hooks')
  const withHooks: number[] = []
  const without: number[] = []
  for (let round = 0; round < rounds; round++) {
    withHooks.push(timeCommit(repo))
    renameSync(hooks, `${hooks}-aside`)
    without.push(timeCommit(repo))
    renameSync(`${hooks}-aside`, hooks)
  }
  const [a, b] = [median(withHooks), median(without)]
  const least = Math.min(...withHooks) / Math.min(...without)
  process.stdout.write(
    `${name.padEnd(44)} ${a.toFixed(0)} ms, ${b.toFixed(0)} ms without: ${(a / b).toFixed(2)} × (least against least ${least.toFixed(2)} ×)\n`,
  )
}

const install = (repo: TestRepo, ...more: readonly string[]) =>
  spawnSync(process.execPath, [program, 'hooks', 'install', ...more], { cwd: repo.dir, env: repo.env })

using repo = makeLargeRepo()
timeCommit(repo)
install(repo)
compare(repo, 'a person, pre-commit and commit-msg')
install(repo, '--reference-transaction')
compare(repo, 'a person, reference-transaction too')
const refused = Array.from({ length: 5 }, () => timeCommit(repo, { CLAUDECODE: '1' }))
process.stdout.write(`an agent, refused: ${median(refused).toFixed(0)} ms\n`)
repo.write('.galley.json', '{ "guard": ["release/*"] }\n')
repo.commit('guard')
compare(repo, 'a person beside a guarded branch (node)')

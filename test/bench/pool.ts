/**
 * Measures a full tree of the pool against git's own checkout in a warm work tree, as ratios in one run (DESIGN.md section 16):
 *
 *     npm run bench -- pool [files, default 100000] [rounds, default 7]
 *
 * Makes a repository of that many files in the system's temporary directory and removes it at the end.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openWorld } from '../../src/flow/world.ts'
import { type CommitId, commitId, type RefName } from '../../src/model/ids.ts'
import { planOwnRepository, writeOwnRepository } from '../../src/store/own-repository.ts'
import { takeFullTree } from '../../src/store/pool.ts'
import { viewIndex } from '../../src/store/scratch.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const fileCount = Number(process.argv[2] ?? 100_000)
const rounds = Number(process.argv[3] ?? 7)

const pathOf = (n: number): string => {
  const pack = String(Math.floor(n / 1000)).padStart(4, '0')
  return `packages/p${pack}/src/m${Math.floor((n % 1000) / 50)}/s${Math.floor((n % 50) / 10)}/f${n % 10}.ts`
}

const contentOf = (n: number, note: string): string =>
  `${Array.from({ length: 8 }, (_, line) => `export const value${line} = ${n * 1000 + line}`).join('\n')}\n// ${note}\n`

function makeLargeRepo(): TestRepo {
  const repo = makeRepo()
  for (let n = 0; n < fileCount; n++) {
    const file = join(repo.dir, pathOf(n))
    if (n % 10 === 0) mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, contentOf(n, 'first'))
  }
  repo.commit('all')
  repo.git('repack', '-adq')
  return repo
}

/** Two commits that differ in `count` files, of which `added` are new in the second. */
function makePair(repo: TestRepo, count: number, added: number): readonly [CommitId, CommitId] {
  const step = Math.max(1, Math.floor(fileCount / count))
  const paths = Array.from({ length: count }, (_, i) => (i * step + count) % fileCount)
  const before = commitId(repo.commit(`before ${count}`))
  for (const n of paths.slice(added)) repo.write(pathOf(n), contentOf(n, `${count} ${added}`))
  for (const n of paths.slice(0, added)) repo.write(`${pathOf(n)}.new`, contentOf(n, 'new'))
  return [before, commitId(repo.commit(`after ${count}`))]
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

async function timed(task: () => unknown): Promise<number> {
  const begun = performance.now()
  await task()
  return performance.now() - begun
}

async function measure(repo: TestRepo, plain: string, count: number, added: number): Promise<void> {
  const pair = makePair(repo, count, added)
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  const store = await world.store()
  const reader = await world.reader()
  const purpose = { kind: 'check' } as const
  const take = async (commit: CommitId) => {
    const about = { onto: 'refs/heads/main' as RefName, who: await world.identity() }
    const [tree, own] = await Promise.all([
      takeFullTree(world.repository, store, { commit, rules: null, purpose, reader, clock: systemClock }),
      planOwnRepository(world.repository, store, about),
    ])
    await writeOwnRepository(tree.slot, own, { head: commit, index: viewIndex(tree.slot) })
    return tree
  }
  const checkOut = (commit: CommitId) =>
    execFileSync('git', ['checkout', '-q', '--detach', commit], { cwd: plain, env: repo.env })
  await (await take(pair[0])).release(null)
  checkOut(pair[0])
  const [taken, given, checked]: [number[], number[], number[]] = [[], [], []]
  for (let round = 1; round <= rounds; round++) {
    const commit = pair[round % 2] ?? pair[0]
    let tree: Awaited<ReturnType<typeof take>> | null = null
    taken.push(
      await timed(async () => {
        tree = await take(commit)
      }),
    )
    given.push(await timed(() => tree?.release(null)))
    checked.push(await timed(() => checkOut(commit)))
  }
  await world.close()
  const [take50, give50, check50] = [taken, given, checked].map(median) as [number, number, number]
  process.stdout.write(
    `${count} files differ, ${added} new: taken in ${take50.toFixed(1)} ms (best ${Math.min(...taken).toFixed(1)}), given back in ${give50.toFixed(0)} ms, ` +
      `checkout --detach ${check50.toFixed(0)} ms (best ${Math.min(...checked).toFixed(0)}); ratio ${(take50 / check50).toFixed(3)}, of the best ${(Math.min(...taken) / Math.min(...checked)).toFixed(3)} (bound 0.1)\n`,
  )
}

const repo = makeLargeRepo()
const plain = join(repo.home, 'plain')
try {
  repo.git('worktree', 'add', '-q', '--detach', plain)
  execFileSync('git', ['status'], { cwd: plain, env: repo.env, stdio: 'ignore' })
  for (const [count, added] of [
    [1, 0],
    [10, 0],
    [10, 3],
    [100, 0],
  ] as const)
    await measure(repo, plain, count, added)
} finally {
  repo[Symbol.dispose]()
}

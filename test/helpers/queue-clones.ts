import { enqueue } from '../../src/flow/queue/queue.ts'
import { openWorld, type World } from '../../src/flow/world.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { approveChange, guardMain } from '../flow/verify-world.ts'
import { makeServer } from '../hook/hook-world.ts'
import { makeRepo, type TestRepo } from './repo.ts'

/** A guarded bare repository, and clones of it that belong to different people. */
export function makeClones(count: number) {
  const first = makeRepo({ files: { ...guardMain, '1.txt': '1\n', '2.txt': '2\n' } })
  const server = makeServer(first)
  const others = Array.from({ length: count - 1 }, (_, n) => {
    const clone = makeRepo()
    clone.git('config', 'user.name', `Person ${n + 2}`)
    clone.git('remote', 'add', 'origin', server.dir)
    clone.git('fetch', '--quiet')
    clone.git('checkout', '--quiet', '-B', 'main', 'origin/main')
    return clone
  })
  const all: readonly TestRepo[] = [first, ...others]
  return {
    server,
    all,
    [Symbol.dispose]: () => {
      for (const repo of [server, ...all]) repo[Symbol.dispose]()
    },
  }
}

/** Does something in a clone, as one process would. */
export async function within<T>(repo: TestRepo, task: (world: World) => Promise<T>): Promise<T> {
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  try {
    return await task(world)
  } finally {
    await world.close()
  }
}

/** Proposes, approves and enqueues a change. */
export async function put(
  repo: TestRepo,
  title: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const { id } = await approveChange(repo, title, files)
  await within(repo, (world) => enqueue(world, { id }))
  return id
}

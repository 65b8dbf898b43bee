import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { approve } from '../../src/flow/approve.ts'
import { land } from '../../src/flow/land/land.ts'
import { propose } from '../../src/flow/propose.ts'
import { readPairs, showChange } from '../../src/flow/show.ts'
import { openWorld, type World } from '../../src/flow/world.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { batch } from '../helpers/galley.ts'
import type { TestRepo } from '../helpers/repo.ts'

export const DAY_MS = 24 * 3_600_000

/** A world whose clock is ahead by some days. */
export async function openFor(repo: TestRepo, days = 0) {
  const clock = { ...systemClock, now: () => Date.now() + days * DAY_MS }
  const world = await openWorld(repo.dir, { env: repo.env, clock })
  return { world, [Symbol.asyncDispose]: () => world.close() }
}

export const stage = async (
  world: World,
  edits: readonly object[],
  more: object = {},
  checks: 'now' | 'later' = 'now',
) => (await propose(world, { batch: Buffer.from(JSON.stringify(batch(edits, more))), checks })).change

export async function landNew(
  world: World,
  edits: readonly object[],
  more: object = {},
  checks: 'now' | 'later' = 'now',
) {
  const { id } = await stage(world, edits, more, checks)
  await approve(world, { id, via: 'cli' })
  return (await land(world, { id })).change
}

export const write = (path: string, content: string) => ({ op: 'write', path, content })

export const storeOf = (repo: TestRepo) => join(repo.dir, '.git/galley/store.git')
export const inStore = (repo: TestRepo, ...args: readonly string[]) =>
  repo.git('--git-dir', storeOf(repo), ...args)
export const refsOf = (repo: TestRepo) => inStore(repo, 'for-each-ref', '--format=%(refname)').split('\n')

/** Everything in galley's folder but its log and lock. */
export const galleyFiles = (repo: TestRepo) =>
  readdirSync(join(repo.dir, '.git/galley'), { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('galley.log') && !name.startsWith('at-work'))
    .sort()

/** All that can be asked of a change. */
export async function everythingOf(world: World, id: string) {
  const { change, log, outputs } = await showChange(world, id)
  return { change, log, outputs, pairs: await readPairs(world, id) }
}

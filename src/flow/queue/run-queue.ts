import { join, resolve } from 'node:path'
import { git } from '../../git/door.ts'
import type { PushOutcome } from '../../git/exchange.ts'
import { makeLander } from '../../git/lander.ts'
import { GalleyError, type Refusal, refuse } from '../../model/error.ts'
import type { ErrorCode } from '../../model/error-codes.ts'
import type { ChangeId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { isClaimed, type QueueEntry, type QueueEvent } from '../../model/queue.ts'
import { galleyDirectory } from '../../store/open-store.ts'
import { ensureScratchHome } from '../../store/scratch-home.ts'
import { removeOwnDirectory } from '../../sys/directories.ts'
import { isThere } from '../../sys/quick-files.ts'
import { viewChange } from '../change-view.ts'
import { fetchChanges } from '../exchange/fetch.ts'
import { pushChanges } from '../exchange/push.ts'
import { land } from '../land/land.ts'
import { loadChange } from '../logged-change.ts'
import { openWorld, type World } from '../world.ts'
import { openQueue, type QueueRequest, type QueueSide, refuseServer, whoActs } from './queue-side.ts'

export interface QueueRunRequest extends QueueRequest {
  /** Ends after one change. */
  readonly once?: boolean
  readonly onStep?: (step: QueueStep) => void
}

export type QueueStep =
  | { readonly kind: 'landed'; readonly id: ChangeId; readonly commit: string }
  | { readonly kind: 'dropped'; readonly id: ChangeId; readonly reason: string; readonly code: ErrorCode }
  /** Somebody pushed first, or the remote did not answer. */
  | { readonly kind: 'again'; readonly id: ChangeId; readonly reason: string }

export interface QueueRun {
  readonly remote: string
  readonly branch: string
  readonly steps: readonly QueueStep[]
  /** What waits still: others are landing it. */
  readonly waiting: number
}

/** Refusals that have nothing to do with the change: the next try may pass. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'branch-moved',
  'busy',
  'locked',
  'io-error',
  'unreachable',
])

/**
 * Lands what waits on a branch of a remote, first in line first, until nothing is left that somebody else is not landing.
 *
 * Each change is claimed for a while, landed in a bare repository of galley's own that stands where the remote does, by the rules of every
 * landing (a moved base, required checks, approvals), and pushed in one transaction with its log and the queue. A change that cannot land is
 * dropped with the reason; its approval stays. Whoever dies leaves a claim that runs out. The user's repository is not touched.
 *
 * @throws GalleyError `busy`, where the remote moved too often; `hook-refused`, `io-error`; `unsupported-repository`, without atomic pushes.
 */
export async function runQueue(world: World, request: QueueRunRequest): Promise<QueueRun> {
  const outside = await openQueue(world, request)
  const { branch } = outside
  const directory = await makeLandingPlace(world, outside)
  const by = `${await whoActs(world)} ${Buffer.from(world.clock.random(4)).toString('hex')}`
  const steps: QueueStep[] = []
  const done = (waiting: number): QueueRun => ({ remote: outside.side.name, branch, steps, waiting })
  try {
    for (let tries = 0; ; ) {
      const { state } = await outside.load()
      const next = state.entries.find((entry) => !isClaimed(entry, by, world.clock.now()))
      if (next === undefined) return done(state.entries.length)
      const step = await inLander(world, directory, (lander) => landNext(lander, branch, next, by))
      if (step === null) continue
      request.onStep?.(step)
      if (step.kind === 'again') {
        tries++
        if (tries >= limits.queueTries) refuseTries(next.id, step.reason, steps)
        await world.clock.sleep(tries * 50 + (world.clock.random(1)[0] ?? 0))
        continue
      }
      tries = 0
      steps.push(step)
      if (request.once === true) return done(state.entries.length - 1)
    }
  } finally {
    await removeOwnDirectory(directory)
  }
}

function refuseTries(id: ChangeId, reason: string, steps: readonly QueueStep[]): never {
  refuse(
    'busy',
    `${id} was tried ${limits.queueTries} times: ${reason}`,
    { id, steps },
    'Run it again: what landed has landed, and the rest waits.',
  )
}

/** Opens the place to land in for one step: what one that failed holds is of no use to the next. */
async function inLander(
  world: World,
  directory: string,
  task: (lander: World) => Promise<QueueStep | null>,
): Promise<QueueStep | null> {
  const lander = await openWorld(directory, { env: world.repository.env, clock: world.clock })
  const store = galleyDirectory(lander.repository)
  const step = await task(lander).finally(() => lander.close())
  // It may say that a change landed which no remote has.
  if (step?.kind !== 'landed' && isThere(store)) await removeOwnDirectory(store)
  return step
}

/** The bare repository in which a queue's changes land: made for one run, and thrown away after it. */
async function makeLandingPlace(world: World, { side, branch }: QueueSide): Promise<string> {
  const home = await ensureScratchHome(world.repository)
  const name = Buffer.from(world.clock.random(8)).toString('hex')
  const directory = join(home, `lander-${name}.git`)
  const config = await world.config()
  const url = fromAnywhere(side.transport.url, world.repository.workTree ?? world.repository.gitDir)
  await makeLander(world.repository, directory, { branch, url, config })
  return directory
}

/** A path counts from the user's repository; an address, or `host:path`, from anywhere. */
const fromAnywhere = (url: string, directory: string): string =>
  /^[\w+.-]+:/.test(url) ? url : resolve(directory, url)

/** One try at the change that is first in line. null = somebody else took it meanwhile. */
async function landNext(
  lander: World,
  branch: string,
  { id }: QueueEntry,
  by: string,
): Promise<QueueStep | null> {
  const queue = await openQueue(lander, { remote: 'origin', branch })
  const until = new Date(lander.clock.now() + limits.queueClaimMs).toISOString()
  const claimed = await queue.append({ kind: 'claimed', id, at: lander.now(), by, until })
  if (claimed === null) return null
  try {
    return await landClaimed(lander, queue, id, by)
  } catch (error) {
    if (!(error instanceof GalleyError) || error.code === 'internal') throw error
    if (/does not support --atomic/.test(error.message)) refuseServer(queue.side, queue.branch, error.message)
    if (PASSING.has(error.code)) return { kind: 'again', id, reason: error.message }
    return drop(lander, queue, id, { by, refusal: error })
  }
}

async function landClaimed(
  lander: World,
  queue: QueueSide,
  id: ChangeId,
  by: string,
): Promise<QueueStep | null> {
  await followRemote(lander, queue)
  await fetchChanges(lander, { remote: 'origin' })
  const { change } = await loadChange(lander, await lander.store(), id)
  if (change.state === 'landed')
    return settled(lander, queue, id, { by, commit: viewChange(change).landed?.after ?? '' })
  const landed = await land(lander, { id, onto: queue.branch })
  const { after } = landed.landed
  return pushLanded(lander, queue, { kind: 'landed', id, at: lander.now(), by, commit: after })
}

/** The branch with its approvals, the log and the queue: all or nothing. Where the queue alone has moved, only that is made anew. */
async function pushLanded(
  lander: World,
  queue: QueueSide,
  event: QueueEvent & { readonly kind: 'landed' },
): Promise<QueueStep | null> {
  for (let tries = 1; ; tries++) {
    const step = await queue.step(await queue.load(), event)
    if (step === null) return null
    try {
      await pushChanges(lander, { remote: 'origin', withBranch: queue.branch, along: [step.update] })
      return { kind: 'landed', id: event.id, commit: event.commit }
    } catch (error) {
      if (!isLostTo(error, queue.ref) || tries >= limits.queueTries) throw error
      await lander.clock.sleep(tries * 10 + (lander.clock.random(1)[0] ?? 0))
    }
  }
}

/** Whether a push failed for this ref's sake alone: what else was in it only fell with it. */
function isLostTo(error: unknown, ref: string): boolean {
  if (!(error instanceof GalleyError) || error.code !== 'branch-moved') return false
  const { lost } = error.data as { readonly lost?: readonly PushOutcome[] }
  const own = (lost ?? []).filter((one) => !('reason' in one && one.reason.includes('atomic')))
  return own.length > 0 && own.every((one) => one.ref === ref)
}

/** Somebody landed it by another way. */
async function settled(
  lander: World,
  queue: QueueSide,
  id: ChangeId,
  { by, commit }: { readonly by: string; readonly commit: string },
): Promise<QueueStep | null> {
  const state = await queue.append({ kind: 'landed', id, at: lander.now(), by, commit })
  return state === null ? null : { kind: 'landed', id, commit }
}

async function drop(
  lander: World,
  queue: QueueSide,
  id: ChangeId,
  { by, refusal }: { readonly by: string; readonly refusal: Refusal },
): Promise<QueueStep | null> {
  const reason = `${refusal.code}: ${refusal.message}`.slice(0, 2_000)
  const state = await queue.append({ kind: 'dropped', id, at: lander.now(), by, reason })
  return state === null ? null : { kind: 'dropped', id, reason, code: refusal.code }
}

/** Stands where the remote's branch does, whatever stood here. */
async function followRemote({ repository }: World, { side, branch }: QueueSide): Promise<void> {
  const how = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance']
  await git(repository.door, {
    args: ['fetch', ...how, '--end-of-options', side.transport.url, `+${branch}:${branch}`],
  })
}

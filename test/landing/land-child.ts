/**
 * One landing in a process of its own, for tests that kill it. Arguments: a JSON file with the plan, and the
 * point at which the process group is to be killed (or none); after `held:` with the index held from the start.
 */
import { readFileSync } from 'node:fs'
import { openRepository } from '../../src/git/open-repository.ts'
import { withIndexHeld } from '../../src/landing/hold-index.ts'
import { type LandRequest, landCommit } from '../../src/landing/land-commit.ts'
import type { CommitId, RefName } from '../../src/model/ids.ts'
import type { Manifest } from '../../src/model/manifest.ts'
import { withLandingLock } from '../../src/store/lock.ts'
import { openStore } from '../../src/store/open-store.ts'
import { systemClock } from '../../src/sys/clock.ts'

export interface ChildPlan {
  readonly env: Readonly<Record<string, string>>
  readonly ref: string
  readonly before: string | null
  readonly after: string
  readonly manifest: Manifest
}

async function main(dir: string, planFile: string, killAt: string): Promise<void> {
  const plan = JSON.parse(readFileSync(planFile, 'utf8')) as ChildPlan
  const repository = await openRepository(dir, plan.env)
  const store = await openStore(repository)
  process.stdout.write('ready\n')
  const [isHeld, lastPoint] = killAt.startsWith('held:') ? [true, killAt.slice(5)] : [false, killAt]
  const reach = (point: string): void => {
    if (point === lastPoint) process.kill(-process.pid, 'SIGKILL')
  }
  const place = { repository, galleyDir: store.galleyDir, label: 'gtest00000', clock: systemClock }
  const request: LandRequest = {
    ...place,
    store: store.door,
    ref: plan.ref as RefName,
    before: plan.before as CommitId | null,
    after: plan.after as CommitId,
    manifest: plan.manifest,
    working: new Map(),
    reason: 'galley: land gtest00000',
    reach,
  }
  if (isHeld) {
    await withLandingLock(store.galleyDir, systemClock, 'test', () =>
      withIndexHeld(place, (held) => {
        reach('index-held')
        return landCommit({ ...request, held })
      }),
    )
  } else await landCommit(request)
  process.stdout.write('landed\n')
}

void main(process.argv[2] ?? '', process.argv[3] ?? '', process.argv[4] ?? '')

/**
 * One landing in a process of its own, for tests that kill it. Arguments: a JSON file with the plan, and the
 * point at which the process group is to be killed (or none).
 */
import { readFileSync } from 'node:fs'
import { openRepository } from '../../src/git/open-repository.ts'
import { landCommit } from '../../src/landing/land-commit.ts'
import type { CommitId, RefName } from '../../src/model/ids.ts'
import type { Manifest } from '../../src/model/manifest.ts'
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
  await landCommit({
    repository,
    store: store.door,
    galleyDir: store.galleyDir,
    label: 'gtest00000',
    ref: plan.ref as RefName,
    before: plan.before as CommitId | null,
    after: plan.after as CommitId,
    manifest: plan.manifest,
    working: new Map(),
    reason: 'galley: land gtest00000',
    clock: systemClock,
    reach: (point) => {
      if (point === killAt) process.kill(-process.pid, 'SIGKILL')
    },
  })
  process.stdout.write('landed\n')
}

void main(process.argv[2] ?? '', process.argv[3] ?? '', process.argv[4] ?? '')

import { expect, test } from 'vitest'
import { ApprovalLogs } from '../../src/flow/verify/approval-logs.ts'
import { openWorld } from '../../src/flow/world.ts'
import type { Revision } from '../../src/model/change.ts'
import { changeId, commitId } from '../../src/model/ids.ts'
import { standingOf } from '../../src/policy/approval-standing.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { eventsOf, writeLog } from '../helpers/forge-log.ts'
import { makeRepo } from '../helpers/repo.ts'
import { approveChange } from './verify-world.ts'

test('a log of any length is read whole and in its order, alone or beside many', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  const { id, commit } = await approveChange(repo, 'One', { 'a.txt': 'b\n' })
  repo.git('fetch', '-q', '.git/galley/store.git', '+refs/galley/*:refs/galley/*')
  const [proposed, staged, approved] = eventsOf(repo, id).map(({ event }) => event)
  const rejected = { kind: 'rejected', revision: 1, reason: 'no', at: approved?.at, by: approved?.by }
  const { digest } = (staged as unknown as { readonly revision: Revision }).revision
  const revision = { number: 1, commit: commitId(commit), digest }
  const tips = new Map<string, ReturnType<typeof commitId>[]>()
  const expected = new Map<string, unknown>()
  for (let length = 2; length <= 10; length++) {
    for (const no of [null, 2, length - 1]) {
      const events = Array.from({ length }, (_, n) =>
        n === 0 ? proposed : n === 1 ? staged : n === no ? rejected : approved,
      )
      const name = `g${String(length * 100 + (no ?? 99)).padStart(9, '0')}`
      tips.set(name, [
        commitId(
          writeLog(
            repo,
            name,
            events.map((event) => ({ event })),
          ),
        ),
      ])
      expected.set(name, standingOf(events as Parameters<typeof standingOf>[0], revision))
    }
  }
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  const { door } = world.repository
  const reader = await world.reader()
  const together = new ApprovalLogs({ door, reader, tips, landedHere: async () => new Set() })
  await together.prepare([...tips.keys()].map(changeId))
  for (const name of tips.keys()) {
    const alone = new ApprovalLogs({ door, reader, tips, landedHere: async () => new Set() })
    for (const logs of [alone, together])
      expect(await logs.standing(changeId(name), revision), name).toEqual(expected.get(name))
  }
  expect(
    [...expected.values()].filter((one) => JSON.stringify(one).includes('reject')).length,
  ).toBeGreaterThan(9)
  await world.close()
})

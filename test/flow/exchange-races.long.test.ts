import { describe, expect, test } from 'vitest'
import type { Galley } from '../../src/flow/galley.ts'
import { GalleyError } from '../../src/model/error.ts'
import { galleyRefs, makeClones } from '../helpers/clones.ts'
import { batch, openGalley, refusal } from '../helpers/galley.ts'

/** How many changes each of the sixteen clones proposes; with more than one, all sixteen decide on one change as well. */
const EACH = Number(process.env['GALLEY_PUSHES'] ?? 1)
const CLONES = 16
/** Each decision that comes too late is fetched and pushed again, so that the work grows with the square. */
const DECIDERS = EACH > 1 ? CLONES : 4
const TIMEOUT_MS = 120_000 * EACH

const write = (path: string) => ({ op: 'write', path, content: `${path}\n`, mode: 'create' })

/** Fetches and pushes until nothing is behind: what somebody at a terminal does. */
async function pushThrough(galley: Galley): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    try {
      await galley.push()
      return
    } catch (error) {
      if (!(error instanceof GalleyError) || error.code !== 'branch-moved') throw error
      await galley.fetch()
    }
  }
  throw new Error('never got through')
}

/** Approves, once more where another process changed the log at that moment. */
async function approveThrough(galley: Galley, id: string): Promise<void> {
  for (;;) {
    try {
      await galley.approve({ id })
      return
    } catch (error) {
      if (!(error instanceof GalleyError) || error.code !== 'busy') throw error
    }
  }
}

async function openAll(count: number = CLONES) {
  const made = makeClones(count)
  const galleys = await Promise.all(made.clones.map((clone) => openGalley(clone)))
  const close = async () => {
    await Promise.all(galleys.map((galley) => galley.close()))
    made[Symbol.dispose]()
  }
  return { ...made, galleys, [Symbol.asyncDispose]: close }
}

describe('clones at once', () => {
  test('that are sixteen and propose, approve and push to one repository lose nothing, and nothing lands unapproved', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await using all = await openAll()
    const { bare, galleys } = all
    const work = galleys.map(async (galley, n) => {
      const ids: { id: string; isApproved: boolean }[] = []
      for (let i = 0; i < EACH; i++) {
        const { change } = await galley.propose({ batch: batch([write(`of-${n}/${i}.txt`)]) })
        // One of four is left for somebody else to decide on.
        const isApproved = (n + i) % 4 !== 3
        if (isApproved) await galley.approve({ id: change.id })
        await galley.push()
        ids.push({ id: change.id, isApproved })
      }
      return ids
    })
    const ids = (await Promise.all(work)).flat()
    const pushed = galleyRefs(bare, bare.dir)
    for (const clone of all.clones) expect(pushed).toEqual(expect.arrayContaining([...galleyRefs(clone)]))
    const approved = ids.filter((one) => one.isApproved)
    expect(pushed).toHaveLength(ids.length * 2 + approved.length)

    const [lander] = galleys
    if (lander === undefined) throw new Error('a clone')
    const { changes, dropped } = await lander.fetch()
    expect([changes.length, dropped]).toEqual([ids.length - EACH, []])
    const { landed, refused } = await lander.landAll()
    expect(landed.map((one) => one.change.id).sort()).toEqual(approved.map((one) => one.id).sort())
    expect(refused).toEqual([])
    for (const { id } of ids.filter((one) => !one.isApproved))
      expect((await refusal(() => lander.land({ id }))).code).toBe('not-approved')
    await lander.push({ withBranch: 'main' })
    const trailers = bare
      .git('log', '--format=%(trailers:key=Galley-Change,valueonly,separator=)', 'main')
      .split('\n')
      .filter(Boolean)
    expect(trailers.sort()).toEqual(approved.map((one) => one.id).sort())
    expect(bare.git('fsck', '--full', '--strict', '--no-dangling')).toBe('')
  })

  test('that decide on one change keep every decision', { timeout: TIMEOUT_MS }, async () => {
    await using all = await openAll(DECIDERS)
    const { bare, galleys, clones } = all
    const [first] = galleys
    if (first === undefined) throw new Error('a clone')
    const { change } = await first.propose({ batch: batch([write('shared.txt')]) })
    await first.push()
    await Promise.all(
      galleys.map(async (galley) => {
        await galley.fetch()
        await galley.approve({ id: change.id })
        await pushThrough(galley)
      }),
    )
    await Promise.all(galleys.map((galley) => galley.fetch()))
    const tips = new Set(clones.map((clone) => galleyRefs(clone).join('\n')))
    expect([...tips]).toEqual([galleyRefs(bare, bare.dir).join('\n')])
    const { log } = await first.show(change.id)
    const by = log.filter((event) => event.kind === 'approved').map((event) => event.by)
    expect([by.length, new Set(by).size]).toEqual([DECIDERS, DECIDERS])
  })

  test('that fetch several times at once, beside their own decisions, take everything in once', async () => {
    await using all = await openAll(2)
    const [ann, ben] = all.galleys
    const [annRepo, benRepo] = all.clones
    if (!ann || !ben || !annRepo || !benRepo) throw new Error('two clones')
    const { change } = await ann.propose({ batch: batch([write('shared.txt')]) })
    await ann.push()
    await ben.fetch()
    await ann.approve({ id: change.id })
    await ann.push()
    const again = await Promise.all([1, 2, 3].map(() => openGalley(benRepo)))
    await Promise.all([...again.map((galley) => galley.fetch()), approveThrough(ben, change.id)])
    await Promise.all(again.map((galley) => galley.close()))
    await pushThrough(ben)
    await ann.fetch()
    expect(galleyRefs(annRepo)).toEqual(galleyRefs(benRepo))
    const kinds = (await ann.show(change.id)).log.map((event) => event.kind)
    expect(kinds).toEqual(['proposed', 'staged', 'approved', 'approved'])
  })

  test('that create the same ref leave one winner and an untouched object', async () => {
    await using all = await openAll()
    const { bare, clones } = all
    const ref = 'refs/galley/changes/g000000000/1'
    const { pushRefs } = await import('../../src/git/exchange.ts')
    const { openTransport } = await import('../../src/git/transport.ts')
    const { openWorld } = await import('../../src/flow/world.ts')
    const { systemClock } = await import('../../src/sys/clock.ts')
    const results = await Promise.all(
      clones.map(async (clone, n) => {
        clone.write('mine.txt', `${n}\n`)
        const next = clone.commit(`mine ${n}`)
        const world = await openWorld(clone.dir, { env: clone.env, clock: systemClock })
        const { door } = await world.store()
        const transport = await openTransport(world.repository, door, bare.dir, [], {})
        const [outcome] = await pushRefs(transport, [{ ref, next, expected: null }], false)
        await world.close()
        return { next, kind: outcome?.kind, reason: outcome?.kind === 'refused' ? outcome.reason : null }
      }),
    )
    const winners = results.filter((one) => one.kind === 'done')
    expect(winners.map((one) => one.next)).toEqual([bare.git('rev-parse', ref)])
    expect(results.flatMap((one) => one.reason ?? [])).toEqual([])
    expect(results.filter((one) => one.kind === 'moved')).toHaveLength(CLONES - 1)
  })
})

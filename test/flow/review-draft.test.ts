import { expect, test } from 'vitest'
import { approvalNeeds } from '../../src/flow/review/approval-needs.ts'
import { finishReview } from '../../src/flow/review/finish-review.ts'
import { actOnReview, openReview, readReviewDraft } from '../../src/flow/review/open-review.ts'
import { showChange } from '../../src/flow/show.ts'
import { openWorld } from '../../src/flow/world.ts'
import { splitPieces } from '../../src/review/piece-keys.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const lines = (...changed: readonly number[]): string =>
  Array.from({ length: 30 }, (_, i) => `${i + 1}${changed.includes(i + 1) ? ' new' : ''}\n`).join('')
const files = { 'a.txt': lines(), 'b.txt': 'b\n' }
const edits = [
  { op: 'write', path: 'a.txt', content: lines(2, 15, 18, 28) },
  { op: 'write', path: 'b.txt', content: 'B\n' },
]
const accepted = { kind: 'accepted' } as const

async function proposed(repo: TestRepo) {
  await using galley = await openGalley(repo)
  return (await galley.propose({ batch: batch(edits) })).change
}
const worldOf = (repo: TestRepo) => openWorld(repo.dir, { env: repo.env, clock: systemClock })

test('two views that write at once lose nothing, and each sees the other', async () => {
  using repo = makeRepo({ files })
  const { id } = await proposed(repo)
  const [one, two] = [await worldOf(repo), await worldOf(repo)]
  const { pieces } = await openReview(one, id)
  const acts = pieces.flatMap(({ key }, i) => {
    const comment = { id: `${i}`, key, text: `${i}`, about: [] }
    return [
      actOnReview(one, id, [
        { kind: 'decide', revision: 1, keys: [key], decision: accepted, via: 'terminal' },
      ]),
      actOnReview(two, id, [{ kind: 'comment', comment }]),
    ]
  })
  await Promise.all(acts)
  const draft = await readReviewDraft(two, id)
  expect([draft.decided.length, draft.comments.length]).toEqual([pieces.length, pieces.length])
  await Promise.all([one.close(), two.close()])
})

test('an edited hunk, a part of one and a rejected one land as the reviewer had them', async () => {
  using repo = makeRepo({ files })
  const { id, digest } = await proposed(repo)
  const world = await worldOf(repo)
  const { pieces } = await openReview(world, id)
  const refused = await refusal(() => finishReview(world, { id, digest, via: 'terminal', does: 'land' }))
  expect(refused).toMatchObject({ code: 'undecided', data: { hunks: [1, 2, 3, 4] } })
  const hunkKey = pieces[1]?.key ?? ''
  const split = await actOnReview(world, id, [{ kind: 'split', revision: 1, hunkKey, isSplit: true }])
  const [first, partOne, partTwo, last, other] = splitPieces(pieces, split.split).map(({ key }) => key)
  const text = '1\n2 by hand\n3\n4\n5\n'
  const say = (key: string | undefined, decision: object) =>
    ({ kind: 'decide', revision: 1, keys: [key ?? ''], decision, via: 'terminal' }) as never
  await actOnReview(world, id, [
    say(first, { kind: 'edited', text, reason: 'shorter' }),
    say(partOne, accepted),
    say(partTwo, { kind: 'rejected', reason: 'not this' }),
    say(last, accepted),
    say(other, { kind: 'rejected', reason: 'no' }),
  ])
  const done = await finishReview(world, { id, digest, via: 'terminal', does: 'land' })
  expect(done.kind).toBe('landed')
  expect(repo.read('a.txt')).toBe(lines(15, 28).replace('2\n', '2 by hand\n'))
  expect(repo.read('b.txt')).toBe('b\n')
  expect(repo.git('status', '--porcelain')).toBe('')
  expect(done.change.comments.map(({ text: said, edits: e, rejects }) => [said, e ?? rejects])).toEqual([
    ['shorter', true],
    ['not this', true],
    ['no', true],
  ])
  const { change } = await showChange(world, id)
  expect(change.comments.map(({ now }) => now)).toMatchObject([
    { kind: 'gone' },
    { kind: 'gone' },
    { kind: 'gone' },
  ])
  await world.close()
})

test('a view with an older digest sends nothing, and its draft stays', async () => {
  using repo = makeRepo({ files })
  const { id, digest } = await proposed(repo)
  const world = await worldOf(repo)
  const { pieces } = await openReview(world, id)
  const keys = pieces.map(({ key }) => key)
  await actOnReview(world, id, [{ kind: 'decide', revision: 1, keys, decision: accepted, via: 'web' }])
  const before = repo.snapshot()
  const old = () => finishReview(world, { id, digest: 'f'.repeat(64), via: 'web', does: 'land' })
  expect((await refusal(old)).code).toBe('digest-mismatch')
  expect(repo.snapshot()).toEqual(before)
  expect((await readReviewDraft(world, id)).decided).toHaveLength(keys.length)
  await finishReview(world, { id, digest, via: 'web', does: 'land' })
  const late = () => finishReview(world, { id, digest, via: 'terminal', does: 'land' })
  expect((await refusal(late)).code).toBe('wrong-state')
  await world.close()
})

test('one yes of two stands, and says what is lacking', async () => {
  using repo = makeRepo({ files: { ...files, '.galley.json': '{"approval":{"count":2}}\n' } })
  const { id, digest } = await proposed(repo)
  const world = await worldOf(repo)
  expect(await approvalNeeds(world, id)).toEqual({ count: 2, requires: 'any', isSigned: false })
  const { pieces } = await openReview(world, id)
  const keys = pieces.map(({ key }) => key)
  await actOnReview(world, id, [{ kind: 'decide', revision: 1, keys, decision: accepted, via: 'terminal' }])
  const done = await finishReview(world, { id, digest, via: 'terminal', does: 'land' })
  expect(done).toMatchObject({ kind: 'approved', lacks: expect.stringContaining('2 approvals') })
  expect(done.change.approvals).toHaveLength(1)
  expect(repo.read('b.txt')).toBe('b\n')
  await world.close()
})

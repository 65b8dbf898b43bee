import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { galleyRefs, inStore, makeClones } from '../helpers/clones.ts'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const append = { op: 'append', path: 'a.txt', content: 'b\n' }
const write = (path: string) => ({ op: 'write', path, content: `${path}\n` })

function recheckout(repo: TestRepo, path: string): void {
  rmSync(join(repo.dir, path))
  repo.git('checkout', '--quiet', '--', path)
}

const two = (options?: Parameters<typeof makeClones>[1]) => {
  const made = makeClones(2, options)
  const [ann, ben] = made.clones
  if (ann === undefined || ben === undefined) throw new Error('two clones')
  return { ...made, ann, ben, [Symbol.dispose]: () => made[Symbol.dispose]() }
}

describe('a change that was proposed and approved in one clone, in another', () => {
  test('takes its base along, where the other clone has not that commit', async () => {
    using made = two()
    made.ann.write('a.txt', 'mine, not pushed\n')
    made.ann.commit('not pushed')
    await using ann = await openGalley(made.ann)
    await using ben = await openGalley(made.ben)
    const { change } = await ann.propose({ batch: batch([write('n.txt')]) })
    await ann.approve({ id: change.id })
    await ann.push()
    await ben.fetch()
    const { landed } = await ben.land({ id: change.id })
    expect(landed.after).not.toBe(change.commit)
    expect(made.ben.git('log', '--format=%s')).toBe('A change\nfirst')
  })

  test.each([
    ['sha256', { objectFormat: 'sha256', files: { 'a.txt': 'a\n' } }],
    [
      'line endings of the work tree',
      { files: { 'a.txt': 'a\n', '.gitattributes': '*.txt text eol=crlf\n' } },
    ],
    ['an unborn branch', undefined],
  ] as const)('lands with %s', async (what, options) => {
    using made = two(options ?? { files: { 'a.txt': 'a\n' } })
    if (what === 'an unborn branch') {
      for (const repo of [made.ann, made.ben]) repo.git('checkout', '--quiet', '--orphan', 'fresh')
      for (const repo of [made.ann, made.ben]) repo.git('rm', '-rq', '--cached', '.')
    }
    // What the tests wrote is as git would check it out.
    for (const repo of [made.ann, made.ben]) if (what.startsWith('line')) recheckout(repo, 'a.txt')
    await using ann = await openGalley(made.ann)
    await using ben = await openGalley(made.ben)
    const edits = what === 'an unborn branch' ? [write('n.txt')] : [append, write('n.txt')]
    const { change } = await ann.propose({ batch: batch(edits) })
    await ann.approve({ id: change.id })
    await ann.push()
    await ben.fetch()
    await ben.land({ id: change.id })
    const status = made.ben.git('status', '--porcelain', '--untracked-files=no')
    expect(status).toBe('')
  })

  test('lands with others that were fetched, all in one go', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    await using ben = await openGalley(made.ben)
    for (const name of ['x', 'y', 'z']) {
      const { change } = await ann.propose({ batch: batch([write(`${name}.txt`)]) })
      await ann.approve({ id: change.id })
    }
    await ann.push()
    await ben.fetch()
    const { landed, refused } = await ben.landAll()
    expect([landed.length, refused.length]).toEqual([3, 0])
  })
})

describe('a change whose refs were folded into an archive', () => {
  test('is pushed as it stands, not fetched again, and goes on when others add to it', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    await using ben = await openGalley(made.ben)
    const { change } = await ann.propose({ batch: batch([append]) })
    await ann.approve({ id: change.id })
    await ann.push()
    await ben.fetch()
    await ben.land({ id: change.id })
    expect((await ben.gc()).archived).toEqual([change.id])
    expect(await ben.fetch()).toMatchObject({ changes: [], dropped: [] })
    expect(galleyRefs(made.ben)).toEqual([])
    // Meanwhile another approves, who does not know that it has landed.
    await ann.approve({ id: change.id })
    await ann.push()
    expect((await ben.fetch()).changes).toMatchObject([{ id: change.id, how: 'merged' }])
    const { log, change: now } = await ben.show(change.id)
    expect(now.state).toBe('landed')
    expect(log.map((event) => event.kind)).toEqual(['proposed', 'staged', 'approved', 'approved', 'landed'])
    await ben.gc()
    await ben.push()
    await ann.fetch()
    expect((await ann.show(change.id)).change.state).toBe('landed')
    expect(inStore(made.ben, 'fsck', '--full', '--no-dangling')).toBe('')
  })
})

describe('two clones that add to one log', () => {
  async function shared() {
    const made = two()
    const [ann, ben] = [await openGalley(made.ann), await openGalley(made.ben)]
    const { change } = await ann.propose({ batch: batch([append]) })
    await ann.push()
    await ben.fetch()
    const close = async () => {
      await ann.close()
      await ben.close()
      made[Symbol.dispose]()
    }
    return { made, ann, ben, id: change.id, [Symbol.asyncDispose]: close }
  }

  test('that both revised it keep their own, and are told', async () => {
    await using both = await shared()
    const { ann, ben, id, made } = both
    await ann.propose({ batch: batch([{ ...append, content: 'c\n' }]), revise: id })
    await ben.propose({ batch: batch([{ ...append, content: 'd\n' }]), revise: id })
    await ann.push()
    const before = galleyRefs(made.ben)
    const { dropped, changes } = await ben.fetch()
    expect(changes).toEqual([])
    expect(dropped).toMatchObject([{ ref: `refs/galley/log/${id}`, code: 'branch-moved' }])
    expect(galleyRefs(made.ben)).toEqual(before)
    expect(await refusal(() => ben.push())).toMatchObject({ code: 'branch-moved' })
    const other = await ben.propose({ batch: batch([write('other.txt')]) })
    const still = await refusal(() => ben.push())
    expect(still.data['pushed']).toMatchObject([{}, {}])
    await ann.fetch()
    expect((await ann.show(other.change.id)).change.state).toBe('staged')
  })

  test('fold the same events to the same commits, and none of them twice', async () => {
    await using both = await shared()
    const { ann, ben, id, made } = both
    await ann.approve({ id })
    await ben.approve({ id })
    await ann.push()
    await ben.fetch()
    await ben.push()
    using elsewhere = makeRepo({ bare: true })
    inStore(made.ben, 'push', '--quiet', elsewhere.dir, 'refs/galley/*:refs/galley/*')
    await ann.fetch({ remote: elsewhere.dir })
    await ann.fetch()
    expect((await ann.show(id)).log).toHaveLength(4)
    expect(galleyRefs(made.ann)).toEqual(galleyRefs(made.ben))
  })
})

describe('a repository that is', () => {
  test('shallow pushes and fetches, and its boundary stays', async () => {
    using made = makeClones(1)
    const [full] = made.clones
    if (full === undefined) throw new Error('a clone')
    for (const n of [1, 2, 3]) {
      full.write('a.txt', `${n}\n`)
      full.commit(`commit ${n}`)
    }
    full.git('push', '--quiet', 'origin', 'main')
    const dir = join(full.home, 'shallow')
    full.git('clone', '--quiet', '--depth=1', `file://${made.bare.dir}`, dir)
    const boundary = full.git('hash-object', join(dir, '.git/shallow'))
    await using galley = await openGalley(full, { dir })
    await using other = await openGalley(full)
    const { change } = await galley.propose({ batch: batch([append]) })
    await galley.approve({ id: change.id })
    await galley.push()
    await other.fetch()
    const here = await other.propose({ batch: batch([write('n.txt')]) })
    await other.approve({ id: here.change.id })
    await other.push()
    await galley.fetch()
    await galley.land({ id: here.change.id })
    await galley.land({ id: change.id })
    expect(full.git('hash-object', join(dir, '.git/shallow'))).toBe(boundary)
    expect(full.git('-C', dir, 'fsck', '--no-dangling')).toBe('')
    expect(full.git(`--git-dir=${join(dir, '.git/galley/store.git')}`, 'config', '--get', 'core.bare')).toBe(
      'true',
    )
  })

  test('bare takes part too', async () => {
    using made = two()
    await using server = await openGalley(made.bare)
    await using ann = await openGalley(made.ann)
    const { change } = await ann.propose({ batch: batch([append]) })
    await ann.approve({ id: change.id })
    await ann.push()
    await server.fetch({ remote: made.bare.dir })
    await server.land({ id: change.id })
    expect(made.bare.git('rev-parse', 'main')).toBe(change.commit)
  })
})

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

describe('landing all that is approved', () => {
  test('lands a queue in order, one commit for each change, in one update of the files', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n', 'mine.txt': 'mine\n' } })
    repo.write('mine.txt', 'not committed\n')
    await using galley = await openGalley(repo)
    const ids: string[] = []
    for (const [i, edit] of [
      { op: 'replace', path: 'a.txt', old: 'a', new: 'A' },
      { op: 'replace', path: 'b.txt', old: 'b', new: 'B' },
      { op: 'write', path: 'c/d.txt', mode: 'create', content: 'c\n' },
      { op: 'move', path: 'a.txt', to: 'z.txt' },
    ].entries()) {
      const { change } = await galley.propose({ batch: batch([edit], { title: `Change ${i}` }) })
      if (i !== 2) await galley.approve({ id: change.id })
      ids.push(change.id)
    }
    const { landed, refused } = await galley.landAll()
    expect(landed.map((l) => l.change.id)).toEqual([ids[0], ids[1]])
    expect(landed[1]?.landed.before).toBe(landed[0]?.landed.after)
    expect(refused).toMatchObject([{ id: ids[3], refusal: { code: 'not-approved' } }])
    expect(repo.git('log', '--format=%s', '--reverse')).toBe('first\nChange 0\nChange 1')
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual(['A\n', 'B\n'])
    expect(repo.git('status', '--porcelain')).toBe('M mine.txt'.padStart(11))
    expect(repo.git('fsck', '--strict', '--no-dangling')).toBe('')
  })

  test('leaves none out of the checks of its base, which the tip no longer asks for', async () => {
    const checks = [{ name: 'look', run: '[ ! -e stop ]' }]
    using repo = makeRepo({
      files: { 'a.txt': 'a\n', 'b.txt': 'b\n', '.galley.json': `${JSON.stringify({ checks })}\n` },
    })
    await using galley = await openGalley(repo)
    for (const path of ['a.txt', 'b.txt']) {
      const { change } = await galley.propose({ batch: batch([{ op: 'append', path, content: 'x\n' }]) })
      await galley.approve({ id: change.id })
    }
    repo.git('rm', '-q', '.galley.json')
    repo.write('stop', '')
    repo.commit('no policy')
    const { landed, refused } = await galley.landAll()
    expect(landed).toEqual([])
    expect(refused.map(({ refusal }) => refusal.code)).toEqual(['checks-failed', 'checks-failed'])
  })

  test('lands the others where one would be laid over uncommitted work', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' } })
    await using galley = await openGalley(repo)
    const ids: string[] = []
    for (const path of ['a.txt', 'b.txt', 'c.txt']) {
      const edit = { op: 'append', path, content: 'agent\n' }
      const { change } = await galley.propose({ batch: batch([edit], { title: path }) })
      await galley.approve({ id: change.id })
      ids.push(change.id)
    }
    repo.write('b.txt', 'b\nmine\n')
    const { landed, refused } = await galley.landAll()
    expect(landed.map((l) => l.change.id)).toEqual([ids[0], ids[2]])
    expect(refused).toMatchObject([{ id: ids[1], refusal: { code: 'overlaps-uncommitted' } }])
    expect([repo.read('a.txt'), repo.read('b.txt'), repo.read('c.txt')]).toEqual([
      'a\nagent\n',
      'b\nmine\n',
      'c\nagent\n',
    ])
    expect(repo.git('status', '--porcelain')).toBe(' M b.txt')
  })

  test('says of none that it was refused when the branch has moved', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const edit = { op: 'append', path: 'a.txt', content: 'x\n' }
    const { id } = (await galley.propose({ batch: batch([edit]) })).change
    await galley.approve({ id })
    // Once: the index cannot be put in place after the branch has moved.
    const hook = join(repo.dir, '.git/hooks/reference-transaction')
    const git = join(repo.dir, '.git')
    const spoil = `mv ${git}/index ${git}/kept && mkdir -p ${git}/index/x && rm ${hook}`
    writeFileSync(hook, `#!/bin/sh\n[ "$1" != committed ] || { ${spoil}; }\n`)
    chmodSync(hook, 0o755)
    const failed = await refusal(() => galley.landAll())
    expect(failed).toMatchObject({ code: 'io-error', data: { landed: true, id, others: [] } })
  })

  test('refuses nobody for another, and nothing where nothing is approved', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    await galley.propose({ batch: batch([{ op: 'append', path: 'a.txt', content: 'x\n' }]) })
    const before = repo.snapshot()
    expect(await galley.landAll()).toEqual({ landed: [], refused: [] })
    expect(repo.snapshot()).toEqual(before)
  })
})

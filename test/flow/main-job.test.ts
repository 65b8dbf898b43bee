import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const tenFiles = {
  'src/price.ts': 'export const price = 1\nexport const tax = 2\n',
  'src/total.ts': 'import { price } from "./price"\n\nexport const total = price\n',
  'tools/report.py': 'print("report")\n',
  'docs/guide.md': '# Guide\r\n\r\nOld text\r\n',
  'old.txt': 'to be deleted\n',
  'run.sh': '#!/bin/sh\necho run\n',
  'mine/staged.txt': 'one\n',
  'mine/unstaged.txt': 'one\n',
}

const tenEdits = [
  { op: 'replace', path: 'src/price.ts', old: 'price = 1', new: 'price = 10' },
  { op: 'replace', path: 'src/price.ts', old: 'tax = 2', new: 'tax = 20' },
  { op: 'append', path: 'src/price.ts', content: 'export const fee = 3\n' },
  { op: 'insert', path: 'src/total.ts', after: 0, content: '// totals\n' },
  { op: 'replace', path: 'src/total.ts', old: 'total = price', new: 'total = price + 1' },
  { op: 'replace', path: 'docs/guide.md', old: 'Old text\n', new: 'New text\nand more\n' },
  { op: 'write', path: 'src/new/fee.ts', mode: 'create', content: 'export {}\n' },
  { op: 'delete', path: 'old.txt' },
  { op: 'move', path: 'tools/report.py', to: 'tools/print.py' },
  { op: 'chmod', path: 'run.sh', executable: true },
]

describe('the main job', () => {
  test('ten edits are proposed, approved, landed and undone beside uncommitted work, and nothing else moves', async () => {
    using repo = makeRepo({ files: tenFiles })
    const first = repo.git('rev-parse', 'HEAD^{tree}')
    repo.write('mine/staged.txt', 'one\ntwo\n')
    repo.git('add', 'mine/staged.txt')
    repo.write('mine/unstaged.txt', 'one\nthree\n')
    repo.write('mine/untracked.txt', 'new\n')
    const status = repo.git('status', '--porcelain=v2', '--untracked-files=all')
    const config = repo.bytes('.git/config')
    await using galley = await openGalley(repo)

    const before = repo.snapshot()
    const { change } = await galley.propose({ batch: batch(tenEdits) })
    expect(change.files.map((f) => f.path)).toEqual([
      'docs/guide.md',
      'old.txt',
      'run.sh',
      'src/new/fee.ts',
      'src/price.ts',
      'src/total.ts',
      'tools/print.py',
      'tools/report.py',
    ])
    await galley.approve({ id: change.id, digest: change.digest })
    expect(repo.snapshot()).toEqual(before)

    const { landed } = await galley.land({ id: change.id })
    expect(landed).toMatchObject({
      ref: 'refs/heads/main',
      before: change.base,
      after: repo.git('rev-parse', 'HEAD'),
    })
    expect(repo.git('status', '--porcelain=v2', '--untracked-files=all')).toBe(status)
    expect(repo.bytes('docs/guide.md').toString()).toBe('# Guide\r\n\r\nNew text\r\nand more\r\n')
    expect(statSync(join(repo.dir, 'run.sh')).mode & 0o111).not.toBe(0)
    expect(existsSync(join(repo.dir, 'old.txt'))).toBe(false)

    const undone = await galley.undo({ target: change.id })
    await galley.approve({ id: undone.change.id })
    await galley.land({ id: undone.change.id })
    expect(repo.git('rev-parse', 'HEAD^{tree}')).toBe(first)
    expect(repo.git('status', '--porcelain=v2', '--untracked-files=all')).toBe(status)
    expect(repo.git('fsck', '--strict', '--no-dangling')).toBe('')
    expect(repo.git('stash', 'list')).toBe('')
    expect(repo.git('worktree', 'list').split('\n')).toHaveLength(1)
    expect(repo.bytes('.git/config')).toEqual(config)
    expect((await galley.show(change.id)).change).toMatchObject({
      state: 'undone',
      undoneBy: undone.change.id,
    })
  })

  test('a commit that the user makes in the middle of a landing is one of a base that moved', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'mine.txt': 'mine\n' } })
    const flag = join(repo.home, 'now')
    const commits = `rm ${flag}; git -C ${repo.dir} -c user.name=U -c user.email=u commit -qam mine`
    const policy = { checks: [{ name: 'slow', run: `if test -e ${flag}; then ${commits}; fi` }] }
    repo.write('.galley.json', JSON.stringify(policy))
    repo.commit('policy')
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch([{ op: 'append', path: 'a.txt', content: 'b\n' }]),
    })
    await galley.approve({ id: change.id })
    // Checks run again on what is re-parented: the moment at which the user commits once more.
    repo.commit('before')
    repo.write('mine.txt', 'mine, too\n')
    writeFileSync(flag, '')
    const { landed } = await galley.land({ id: change.id })
    expect(existsSync(flag)).toBe(false)
    expect(landed.before).toBe(repo.git('rev-parse', 'HEAD~1'))
    expect(repo.git('log', '--format=%s', '-3')).toBe('A change\nmine\nbefore')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('until it lands, nothing of the repository is another but the folder galley', async () => {
    using repo = makeRepo({
      files: { 'a.txt': 'a\n', '.galley.json': '{"checks":[{"name":"seen","run":["cat","a.txt"]}]}' },
    })
    repo.git('update-index', '--refresh')
    const before = repo.snapshot()
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch([{ op: 'replace', path: 'a.txt', old: 'a', new: 'b' }]),
    })
    expect(repo.snapshot()).toEqual(before)
    expect(repo.git('log', '--all', '--format=%s')).toBe('first')
    expect(change.checks).toMatchObject([
      { name: 'seen', outcome: 'passed', commit: change.commit, summary: 'b' },
    ])

    const store = join(repo.dir, '.git/galley/store.git')
    const list = repo.git('--git-dir', store, 'worktree', 'list', '--porcelain')
    const tree =
      list
        .split('\n')
        .find((l) => l.startsWith('worktree ') && l.endsWith(change.id))
        ?.slice('worktree '.length) ?? ''
    expect(list).toContain(`HEAD ${change.commit}`)
    expect(repo.git('-C', tree, 'status', '--porcelain')).toBe('')
    expect(readFileSync(join(tree, 'a.txt'), 'utf8')).toBe('b\n')
  })

  test('two batches on one base in different files land one after the other, the second with its approval and digest', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } })
    await using galley = await openGalley(repo)
    const one = await galley.propose({ batch: batch([{ op: 'replace', path: 'a.txt', old: 'a', new: 'A' }]) })
    const two = await galley.propose({ batch: batch([{ op: 'replace', path: 'b.txt', old: 'b', new: 'B' }]) })
    await galley.approve({ id: one.change.id })
    await galley.approve({ id: two.change.id })
    await galley.land({ id: one.change.id })
    const { change, landed } = await galley.land({ id: two.change.id })
    expect(change.digest).toBe(two.change.digest)
    expect(landed.after).not.toBe(two.change.commit)
    expect(repo.git('log', '--format=%s', '--reverse')).toBe('first\nA change\nA change')
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual(['A\n', 'B\n'])
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('the commit carries the title, the body and the trailers that lead back to the change', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const agent = { name: 'my-agent', model: 'x-1', session: 's-42' }
    const { change } = await galley.propose({
      batch: batch([{ op: 'append', path: 'a.txt', content: 'b\n' }], {
        title: 'Add b',
        body: 'Because.',
        agent,
      }),
    })
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect(repo.git('log', '-1', '--format=%B')).toBe(
      `Add b\n\nBecause.\n\nGalley-Change: ${change.id}\nGalley-Agent: my-agent (x-1)\n`,
    )
    expect(repo.git('log', '-1', '--format=%an <%ae>')).toBe('Test User <test@example.org>')
  })

  test('a new revision replaces the one before, whose approval does not come along', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const first = await galley.propose({
      batch: batch([{ op: 'replace', path: 'a.txt', old: 'a', new: 'b' }]),
    })
    await galley.approve({ id: first.change.id })
    const second = await galley.propose({
      batch: batch([{ op: 'replace', path: 'a.txt', old: 'a', new: 'c' }]),
      revise: first.change.id,
    })
    expect(second.change).toMatchObject({ id: first.change.id, revision: 2, state: 'staged', approvals: [] })
    await galley.approve({ id: first.change.id })
    await galley.land({ id: first.change.id })
    expect(repo.read('a.txt')).toBe('c\n')
  })

  test('the same batch is recognised while it is pending, and by its key for ever', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const plain = batch([{ op: 'replace', path: 'a.txt', old: 'a', new: 'b' }])
    const one = await galley.propose({ batch: plain })
    expect(await galley.propose({ batch: plain })).toMatchObject({
      repeated: true,
      change: { id: one.change.id },
    })
    await galley.reject({ id: one.change.id, reason: 'no' })
    const two = await galley.propose({ batch: plain })
    expect(two.repeated).toBe(false)
    const keyed = batch([{ op: 'append', path: 'a.txt', content: 'x\n' }], { key: 'k1' })
    const three = await galley.propose({ batch: keyed })
    await galley.approve({ id: three.change.id })
    await galley.land({ id: three.change.id })
    expect(await galley.propose({ batch: keyed })).toMatchObject({
      repeated: true,
      change: { id: three.change.id, state: 'landed' },
    })
    const other = batch([{ op: 'append', path: 'a.txt', content: 'y\n' }], { key: 'k1' })
    const before = repo.snapshot()
    const refused = await refusal(() => galley.propose({ batch: other }))
    expect([refused.code, refused.data['id']]).toEqual(['invalid-batch', three.change.id])
    expect(repo.snapshot()).toEqual(before)
  })

  test('files keep their permission bits when they are overwritten', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'x.sh': 'x\n' } })
    chmodSync(join(repo.dir, 'a.txt'), 0o640)
    chmodSync(join(repo.dir, 'x.sh'), 0o750)
    repo.commit('modes')
    await using galley = await openGalley(repo)
    const edits = [
      { op: 'append', path: 'a.txt', content: 'b\n' },
      { op: 'append', path: 'x.sh', content: 'y\n' },
    ]
    const { change } = await galley.propose({ batch: batch(edits) })
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect(statSync(join(repo.dir, 'a.txt')).mode & 0o777).toBe(0o640)
    expect(statSync(join(repo.dir, 'x.sh')).mode & 0o777).toBe(0o750)
  })

  test('with commit.gpgSign the commit that lands is signed, and its digest is the approved one', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const signer = join(repo.home, 'signer')
    writeFileSync(
      signer,
      '#!/bin/sh\nfor last; do :; done\necho "-----BEGIN SSH SIGNATURE-----" > "$last.sig"\n',
      { mode: 0o755 },
    )
    for (const [key, value] of Object.entries({
      'commit.gpgSign': 'true',
      'gpg.format': 'ssh',
      'gpg.ssh.program': signer,
      'user.signingKey': 'key::x',
    })) {
      repo.git('config', key, value)
    }
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch([{ op: 'replace', path: 'a.txt', old: 'a', new: 'b' }]),
    })
    await galley.approve({ id: change.id })
    const { landed } = await galley.land({ id: change.id })
    expect(repo.git('cat-file', 'commit', landed.after)).toContain('gpgsig -----BEGIN SSH SIGNATURE-----')
    expect(repo.git('rev-parse', 'HEAD^{tree}')).toBe(change.tree)
    expect(repo.git('status', '--porcelain')).toBe('')
  })
})

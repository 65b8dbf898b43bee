import { chmodSync, lstatSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { capture, listCapture } from '../../src/flow/capture/capture.ts'
import { land } from '../../src/flow/land/land.ts'
import { undo } from '../../src/flow/undo/undo.ts'
import { openWorld } from '../../src/flow/world.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { gitInput, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}\n`)

async function openFor(repo: TestRepo, env: Record<string, string> = {}) {
  const world = await openWorld(repo.dir, { env: { ...repo.env, ...env }, clock: systemClock })
  return { world, [Symbol.asyncDispose]: () => world.close() }
}

const statusOf = (repo: TestRepo) =>
  repo.git('--no-optional-locks', 'status', '--porcelain', '--untracked-files=all')

/** Times and inode: a file that was written again shows in one of them. */
const identityOf = (repo: TestRepo, path: string) => {
  const { ino, mtimeNs, ctimeNs } = lstatSync(join(repo.dir, path), { bigint: true })
  return `${ino} ${mtimeNs} ${ctimeNs}`
}

describe('capturing the work tree', () => {
  test('leaves files, index and refs as they are until the landing, which finds the bytes there', async () => {
    using repo = makeRepo({
      files: {
        'a.txt': 'a\n',
        'gone.txt': 'gone\n',
        'run.sh': 'echo\n',
        'other.txt': 'o\n',
        'd/e.txt': 'e\n',
      },
    })
    repo.write('a.txt', 'b\n')
    rmSync(join(repo.dir, 'gone.txt'))
    chmodSync(join(repo.dir, 'run.sh'), 0o755)
    repo.write('d/e.txt', 'e\nmore\n')
    repo.write('new.txt', 'untracked\n')
    const before = repo.snapshot()
    const identities = ['a.txt', 'd/e.txt', 'run.sh'].map((path) => identityOf(repo, path))
    await using open = await openFor(repo)
    const { change } = await capture(open.world, { title: 'Work of an agent', body: 'Why.' })
    expect(repo.snapshot()).toEqual(before)
    expect(change).toMatchObject({
      state: 'staged',
      title: 'Work of an agent',
      body: 'Why.',
      onto: 'refs/heads/main',
    })
    expect(change.files.map((f) => [f.path, f.status, f.newMode, f.added, f.removed])).toEqual([
      ['a.txt', 'modified', '100644', 1, 1],
      ['d/e.txt', 'modified', '100644', 1, 0],
      ['gone.txt', 'deleted', '000000', 0, 1],
      ['run.sh', 'modified', '100755', 0, 0],
    ])
    await approve(open.world, { id: change.id, via: 'cli' })
    expect(repo.snapshot()).toEqual(before)
    await land(open.world, { id: change.id })
    expect(statusOf(repo)).toBe('?? new.txt')
    expect(['a.txt', 'd/e.txt', 'run.sh'].map((path) => identityOf(repo, path))).toEqual(identities)
    expect(repo.git('show', '--format=%s', '--name-only', 'HEAD').split('\n')).toEqual([
      'Work of an agent',
      '',
      'a.txt',
      'd/e.txt',
      'gone.txt',
      'run.sh',
    ])
    expect(repo.git('fsck', '--strict', '--no-dangling')).toBe('')
  })

  test('takes only what is named, a directory with the untracked files in it, an ignored file by its own name alone', async () => {
    using repo = makeRepo({
      files: { 'a.txt': 'a\n', 'd/b.txt': 'b\n', 'e.txt': 'e\n', '.gitignore': '*.log\n' },
    })
    for (const path of ['a.txt', 'd/b.txt', 'd/new.txt', 'd/x.log', 'y.log', 'top.txt'])
      repo.write(path, 'changed\n')
    await using open = await openFor(repo)
    const named = async (...paths: string[]) =>
      (await listCapture(open.world, { paths })).files.map((f) => f.path)
    expect(await named()).toEqual(['a.txt', 'd/b.txt'])
    expect(await named('d')).toEqual(['d/b.txt', 'd/new.txt'])
    expect(await named('')).toEqual(['a.txt', 'd/b.txt', 'd/new.txt', 'top.txt'])
    expect(await named('y.log', 'a.txt')).toEqual(['a.txt', 'y.log'])
    expect(await named('d/x.log')).toEqual(['d/x.log'])
    expect((await refusal(() => named('e.txt'))).code).toBe('no-change')
    expect((await refusal(() => named('a.txt', 'nothing'))).code).toBe('not-found')
    expect((await refusal(() => named('../out'))).code).toBe('outside-repository')
    expect((await refusal(() => named('.git/config'))).code).toBe('path-invalid')
  })

  test('takes a new file that is named, and lands it where it stands', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.write('lib/new.txt', 'new\n')
    const identity = identityOf(repo, 'lib/new.txt')
    await using open = await openFor(repo)
    const { change } = await capture(open.world, { paths: ['lib/new.txt'] })
    expect(change).toMatchObject({
      title: 'Capture lib/new.txt',
      files: [{ path: 'lib/new.txt', status: 'added' }],
    })
    await approve(open.world, { id: change.id, via: 'cli' })
    await land(open.world, { id: change.id })
    expect(statusOf(repo)).toBe('')
    expect(identityOf(repo, 'lib/new.txt')).toBe(identity)
  })

  test('takes chosen hunks, numbered as they are listed, and leaves the others uncommitted', async () => {
    const lines = numbers(1, 60)
    using repo = makeRepo({ files: { 'a.txt': lines.join(''), 'b.txt': lines.join('') } })
    const changed = (...at: number[]) => lines.map((l, i) => (at.includes(i + 1) ? `new ${l}` : l)).join('')
    repo.write('a.txt', changed(3, 30))
    repo.write('b.txt', changed(20, 50))
    await using open = await openFor(repo)
    const { hunks } = await listCapture(open.world, {})
    expect(hunks.map((h) => [h.number, h.path, h.oldStart])).toEqual([
      [1, 'a.txt', 1],
      [2, 'a.txt', 27],
      [3, 'b.txt', 17],
      [4, 'b.txt', 47],
    ])
    expect((await refusal(() => capture(open.world, { hunks: [5] }))).code).toBe('out-of-range')
    const identity = identityOf(repo, 'a.txt')
    const { change } = await capture(open.world, { hunks: [2] })
    expect(change.files.map((f) => f.path)).toEqual(['a.txt'])
    await approve(open.world, { id: change.id, via: 'cli' })
    await land(open.world, { id: change.id })
    expect(repo.git('show', 'HEAD:a.txt')).toBe(changed(30).trimEnd())
    expect(repo.read('a.txt')).toBe(changed(3, 30))
    expect(identityOf(repo, 'a.txt')).toBe(identity)
    expect(statusOf(repo)).toBe('M a.txt\n M b.txt'.replace('M a', ' M a'))
    expect(repo.git('show', ':a.txt')).toBe(changed(30).trimEnd())
  })

  test('is the same change when it is captured again, and another once it has been decided', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.write('a.txt', 'b\n')
    await using open = await openFor(repo)
    const first = await capture(open.world, {})
    expect(await capture(open.world, {})).toMatchObject({ repeated: true, change: { id: first.change.id } })
    expect((await capture(open.world, { title: 'Another title' })).repeated).toBe(false)
  })

  test('may be made by an agent, which may not approve it', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.write('a.txt', 'b\n')
    await using open = await openFor(repo, { GALLEY_AGENT: 'robot' })
    const { change } = await capture(open.world, { agent: { name: 'robot' } })
    expect(change.agent).toEqual({ name: 'robot' })
    const refused = await refusal(() => approve(open.world, { id: change.id, via: 'cli' }))
    expect(refused.code).toBe('agent-may-not-approve')
  })

  test('captures on a branch without a commit', async () => {
    using repo = makeRepo({})
    repo.write('a.txt', 'a\n')
    repo.git('add', 'a.txt')
    await using open = await openFor(repo)
    const { change } = await capture(open.world, {})
    await approve(open.world, { id: change.id, via: 'cli' })
    await land(open.world, { id: change.id })
    expect(statusOf(repo)).toBe('')
    expect(repo.git('log', '--format=%s')).toBe('Capture a.txt')
  })

  test('a file that was changed further is merged beneath at the landing, and stays as it is', async () => {
    const lines = numbers(1, 30)
    using repo = makeRepo({ files: { 'a.txt': lines.join('') } })
    repo.write('a.txt', ['first\n', ...lines].join(''))
    await using open = await openFor(repo)
    const { change } = await capture(open.world, {})
    repo.write('a.txt', ['first\n', ...lines, 'last\n'].join(''))
    await approve(open.world, { id: change.id, via: 'cli' })
    await land(open.world, { id: change.id })
    expect(repo.read('a.txt')).toBe(['first\n', ...lines, 'last\n'].join(''))
    expect(repo.git('show', 'HEAD:a.txt')).toBe(['first\n', ...lines].join('').trimEnd())
    expect(statusOf(repo)).toBe(' M a.txt')
  })

  test('a file that was put back is brought to what was approved', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.write('a.txt', 'b\n')
    await using open = await openFor(repo)
    const { change } = await capture(open.world, {})
    repo.write('a.txt', 'a\n')
    await approve(open.world, { id: change.id, via: 'cli' })
    await land(open.world, { id: change.id })
    expect(repo.read('a.txt')).toBe('b\n')
    expect(statusOf(repo)).toBe('')
  })
})

describe('capturing the index', () => {
  test('a file that is only to be added one day is not staged: it stays out, until it is named', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.write('new.txt', 'draft\n')
    repo.git('add', '-N', 'new.txt')
    await using open = await openFor(repo)
    const before = repo.snapshot()
    expect((await refusal(() => capture(open.world, { staged: true }))).code).toBe('no-change')
    expect(repo.snapshot()).toEqual(before)
    repo.write('a.txt', 'b\n')
    repo.git('add', 'a.txt')
    const staged = await capture(open.world, { staged: true })
    expect(staged.change.files.map((file) => file.path)).toEqual(['a.txt'])
    await approve(open.world, { id: staged.change.id, via: 'cli' })
    await land(open.world, { id: staged.change.id })
    expect(statusOf(repo)).toBe(' A new.txt')
    const { change } = await capture(open.world, { paths: ['new.txt'] })
    await approve(open.world, { id: change.id, via: 'cli' })
    await land(open.world, { id: change.id })
    expect(repo.git('show', 'HEAD:new.txt')).toBe('draft')
    expect(statusOf(repo)).toBe('')
  })

  test('takes what is staged, with the rest of each file left uncommitted', async () => {
    const lines = numbers(1, 20)
    using repo = makeRepo({ files: { 'a.txt': lines.join(''), 'b.txt': 'b\n', 'c.txt': 'c\n' } })
    repo.write('a.txt', ['staged\n', ...lines].join(''))
    repo.write('new.txt', 'staged\n')
    repo.git('add', 'a.txt', 'new.txt')
    repo.git('rm', '-q', 'c.txt')
    // The same line is changed once more, which no merge could tell from the staged change.
    repo.write('a.txt', ['changed again\n', ...lines, 'not staged\n'].join(''))
    repo.write('new.txt', 'changed again\n')
    repo.write('b.txt', 'not staged\n')
    const status = statusOf(repo)
    expect(status).toBe('MM a.txt\n M b.txt\nD  c.txt\nAM new.txt')
    const before = repo.snapshot()
    const identities = ['a.txt', 'new.txt'].map((path) => identityOf(repo, path))
    await using open = await openFor(repo)
    const { change } = await capture(open.world, { staged: true, title: 'What is staged' })
    expect(repo.snapshot()).toEqual(before)
    expect(change.files.map((f) => f.path)).toEqual(['a.txt', 'c.txt', 'new.txt'])
    await approve(open.world, { id: change.id, via: 'cli' })
    await land(open.world, { id: change.id })
    expect(statusOf(repo)).toBe(' M a.txt\n M b.txt\n M new.txt')
    expect(repo.git('show', 'HEAD:a.txt')).toBe(['staged\n', ...lines].join('').trimEnd())
    expect(repo.git('show', 'HEAD:new.txt')).toBe('staged')
    expect(['a.txt', 'new.txt'].map((path) => identityOf(repo, path))).toEqual(identities)
  })

  test.each([
    ['alone', 'a\n', 'a\n'],
    ['beside staged content', 'b\n', 'b\n'],
    ['beside staged content that was changed again', 'b\n', 'c\n'],
  ])('leaves an executable bit that only the index has uncommitted, %s', async (_, staged, standing) => {
    using repo = makeRepo({ files: { 'gets.sh': 'a\n', 'loses.sh': 'a\n', 'b.txt': 'b\n' } })
    repo.git('update-index', '--chmod=+x', 'loses.sh')
    repo.git('commit', '-qm', 'executable')
    chmodSync(join(repo.dir, 'loses.sh'), 0o755)
    const all = ['gets.sh', 'loses.sh', 'new.sh']
    for (const path of all) repo.write(path, staged)
    chmodSync(join(repo.dir, 'loses.sh'), 0o755)
    repo.git('add', ...all)
    repo.git('update-index', '--chmod=+x', 'gets.sh', 'new.sh')
    repo.git('update-index', '--chmod=-x', 'loses.sh')
    for (const path of all) repo.write(path, standing)
    chmodSync(join(repo.dir, 'loses.sh'), 0o755)
    const pending = repo.git('diff')
    const identities = all.map((path) => identityOf(repo, path))
    await using open = await openFor(repo)
    const { change } = await capture(open.world, { staged: true })
    await approve(open.world, { id: change.id, via: 'cli' })
    await land(open.world, { id: change.id })
    expect(repo.git('diff')).toBe(pending)
    expect(repo.git('diff', '--cached')).toBe('')
    expect(all.map((path) => identityOf(repo, path))).toEqual(identities)
    expect(repo.git('ls-tree', '--format=%(objectmode) %(path)', 'HEAD', ...all)).toBe(
      '100755 gets.sh\n100644 loses.sh\n100755 new.sh',
    )
  })

  test('takes the named paths of it, and says where a name has nothing staged', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'd/b.txt': 'b\n' } })
    repo.write('a.txt', 'A\n')
    repo.write('d/b.txt', 'B\n')
    repo.git('add', '-A')
    await using open = await openFor(repo)
    const listed = await listCapture(open.world, { staged: true, paths: ['d'] })
    expect(listed.files.map((f) => f.path)).toEqual(['d/b.txt'])
    repo.git('commit', '-qm', 'all')
    expect((await refusal(() => listCapture(open.world, { staged: true }))).code).toBe('no-change')
    expect((await refusal(() => listCapture(open.world, { staged: true, paths: ['d'] }))).code).toBe(
      'no-change',
    )
  })

  test('takes an executable bit that only the index has', async () => {
    using repo = makeRepo({ files: { 'run.sh': 'echo\n' } })
    repo.git('update-index', '--chmod=+x', 'run.sh')
    await using open = await openFor(repo)
    const { change } = await capture(open.world, { staged: true })
    expect(change.files).toMatchObject([{ path: 'run.sh', oldMode: '100644', newMode: '100755' }])
  })

  test('refuses where the landing would have to bring back a file', async () => {
    using repo = makeRepo({ files: { 'b.txt': 'b\n' } })
    repo.write('b.txt', 'staged\n')
    repo.git('add', 'b.txt')
    rmSync(join(repo.dir, 'b.txt'))
    const before = repo.snapshot()
    await using open = await openFor(repo)
    expect((await refusal(() => capture(open.world, { staged: true }))).code).toBe('overlaps-uncommitted')
    expect(repo.snapshot()).toEqual(before)
  })

  test('a file that was removed from the index alone stays, and its undo finds it there', async () => {
    using repo = makeRepo({ files: { 'kept.txt': 'a\n', 'b.txt': 'b\n' } })
    repo.git('rm', '-q', '--cached', 'kept.txt')
    await using open = await openFor(repo)
    const { change } = await capture(open.world, { staged: true })
    await approve(open.world, { id: change.id, via: 'cli' })
    await land(open.world, { id: change.id })
    expect(repo.git('ls-files', 'kept.txt')).toBe('')
    expect(repo.read('kept.txt')).toBe('a\n')
    const back = await undo(open.world, { target: change.id })
    await approve(open.world, { id: back.change.id, via: 'cli' })
    await land(open.world, { id: back.change.id })
    expect([repo.read('kept.txt'), statusOf(repo)]).toEqual(['a\n', ''])
  })
})

describe('every form of index', () => {
  test.each([
    ['version 4', ['update-index', '--index-version', '4']],
    ['split', ['update-index', '--split-index']],
    ['sparse', ['sparse-checkout', 'set', '--cone', '--sparse-index', 'd']],
    ['with an untracked cache', ['update-index', '--untracked-cache']],
  ])('%s', async (_, command) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'd/b.txt': 'b\n', 'out/of/cone.txt': 'c\n' } })
    repo.git(...command)
    repo.write('a.txt', 'changed\n')
    rmSync(join(repo.dir, 'd/b.txt'))
    const before = repo.snapshot()
    await using open = await openFor(repo)
    const { change } = await capture(open.world, {})
    expect(repo.snapshot()).toEqual(before)
    expect(change.files.map((f) => f.path)).toEqual(['a.txt', 'd/b.txt'])
    await approve(open.world, { id: change.id, via: 'cli' })
    await land(open.world, { id: change.id })
    expect(statusOf(repo)).toBe('')
    expect(repo.git('ls-tree', '-r', '--name-only', 'HEAD').split('\n')).toEqual(['a.txt', 'out/of/cone.txt'])
  })
})

describe('what is converted', () => {
  test.each([
    ['line endings by attribute', { '.gitattributes': '*.txt text eol=crlf\n' }, [], 'one\r\ntwo\r\n'],
    ['line endings by configuration', {}, ['core.autocrlf', 'true'], 'one\r\ntwo\r\n'],
    ['line endings that are mixed', { '.gitattributes': '*.txt text=auto\n' }, [], 'one\r\ntwo\nthree\r\n'],
  ])('%s are cleaned in the commit and left in the file', async (_, files, config, content) => {
    using repo = makeRepo({ files: { ...files, 'a.txt': 'one\n' } })
    if (config[0] !== undefined) repo.git('config', config[0], config[1] ?? '')
    repo.write('a.txt', content)
    const identity = identityOf(repo, 'a.txt')
    await using open = await openFor(repo)
    const { change } = await capture(open.world, { paths: ['a.txt'] })
    await approve(open.world, { id: change.id, via: 'cli' })
    await land(open.world, { id: change.id })
    expect(repo.git('cat-file', 'blob', 'HEAD:a.txt')).toBe(content.replaceAll('\r', '').trimEnd())
    expect(repo.read('a.txt')).toBe(content)
    expect(identityOf(repo, 'a.txt')).toBe(identity)
    expect(statusOf(repo)).toBe('')
  })

  test('a file whose line endings alone changed, and are converted, has not changed', async () => {
    using repo = makeRepo({ files: { '.gitattributes': '*.txt text\n', 'a.txt': 'one\ntwo\n' } })
    repo.write('a.txt', 'one\r\ntwo\r\n')
    await using open = await openFor(repo)
    expect((await refusal(() => capture(open.world, {}))).code).toBe('no-change')
  })

  test('a path behind a filter is refused, and no filter is started', async () => {
    using repo = makeRepo({
      files: { '.gitattributes': '*.bin filter=mine\n', 'a.bin': 'one\n', 'b.txt': 'b\n' },
    })
    repo.git('config', 'filter.mine.clean', `touch ${join(repo.home, 'filter-ran')}; cat`)
    repo.git('config', 'filter.mine.required', 'true')
    repo.write('a.bin', 'two\n')
    await using open = await openFor(repo)
    expect((await refusal(() => capture(open.world, {}))).code).toBe('filtered')
    repo.write('b.txt', 'changed\n')
    await capture(open.world, { paths: ['b.txt'] })
    expect(() => statSync(join(repo.home, 'filter-ran'))).toThrow('ENOENT')
  })
})

describe('what cannot be captured is refused with its code, and nothing is staged', () => {
  const cases: readonly (readonly [string, string, (repo: TestRepo) => void])[] = [
    [
      'a file that became a link out of the repository',
      'symlink',
      (r) => replace(r, 'a.txt', () => symlinkSync('/etc/hosts', join(r.dir, 'a.txt'))),
    ],
    [
      'a link that leads into a git directory now',
      'symlink',
      (r) => replace(r, 'link', () => symlinkSync('d/../.git/config', join(r.dir, 'link'))),
    ],
    [
      'a file that became a pipe',
      'special-file',
      (r) => replace(r, 'a.txt', () => gitInput(r, ['-c', 'alias.p=!mkfifo', 'p', 'a.txt'], '')),
    ],
    ['a file that grew too large', 'too-large', (r) => r.write('a.txt', 'x'.repeat(300))],
    ['a path that the policy denies', 'denied-path', (r) => r.write('secret.txt', 'x\n')],
  ]
  const replace = (repo: TestRepo, path: string, make: () => void) => {
    rmSync(join(repo.dir, path), { recursive: true })
    make()
  }

  test.each(cases)('%s: %s', async (_, code, spoil) => {
    using repo = makeRepo({
      files: {
        'a.txt': 'a\n',
        'b.txt': 'b\n',
        'd/c.txt': 'c\n',
        'secret.txt': 's\n',
        '.galley.json': '{"deny":["secret.txt"],"limits":{"fileMaxBytes":200}}\n',
      },
    })
    symlinkSync('b.txt', join(repo.dir, 'link'))
    repo.commit('a link')
    repo.write('b.txt', 'changed\n')
    spoil(repo)
    const before = repo.snapshot()
    await using open = await openFor(repo)
    expect((await refusal(() => capture(open.world, {}))).code).toBe(code)
    expect(repo.snapshot()).toEqual(before)
    expect((await capture(open.world, { paths: ['b.txt'] })).change.files.map((f) => f.path)).toEqual([
      'b.txt',
    ])
  })

  test('a submodule that is merely dirty is not looked into', async () => {
    using inner = makeRepo({ files: { 'i.txt': 'i\n' } })
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'sub')
    repo.commit('submodule')
    repo.write('sub/i.txt', 'dirty\n')
    repo.write('a.txt', 'changed\n')
    await using open = await openFor(repo)
    expect((await listCapture(open.world, {})).files.map((f) => f.path)).toEqual(['a.txt'])
  })

  test('unmerged paths, a policy that only lets read, a bare repository', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.git('checkout', '-qb', 'other')
    repo.write('a.txt', 'theirs\n')
    repo.commit('theirs')
    repo.git('checkout', '-q', 'main')
    repo.write('a.txt', 'ours\n')
    repo.commit('ours')
    repo.tryGit('merge', 'other')
    await using open = await openFor(repo)
    expect((await refusal(() => capture(open.world, {}))).code).toBe('unmerged')
    expect((await refusal(() => capture(open.world, { staged: true }))).code).toBe('unmerged')

    using readOnly = makeRepo({ files: { 'a.txt': 'a\n', '.galley.json': '{"mode":"read-only"}' } })
    readOnly.write('a.txt', 'b\n')
    await using second = await openFor(readOnly)
    expect((await refusal(() => capture(second.world, {}))).code).toBe('read-only')

    using bare = makeRepo({ bare: true })
    await using third = await openFor(bare)
    expect((await refusal(() => capture(third.world, {}))).code).toBe('unsupported-repository')
  })

  test('a name whose bytes are not UTF-8', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const blob = gitInput(repo, ['hash-object', '-w', '--stdin'], 'x')
    gitInput(repo, ['update-index', '-z', '--index-info'], Buffer.from(`100644 ${blob}\tb\xff\0`, 'latin1'))
    await using open = await openFor(repo)
    expect((await refusal(() => capture(open.world, { staged: true }))).code).toBe('path-invalid')
  })
})

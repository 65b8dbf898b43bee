import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

/** The tree of a change, opened. */
async function openTree(repo: TestRepo, path: string): Promise<string> {
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: batch([{ op: 'write', path, content: 'new\n' }]) })
  return (await galley.openTree(change.id)).path
}

const inTree = (repo: TestRepo, tree: string, ...args: readonly string[]): string =>
  execFileSync('git', [...args], { cwd: tree, env: repo.env, encoding: 'utf8', stdio: 'pipe' }).trim()

describe('an opened tree', () => {
  test('is a repository of its own: what is set, made and put aside there is in no other', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const before = repo.snapshot()
    const one = await openTree(repo, 'b.txt')
    const two = await openTree(repo, 'c.txt')
    const seen = inTree(repo, two, 'for-each-ref')
    inTree(repo, one, 'config', 'alias.zap', '!true')
    inTree(repo, one, 'checkout', '-q', '-b', 'mine')
    writeFileSync(join(one, 'a.txt'), 'mine\n')
    inTree(repo, one, 'commit', '-q', '-a', '-m', 'mine')
    inTree(repo, one, 'tag', 'here')
    inTree(repo, one, 'worktree', 'add', '-q', '--detach', join(repo.home, 'more'))
    inTree(repo, one, 'notes', 'add', '-m', 'a note')
    inTree(repo, one, 'replace', 'HEAD', 'HEAD~1')
    inTree(repo, one, 'bisect', 'start')
    writeFileSync(join(one, '.git/packed-refs.lock'), '')
    writeFileSync(join(one, '.git/config.lock'), '')
    expect(inTree(repo, two, 'for-each-ref')).toBe(seen)
    expect(inTree(repo, two, 'status', '--porcelain')).toBe('')
    inTree(repo, two, 'config', 'a.b', 'c')
    inTree(repo, two, 'pack-refs', '--all')
    const store = join(repo.dir, '.git/galley/store.git')
    expect(repo.git('--git-dir', store, 'for-each-ref', '--format=%(refname)')).not.toMatch(
      /^(?!refs\/galley\/)/m,
    )
    expect(repo.snapshot()).toEqual(before)
  })

  test('stands on the branch that the change is for, and is left as it is when it is opened again', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch([{ op: 'write', path: 'b.txt', content: 'b\n' }]),
    })
    const { path, commit } = await galley.openTree(change.id)
    expect(inTree(repo, path, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main')
    expect(inTree(repo, path, 'rev-parse', 'HEAD')).toBe(commit)
    expect(inTree(repo, path, 'status', '--porcelain')).toBe('')
    writeFileSync(join(path, 'a.txt'), 'mine\n')
    writeFileSync(join(path, 'new.txt'), 'mine\n')
    inTree(repo, path, 'add', 'new.txt')
    inTree(repo, path, 'commit', '-q', '-m', 'mine')
    const made = inTree(repo, path, 'rev-parse', 'HEAD')
    expect((await galley.openTree(change.id)).path).toBe(path)
    expect(inTree(repo, path, 'rev-parse', 'HEAD')).toBe(made)
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('mine\n')
  })

  test('reads the remotes and pushes to none, and says why', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const far = join(repo.home, 'far.git')
    repo.git('init', '-q', '--bare', far)
    repo.git('remote', 'add', 'origin', far)
    repo.git('push', '-q', '-u', 'origin', 'main')
    const tree = await openTree(repo, 'b.txt')
    inTree(repo, tree, 'fetch', '-q')
    expect(inTree(repo, tree, 'rev-parse', '@{upstream}')).toBe(repo.git('rev-parse', 'origin/main'))
    const there = repo.git('--git-dir', far, 'for-each-ref')
    expect(() => inTree(repo, tree, 'push', 'origin', 'HEAD:main')).toThrow(/a tree of galley pushes nothing/)
    expect(() => inTree(repo, tree, 'push', far, 'HEAD:main')).toThrow(/a tree of galley pushes nothing/)
    expect(repo.git('--git-dir', far, 'for-each-ref')).toBe(there)
  })

  test('is no place for a galley of its own', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const tree = await openTree(repo, 'b.txt')
    const refused = await refusal(async () => openGalley(repo, { dir: tree }))
    expect([refused.code, refused.data['owner']]).toEqual(['unsupported-repository', repo.dir])
    expect(existsSync(join(tree, '.git/galley'))).toBe(false)
  })
})

test.each(['sha256', 'shallow', 'linked', 'detached', 'unborn'])(
  'a run in a repository that is %s works in a repository like it',
  async (kind) => {
    using repo = makeRepo(
      kind === 'unborn'
        ? {}
        : { files: { 'a.txt': 'one\n' }, ...(kind === 'sha256' ? { objectFormat: 'sha256' as const } : {}) },
    )
    let at = repo.dir
    if (kind === 'detached') repo.git('checkout', '-q', '--detach')
    if (kind === 'linked') {
      at = join(repo.home, 'linked')
      repo.git('worktree', 'add', '-q', '-b', 'side', at)
    }
    if (kind === 'shallow') {
      repo.git('commit', '-q', '--allow-empty', '-m', 'two')
      at = join(repo.home, 'shallow')
      repo.git('clone', '-q', '--depth', '1', `file://${repo.dir}`, at)
    }
    await using galley = await openGalley(repo, { dir: at })
    const script = `git symbolic-ref -q HEAD > "$HOME/head"; git fsck --no-dangling > "$HOME/fsck" 2>&1; echo "$?" > "$HOME/code"; git status --porcelain > "$HOME/status"; echo x > x.txt; git add x.txt && git commit -q -m Work`
    const outcome = await galley.run({ command: ['sh', '-c', script] })
    const said = (name: string) => readFileSync(join(repo.home, name), 'utf8').trim()
    expect(outcome.changes.map(({ title }) => title)).toEqual(['Work'])
    expect([said('code'), said('status')]).toEqual(['0', ''])
    expect(said('head')).toBe(kind === 'detached' ? '' : `refs/heads/${kind === 'linked' ? 'side' : 'main'}`)
  },
)

test('a run has what the user’s own configuration says for this repository’s place, and no program of it', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  const file = join(repo.home, 'gitconfig')
  const placed = join(repo.home, 'placed')
  writeFileSync(placed, '[ticket]\n\tprefix = ABC\n[core]\n\tpager = touch ran\n[a]\n\tb = placed\n')
  const more = `[a]\n\tb = first\n[includeIf "gitdir:${repo.dir}/"]\n\tpath = placed\n`
  writeFileSync(file, `${readFileSync(file, 'utf8')}${more}`)
  await using galley = await openGalley(repo)
  const script =
    'for key in ticket.prefix a.b core.pager; do git config --get "$key" >> "$HOME/said" || echo none >> "$HOME/said"; done'
  await galley.run({ command: ['sh', '-c', script] })
  expect(readFileSync(join(repo.home, 'said'), 'utf8')).toBe('ABC\nplaced\nnone\n')
})

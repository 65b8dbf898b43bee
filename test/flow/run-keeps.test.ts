import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/flow/gc/gc.ts'
import { openTree } from '../../src/flow/open-tree.ts'
import { reject } from '../../src/flow/reject.ts'
import { run } from '../../src/flow/run/run.ts'
import type { RunOutcome } from '../../src/flow/run/run-work.ts'
import { showChange } from '../../src/flow/show.ts'
import { openWorld, type World } from '../../src/flow/world.ts'
import { scratchHome } from '../../src/store/scratch-home.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

async function openFor(repo: TestRepo, env: Record<string, string> = {}) {
  const world = await openWorld(repo.dir, { env: { ...repo.env, ...env }, clock: systemClock })
  return { world, [Symbol.asyncDispose]: () => world.close() }
}

const shell = (world: World, script: string): Promise<RunOutcome> =>
  run(world, { command: ['sh', '-c', script] })

const folderOf = (world: World, { run: id }: RunOutcome): string =>
  join(scratchHome(world.repository), `left-${id}`)

const inStore = (repo: TestRepo, ...args: readonly string[]): string =>
  repo.git('--git-dir', join(repo.dir, '.git/galley/store.git'), ...args)

/** The refs of a run without what all of them begin with. */
const refsOf = ({ left, run: id }: RunOutcome): readonly string[] =>
  left.filter((name) => name.startsWith('refs/')).map((ref) => ref.slice(`refs/galley/left/${id}/`.length))

const FILES = { 'a.txt': 'one\n', 'b.txt': 'two\n', '.gitignore': '*.log\nout/\n' }

describe('what a run leaves beside its change is kept and named', () => {
  test('ignored files, repositories, pipes, names that are not UTF-8: in the folder, as they stood', async () => {
    using repo = makeRepo({ files: FILES })
    await using open = await openFor(repo)
    const before = repo.snapshot()
    const outcome = await shell(
      open.world,
      `echo more >> a.txt; echo plan > notes.log; mkdir -p out/deep; echo report > out/deep/r
       mkdir app; cd app; git init -q; echo day > main.c; git add .; git -c user.name=x -c user.email=x@y commit -qm inner; echo two > main.c; cd ..
       mkfifo pipe; echo latin > "$(printf 'caf\\351')"; mkdir closed; echo c > closed/c.log; chmod 000 closed`,
    )
    expect(outcome.changes.map((c) => c.files.map((f) => f.path))).toEqual([['a.txt']])
    const folder = folderOf(open.world, outcome)
    expect(outcome.left).toEqual([folder])
    expect(readdirSync(folder, { encoding: 'latin1' }).sort()).toEqual(
      ['app', 'caf\xe9', 'closed', 'notes.log', 'out', 'pipe'].sort(),
    )
    expect(readFileSync(join(folder, 'closed/c.log'), 'utf8')).toBe('c\n')
    expect(repo.git('-C', join(folder, 'app'), 'log', '--format=%s')).toBe('inner')
    expect(readFileSync(join(folder, 'app/main.c'), 'utf8')).toBe('two\n')
    const said = outcome.remarks.join('\n')
    for (const name of ['notes.log', 'out/', 'app/', 'pipe', 'caf\ufffd', 'closed/'])
      expect(said).toContain(name)
    expect(repo.snapshot()).toEqual(before)
  })

  test('commits that nothing names, a branch, a tag, stashes, a note, staged contents: under refs, with their names', async () => {
    using repo = makeRepo({ files: FILES })
    await using open = await openFor(repo)
    const outcome = await shell(
      open.world,
      `set -e
       echo lost > lost.txt; git add .; git commit -qm lost; git reset -q --hard HEAD~1
       git checkout -qb side; echo side > side.txt; git add .; git commit -qm side; git checkout -q -
       git tag -a -m tagged v1 side; git notes add -m noted side
       echo 1 > a.txt; git stash -q; echo 2 > a.txt; git stash -q
       echo staged > s.txt; git add s.txt; echo other > s.txt`,
    )
    expect(refsOf(outcome)).toEqual(['branch/side', 'notes/commits', 'stash', 'tag/v1', 'stash-2', 'unnamed'])
    const all = inStore(repo, 'rev-list', '--objects', '--no-object-names', '--all')
    const blob = (text: string) =>
      execFileSync('git', ['hash-object', '--stdin'], { input: text, encoding: 'utf8' }).trim()
    for (const text of ['lost\n', 'side\n', '1\n', '2\n', 'staged\n', 'other\n', 'noted\n'])
      expect(all).toContain(blob(text))
  })

  test('a rebase that was stopped keeps its commits, and what it had still to do', async () => {
    using repo = makeRepo({ files: FILES })
    await using open = await openFor(repo)
    const outcome = await shell(
      open.world,
      'git checkout -qb topic; echo t > a.txt; git commit -qam topic; git checkout -q main; echo m > a.txt; git commit -qam main; git rebase -q topic; true',
    )
    expect(outcome.remarks.join('\n')).toContain('a rebase was not finished')
    expect(
      existsSync(join(folderOf(open.world, outcome), 'git-directory/rebase-merge/git-rebase-todo')),
    ).toBe(true)
    expect(refsOf(outcome)).toContain('branch/topic')
  })

  test('objects that are no objects spoil only themselves; the repository is then kept whole', async () => {
    using repo = makeRepo({ files: FILES })
    await using open = await openFor(repo)
    const outcome = await shell(
      open.world,
      `for i in 1 2 3 4 5; do echo $i | git hash-object -w --stdin; done
       bad=$(echo bad | git hash-object -w --stdin); f=.git/objects/$(echo $bad | cut -c1-2)/$(echo $bad | cut -c3-); chmod u+w $f; echo x > $f
       printf 'tree 0000\\n' | git hash-object -w -t commit --literally --stdin
       ln -s /etc .git/objects/ab; mkdir -p .git/objects/cd; mkfifo .git/objects/cd/00000000000000000000000000000000000000`,
    )
    expect(refsOf(outcome)).toEqual(['unnamed'])
    expect(inStore(repo, 'ls-tree', '--name-only', outcome.left[0] ?? '').split('\n')).toHaveLength(5)
    expect(outcome.remarks.join('\n')).toMatch(/kept whole: .*objects cannot be read/)
    expect((await shell(open.world, 'true')).left).toEqual([])
  })

  test('what setup or .worktreeinclude brought is kept where it was changed, and only there', async () => {
    const policy = JSON.stringify({ setup: { run: 'mkdir gen; echo made > gen/a.c; echo made > gen/b.c' } })
    const files = { ...FILES, '.worktreeinclude': '*.log\n', '.galley.json': policy }
    using repo = makeRepo({ files })
    repo.write('mine.log', 'mine\n')
    repo.write('other.log', 'other\n')
    await using open = await openFor(repo)
    const outcome = await shell(
      open.world,
      'echo own > gen/own.c; echo more >> gen/a.c; echo more >> mine.log',
    )
    const folder = folderOf(open.world, outcome)
    expect(readdirSync(folder).sort()).toEqual(['gen', 'mine.log'])
    expect(readdirSync(join(folder, 'gen')).sort()).toEqual(['a.c', 'own.c'])
    expect((await shell(open.world, 'cat gen/* mine.log')).left).toEqual([])
  })
})

describe('nothing of the agent is believed or started', () => {
  test('flags of its index hide nothing, its filters and settings do not run, what it forced in counts', async () => {
    using repo = makeRepo({ files: FILES })
    await using open = await openFor(repo)
    const { changes } = await shell(
      open.world,
      `git update-index --assume-unchanged a.txt; echo x >> a.txt; git update-index --skip-worktree b.txt; echo x >> b.txt
       echo forced > f.log; git add -f f.log
       git config filter.x.clean 'touch ${repo.home}/ran; cat'; git config core.fsmonitor 'touch ${repo.home}/ran; false'; echo '*.txt filter=x' > .gitattributes`,
    )
    expect(changes[0]?.files.map((f) => f.path)).toEqual(['.gitattributes', 'a.txt', 'b.txt', 'f.log'])
    expect(existsSync(join(repo.home, 'ran'))).toBe(false)
  })

  test('messages of its commits are in the log of the one change, and shown', async () => {
    using repo = makeRepo({ files: FILES })
    await using open = await openFor(repo)
    const { changes } = await shell(
      open.world,
      'echo 1 > a.txt; git commit -qam One -m "Why one."; echo 2 > a.txt; git commit -qam Two',
    )
    const { change } = await showChange(open.world, changes[0]?.id ?? '')
    expect(change.messages).toEqual(['One\n\nWhy one.', 'Two'])
  })
})

describe('where keeping fails', () => {
  test('the tree stays, nobody else gets it, and gc collects it when there is room again', async () => {
    using repo = makeRepo({ files: FILES })
    const bin = join(repo.home, 'bin')
    mkdirSync(bin)
    writeFileSync(
      join(bin, 'git'),
      `#!/bin/sh\n[ -e ${repo.home}/full ] && for w; do case $w in update-ref) echo 'fatal: unable to write file: No space left on device' >&2; exit 128;; esac; done\nPATH=\${PATH#*:} exec git "$@"\n`,
    )
    chmodSync(join(bin, 'git'), 0o755)
    const path = `${bin}:${repo.env['PATH'] ?? ''}`
    await using open = await openFor(repo, { PATH: path })
    const refused = await refusal(() =>
      shell(open.world, `echo work > work.txt; echo x > x.log; touch ${repo.home}/full`),
    )
    expect(refused).toMatchObject({ code: 'io-error', data: { tree: expect.stringContaining('pool-1') } })
    repo.git('update-ref', '-d', 'refs/nothing')
    execFileSync('rm', [join(repo.home, 'full')])
    expect((await shell(open.world, 'ls')).exitCode).toBe(0)
    const { salvaged } = await collectGarbage(open.world, { dryRun: false })
    expect(salvaged).toMatchObject([{ run: refused.data['run'] }])
    expect(inStore(repo, 'show', `${salvaged[0]?.ref}:work.txt`)).toBe('work')
    expect(readFileSync(join(salvaged[0]?.folder ?? '', 'x.log'), 'utf8')).toBe('x\n')
  })
})

describe('a tree in whose place a run put something else', () => {
  test('is not gone through when its galley was killed: what a link leads to stays as it is', async () => {
    using repo = makeRepo({ files: FILES })
    using other = makeRepo({ files: { ...FILES, 'c.txt': 'three\n' } })
    other.write('own.log', 'ignored there\n')
    await using open = await openFor(repo)
    const { run: id } = await shell(open.world, 'ls')
    const slot = join(scratchHome(open.world.repository), 'pool-1')
    const state: object = JSON.parse(readFileSync(`${slot}.json`, 'utf8'))
    writeFileSync(`${slot}.json`, JSON.stringify({ ...state, phase: 'run', run: id }))
    symlinkSync(other.dir, slot)
    const [before, there] = [repo.snapshot(), other.snapshot()]
    const { salvaged, kept } = await collectGarbage(open.world, { dryRun: false })
    expect(kept).toEqual([])
    expect(salvaged).toMatchObject([{ run: id, ref: null, folder: null }])
    expect(salvaged[0]?.remarks.join()).toContain('something else')
    expect([repo.snapshot(), other.snapshot()]).toEqual([before, there])
    expect((await shell(open.world, 'ls')).exitCode).toBe(0)
  })
})

describe('a tree that was opened', () => {
  test.each([
    ['a commit', 'echo w > w.txt; git add .; git commit -qm w'],
    ['a file that git is told to pass over', 'git update-index --assume-unchanged a.txt; echo w >> a.txt'],
    ['an ignored file', 'echo w > w.log'],
    ['what was only staged', 'echo w > w.txt; git add w.txt; rm w.txt; git rm -q --cached w.txt'],
    ['a hook', 'echo w > .git/hooks/post-commit'],
    ['', 'git status; git log -1; cat a.txt'],
  ])('stays while it holds work, and goes when it holds none: %s', async (work, script) => {
    using repo = makeRepo({ files: FILES })
    await using open = await openFor(repo)
    const id = (await shell(open.world, 'echo c > c.txt')).changes[0]?.id ?? ''
    const { path } = await openTree(open.world, id)
    execFileSync('sh', ['-c', script], { cwd: path, env: repo.env })
    await reject(open.world, { id, reason: 'no' })
    const { kept } = await collectGarbage(open.world, { dryRun: false })
    expect(existsSync(path)).toBe(work !== '')
    expect(kept.map((k) => k.what)).toEqual(work === '' ? [] : [path])
  })
})

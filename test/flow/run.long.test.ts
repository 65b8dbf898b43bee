import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { land } from '../../src/flow/land/land.ts'
import { run } from '../../src/flow/run/run.ts'
import type { RunOutcome, RunRequest } from '../../src/flow/run/run-work.ts'
import { openWorld, type World } from '../../src/flow/world.ts'
import { scratchHome } from '../../src/store/scratch-home.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

async function openFor(repo: TestRepo, env: Record<string, string> = {}) {
  const world = await openWorld(repo.dir, { env: { ...repo.env, ...env }, clock: systemClock })
  return { world, [Symbol.asyncDispose]: () => world.close() }
}

const shell = (world: World, script: string, more: Partial<RunRequest> = {}): Promise<RunOutcome> =>
  run(world, { command: ['sh', '-c', script], ...more })

const isRunning = (pid: number) =>
  spawnSync('sh', ['-c', `kill -0 ${pid} 2>/dev/null && ! grep -q '^State:.*Z' /proc/${pid}/status`])
    .status === 0

/** The pool's tree, wherever it is: there is one as long as one run after another is made. */
const treeOf = (world: World) => join(scratchHome(world.repository), 'pool-1')
const idleTreeOf = (world: World) => `${treeOf(world)}.idle`

/** What differs in an idle tree of the pool, by galley's own view of it: it has no repository while nobody has it. */
function statusIn(repo: TestRepo, tree: string): string {
  const view = join(repo.dir, '.git/galley/store.git/worktrees', basename(tree, '.idle'))
  return repo.git('--git-dir', view, '--work-tree', tree, 'status', '--porcelain', '--ignored')
}

const contentsOf = (repo: TestRepo, commit: string, path: string) =>
  repo.git('--git-dir', join(repo.dir, '.git/galley/store.git'), 'show', `${commit}:${path}`)

describe('running an agent in a scratch tree', () => {
  test('captures edits, its own commits and new files as one change; the user has all as before, and nothing keeps running', async () => {
    using repo = makeRepo({
      files: {
        'a.txt': 'one\ntwo\n',
        'src/b.ts': 'const b = 1\n',
        'gone.txt': 'gone\n',
        '.gitignore': 'build/\n',
      },
    })
    repo.write('a.txt', 'one\ntwo\nmine, not committed\n')
    repo.write('mine.txt', 'untracked\n')
    repo.git('stash', 'push', '-q', 'a.txt')
    repo.write('src/b.ts', 'const b = 1 // staged by me\n')
    repo.git('add', 'src/b.ts')
    const before = repo.snapshot()
    const script = `
      set -e
      sed -i 's/two/deux/' a.txt
      mkdir -p build && echo artefact > build/out.o
      git commit -qam 'Say deux' -m 'Because.'
      git rm -q gone.txt && git commit -qm 'Remove what is gone'
      echo 'const c = 2' > src/c.ts
      echo 'const b = 2' > src/b.ts
      chmod +x src/c.ts
      (sleep 300 & echo $! > ${join(repo.home, 'pid')})
      setsid sh -c 'echo $$ > ${join(repo.home, 'own-session')}; exec sleep 301' &
      while [ ! -s ${join(repo.home, 'own-session')} ]; do sleep 0.02; done
      exit 7`
    await using open = await openFor(repo)
    const outcome = await shell(open.world, script)
    expect(repo.snapshot()).toEqual(before)
    const beside = join(scratchHome(open.world.repository), `left-${outcome.run}`)
    const commits = `refs/galley/left/${outcome.run}/branch/main`
    expect(outcome).toMatchObject({ exitCode: 7, signal: null, left: [commits, beside] })
    expect(outcome.remarks).toContain('"build/" was left out: the ignore rules cover it')
    expect(readFileSync(join(beside, 'build/out.o'), 'utf8')).toBe('artefact\n')
    expect(isRunning(Number(readFileSync(join(repo.home, 'pid'), 'utf8')))).toBe(false)
    expect(isRunning(Number(readFileSync(join(repo.home, 'own-session'), 'utf8')))).toBe(false)
    const [change, ...others] = outcome.changes
    expect(others).toEqual([])
    expect(change).toMatchObject({
      state: 'staged',
      title: 'Remove what is gone',
      body: 'Commits before it:\n\n- Say deux',
      agent: { name: 'sh', session: outcome.run },
      onto: 'refs/heads/main',
    })
    expect(change?.files.map((f) => [f.path, f.status, f.newMode])).toEqual([
      ['a.txt', 'modified', '100644'],
      ['gone.txt', 'deleted', '000000'],
      ['src/b.ts', 'modified', '100644'],
      ['src/c.ts', 'added', '100755'],
    ])
    expect(contentsOf(repo, change?.commit ?? '', 'a.txt')).toBe('one\ndeux')
    expect(readdirSync(idleTreeOf(open.world)).sort()).toEqual(['.gitignore', 'a.txt', 'gone.txt', 'src'])
    expect(statusIn(repo, idleTreeOf(open.world))).toBe('')
    repo.git('reset', '-q', '--hard')
    await approve(open.world, { id: change?.id ?? '', via: 'cli' })
    await land(open.world, { id: change?.id ?? '' })
    expect(repo.read('src/b.ts')).toBe('const b = 2\n')
    expect(repo.git('status', '--porcelain')).toBe('?? mine.txt')
  })

  test('makes one change of each commit when asked to, stacked, and one of the rest', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', 'b.txt': '1\n' } })
    await using open = await openFor(repo)
    const script =
      'echo 2 > a.txt && git commit -qam One && git commit -q --allow-empty -m Nothing && echo 2 > b.txt && git commit -qam Two && echo 3 > a.txt'
    const { changes } = await shell(open.world, script, { keepsCommits: true })
    expect(changes.map((c) => [c.title, c.files.map((f) => f.path).join(), c.stackedOn])).toEqual([
      ['One', 'a.txt', null],
      ['Two', 'b.txt', changes[0]?.id],
      [`Uncommitted work of sh -c ${JSON.stringify(script)}`, 'a.txt', changes[1]?.id],
    ])
    for (const { id } of changes) {
      await approve(open.world, { id, via: 'cli' })
      await land(open.world, { id })
    }
    expect(repo.git('log', '--format=%s', '--reverse').split('\n').slice(0, 3)).toEqual([
      'first',
      'One',
      'Two',
    ])
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual(['3\n', '2\n'])
  })

  test('stages nothing when nothing changed, also where it was changed and put back', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    await using open = await openFor(repo)
    expect((await shell(open.world, 'true')).changes).toEqual([])
    const script = 'echo 2 > a.txt; git commit -qam two; git revert --no-edit HEAD >/dev/null; touch a.txt'
    const both = await shell(open.world, script)
    // What the first of the two commits held is in no change.
    expect(both).toMatchObject({
      exitCode: 0,
      changes: [],
      left: [`refs/galley/left/${both.run}/branch/main`],
    })
    expect((await open.world.head()).tip).toBe(repo.git('rev-parse', 'HEAD'))
  })

  test('gives the environment no GIT_* and says that an agent is at work', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    repo.git('config', 'user.name', 'Only Here')
    await using open = await openFor(repo, { GIT_EDITOR: 'false', GIT_AUTHOR_NAME: 'Leaked', KEPT: 'yes' })
    const { changes, run: id } = await shell(
      open.world,
      'env | grep -c "^GIT_" > env.txt; echo "$GALLEY_AGENT $GALLEY_RUN $KEPT" >> env.txt; pwd >> env.txt; git rev-parse --show-toplevel >> env.txt; git commit -q --allow-empty -m x; git log -1 --format=%cn >> env.txt',
    )
    const tree = treeOf(open.world)
    expect(contentsOf(repo, changes[0]?.commit ?? '', 'env.txt').split('\n')).toEqual([
      '0',
      `sh ${id} yes`,
      tree,
      tree,
      'Only Here',
    ])
  })

  test('ends with the status of the command: 255, a signal, a program that is not there', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    await using open = await openFor(repo)
    expect((await shell(open.world, 'exit 255')).exitCode).toBe(255)
    expect(await shell(open.world, 'kill -KILL $$')).toMatchObject({ exitCode: 137, signal: 'SIGKILL' })
    const refused = await refusal(() => run(open.world, { command: [join(repo.home, 'nothing')] }))
    expect(refused.code).toBe('not-found')
    expect(await shell(open.world, 'exit 0')).toMatchObject({ exitCode: 0 })
  })

  test('starts in the directory that it is told, where that is in the tree', async () => {
    using repo = makeRepo({ files: { 'd/e/a.txt': '1\n' } })
    await using open = await openFor(repo)
    const { changes } = await shell(open.world, 'echo 2 > here.txt', { directory: 'd/e' })
    expect(changes[0]?.files.map((f) => f.path)).toEqual(['d/e/here.txt'])
    expect((await shell(open.world, 'echo 2 > h', { directory: 'nothing' })).changes[0]?.files[0]?.path).toBe(
      'h',
    )
  })

  test('runs on a branch without a commit, and in a bare repository', async () => {
    using repo = makeRepo({})
    await using open = await openFor(repo)
    const { changes } = await shell(open.world, 'echo 1 > a.txt')
    expect(changes).toMatchObject([{ base: null, files: [{ path: 'a.txt', status: 'added' }] }])
    await approve(open.world, { id: changes[0]?.id ?? '', via: 'cli' })
    await land(open.world, { id: changes[0]?.id ?? '' })
    expect(repo.read('a.txt')).toBe('1\n')
    expect(repo.git('log', '--format=%P %s')).toBe(' Run sh -c "echo 1 > a.txt"')

    using bare = makeRepo({ bare: true })
    bare.git('fetch', '-q', repo.dir, 'main:main')
    await using second = await openFor(bare)
    const inBare = await shell(second.world, 'echo 2 > a.txt')
    await approve(second.world, { id: inBare.changes[0]?.id ?? '', via: 'cli' })
    await land(second.world, { id: inBare.changes[0]?.id ?? '' })
    expect(bare.git('show', 'main:a.txt')).toBe('2')
  })

  test('two at once have a tree each, and neither sees the other', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    await using one = await openFor(repo)
    await using two = await openFor(repo)
    const wait = (mine: string, other: string) =>
      `touch ${repo.home}/${mine}; for i in $(seq 3000); do [ -e ${repo.home}/${other} ] && break; sleep 0.02; done; git checkout -qb work; echo ${mine} > a.txt; git commit -qam ${mine} || true`
    const [first, second] = await Promise.all([
      shell(one.world, wait('x', 'y')),
      shell(two.world, wait('y', 'x')),
    ])
    expect(contentsOf(repo, first.changes[0]?.commit ?? '', 'a.txt')).toBe('x')
    expect(contentsOf(repo, second.changes[0]?.commit ?? '', 'a.txt')).toBe('y')
  })
})

describe('the command line', () => {
  const program = join(import.meta.dirname, '../../dist/galley.js')
  const galley = (repo: TestRepo, args: readonly string[]) =>
    spawn(process.execPath, [program, ...args], {
      cwd: repo.dir,
      env: repo.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })

  test('hands signals on to the command, captures what it did, and ends with its code', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    const script = `trap 'echo caught > caught.txt; exit 9' TERM; echo 2 > a.txt; touch ${repo.home}/ready; for i in $(seq 3000); do sleep 0.02; done`
    const child = galley(repo, ['run', '--json', '--', 'sh', '-c', script])
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    let said = ''
    child.stdout.on('data', (chunk) => {
      said += chunk
    })
    while (!existsSync(join(repo.home, 'ready'))) await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill('SIGTERM')
    expect(await ended).toBe(9)
    const answer = JSON.parse(said)
    expect(answer).toMatchObject({ ok: true, exitCode: 9, change: { state: 'staged' } })
    expect(answer.change.files.map((f: { path: string }) => f.path)).toEqual(['a.txt', 'caught.txt'])
  })

  test('passes input and both outputs through, and options that look like its own', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    const result = spawnSync(
      process.execPath,
      [program, 'run', '--', 'sh', '-c', 'cat; echo "$1"; echo err >&2', 'x', '--json'],
      {
        cwd: repo.dir,
        env: repo.env,
        input: 'from outside\n',
        encoding: 'utf8',
      },
    )
    expect(result.stdout).toBe('from outside\n--json\n')
    expect(result.stderr).toBe('err\ngalley: nothing changed\n')
    expect(result.status).toBe(0)
  })
})

describe('what a command may leave behind', () => {
  test('links out of the tree, closed directories, deep ones and foreign repositories go, and nothing outside does', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', 'd/b.txt': '1\n' } })
    mkdirSync(join(repo.home, 'outside'))
    writeFileSync(join(repo.home, 'outside/kept.txt'), 'kept')
    await using open = await openFor(repo)
    const outcome = await shell(
      open.world,
      `ln -s ${repo.home}/outside out; ln -s /nowhere dangling; mkdir -p closed/in && touch closed/in/f && chmod 000 closed/in && chmod 500 closed
       rm -r d && ln -s ${repo.home}/outside d
       mkdir nested && git -C nested init -q && touch nested/file
       mkfifo pipe; i=0; while [ $i -lt 300 ]; do mkdir deeeeeeeeeeeeeeeep && cd deeeeeeeeeeeeeeeep; i=$((i+1)); done; true`,
    )
    expect(outcome.changes[0]?.files.map((f) => [f.path, f.status])).toEqual([
      ['closed/in/f', 'added'],
      ['d/b.txt', 'deleted'],
    ])
    expect(outcome.remarks.join('\n')).toMatch(/"d" was left out: the symbolic link/)
    expect(outcome.remarks.join('\n')).toMatch(/"nested\/" was left out/)
    const beside = join(scratchHome(open.world.repository), `left-${outcome.run}`)
    expect(outcome.left).toEqual([`refs/galley/left/${outcome.run}/work`, beside])
    expect(readdirSync(beside).sort()).toEqual(['nested', 'pipe'])
    expect(readdirSync(join(beside, 'nested')).sort()).toEqual(['.git', 'file'])
    expect(readFileSync(join(repo.home, 'outside/kept.txt'), 'utf8')).toBe('kept')
    expect(readdirSync(idleTreeOf(open.world)).sort()).toEqual(['a.txt', 'd'])
    expect(statusIn(repo, idleTreeOf(open.world))).toBe('')
  })

  test('a huge file is left out and kept in a folder; the tree is clean', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', '.galley.json': '{"limits":{"fileMaxBytes":100000}}' } })
    await using open = await openFor(repo)
    const outcome = await shell(open.world, 'truncate -s 20G core.1; echo 2 > a.txt')
    expect(outcome.changes[0]?.files.map((f) => f.path)).toEqual(['a.txt'])
    const folder = join(scratchHome(open.world.repository), `left-${outcome.run}`)
    expect(outcome.left).toEqual([folder])
    expect(statSync(join(folder, 'core.1')).size).toBe(20 * 1024 ** 3)
    expect(existsSync(join(idleTreeOf(open.world), 'core.1'))).toBe(false)
  })

  test('work that no change can hold is refused with its code, and kept as a commit', async () => {
    using repo = makeRepo({
      files: { 'a.txt': '1\n', 'secret/s.txt': 's\n', '.galley.json': '{"deny":["secret/**"]}' },
    })
    await using open = await openFor(repo)
    const denied = await refusal(() => shell(open.world, 'echo 2 > a.txt; echo 2 > secret/s.txt; exit 3'))
    expect(denied).toMatchObject({ code: 'denied-path', data: { exitCode: 3 } })
    const left = denied.data['left'] as { readonly commit: string; readonly ref: string }
    expect(contentsOf(repo, left.commit, 'secret/s.txt')).toBe('2')
    expect(contentsOf(repo, left.ref, 'a.txt')).toBe('2')
    expect(statusIn(repo, idleTreeOf(open.world))).toBe('')
    expect((await shell(open.world, 'cat a.txt secret/s.txt')).exitCode).toBe(0)
  })

  test('branches, tags, stashes, configuration and hooks that it makes stay out of the next run, and unmerged commits are kept', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    const before = repo.snapshot()
    await using open = await openFor(repo)
    const outcome = await shell(
      open.world,
      `git checkout -qb side && echo side > side.txt && git add . && git commit -qm Side
       git checkout -q --detach HEAD~1 && git tag here && git config core.hooksPath hooks && git config user.name Mallory
       mkdir -p $(git rev-parse --git-common-dir)/hooks && printf '#!/bin/sh\\necho evil > evil.txt\\n' > $(git rev-parse --git-common-dir)/hooks/post-commit && chmod +x $(git rev-parse --git-common-dir)/hooks/post-commit
       echo 2 > a.txt && git stash -q && echo 3 > a.txt && git update-index --assume-unchanged a.txt`,
    )
    expect(outcome.left.length).toBeGreaterThanOrEqual(2)
    const store = join(repo.dir, '.git/galley/store.git')
    const refs = repo.git('--git-dir', store, 'for-each-ref', '--format=%(refname)').split('\n')
    expect(refs.filter((ref) => !ref.startsWith('refs/galley/'))).toEqual([])
    const kept = outcome.left.filter((name) => name.startsWith('refs/'))
    const subjects = kept.map((ref) => repo.git('--git-dir', store, 'log', '-1', '--format=%s', ref))
    expect(kept.map((ref) => ref.split('/').slice(4).join('/'))).toEqual(['branch/side', 'stash'])
    expect(outcome.remarks.join('\n')).toContain('its configuration was changed; it has hooks: post-commit')
    expect(subjects).toContain('Side')
    expect(readFileSync(join(store, 'config'), 'utf8')).not.toContain('Mallory')
    expect(existsSync(join(store, 'hooks'))).toBe(false)
    expect(statusIn(repo, idleTreeOf(open.world))).toBe('')
    expect((await shell(open.world, 'cat a.txt > seen.txt')).changes[0]?.files).toMatchObject([
      { path: 'seen.txt' },
    ])
    expect(repo.snapshot()).toEqual(before)
  })

  test('a tree whose repository was replaced, or that was replaced itself, is made whole again', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', 'd/b.txt': '1\n' } })
    await using open = await openFor(repo)
    const own = await shell(
      open.world,
      'rm -r .git; git init -q; git add -A; git -c user.name=x -c user.email=x@y commit -qm own; echo 2 > a.txt',
    )
    expect(own.changes[0]?.files.map((f) => f.path)).toEqual(['a.txt'])
    expect(statusIn(repo, idleTreeOf(open.world))).toBe('')
    const before = repo.snapshot()
    const tree = treeOf(open.world)
    const swapped = await refusal(() =>
      shell(open.world, `mv ${tree} ${tree}-moved && ln -s ${repo.dir} ${tree}`),
    )
    expect(swapped.code).toBe('io-error')
    expect(repo.snapshot()).toEqual(before)
    expect((await shell(open.world, 'cat a.txt > seen.txt')).changes[0]?.files).toMatchObject([
      { path: 'seen.txt' },
    ])
    expect(repo.snapshot()).toEqual(before)
  })
})

describe('what the tree is provided with', () => {
  test('.worktreeinclude brings ignored files that it names: regular ones, with their permissions, and never into the change', async () => {
    using repo = makeRepo({
      files: {
        'a.txt': '1\n',
        '.gitignore': '.env*\n*.key\nlinked\ncache/\n',
        '.worktreeinclude': '# what a run needs\n.env*\n!.env.production\n*.key\nlinked\na.txt\nmine.txt\n',
      },
    })
    repo.write('.env', 'SECRET=1\n')
    repo.write('.env.production', 'SECRET=2\n')
    repo.write('deep/er/x.key', 'key\n')
    repo.write('mine.txt', 'untracked, not ignored\n')
    repo.write('cache/big', 'not named\n')
    chmodSync(join(repo.dir, '.env'), 0o600)
    symlinkSync('/etc/passwd', join(repo.dir, 'linked'))
    repo.write('a.txt', 'mine, not committed\n')
    await using open = await openFor(repo)
    const outcome = await shell(
      open.world,
      'cat .env deep/er/x.key > out.txt; stat -c %a .env >> out.txt; cat a.txt >> out.txt; ls -A | tr "\\n" " " >> out.txt; git add -f -A; git commit -qm all; echo more >> .env',
    )
    expect(contentsOf(repo, outcome.changes[0]?.commit ?? '', 'out.txt')).toBe(
      'SECRET=1\nkey\n600\n1\n.env .git .gitignore .worktreeinclude a.txt deep out.txt ',
    )
    expect(outcome.changes[0]?.files.map((f) => f.path)).toEqual(['out.txt'])
    expect(outcome.remarks).toContain('linked was not copied: it is no regular file')
    const beside = join(scratchHome(open.world.repository), `left-${outcome.run}`)
    expect(outcome.left).toEqual([`refs/galley/left/${outcome.run}/branch/main`, beside])
    expect(readdirSync(beside)).toEqual(['.env'])
    expect(existsSync(join(idleTreeOf(open.world), '.env'))).toBe(false)
    expect(repo.read('.env')).toBe('SECRET=1\n')
  })

  test('what the user ignores beside the repository is ignored there too', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    writeFileSync(join(repo.dir, '.git/info/exclude'), 'local.log\n')
    mkdirSync(join(repo.home, 'config/git'), { recursive: true })
    writeFileSync(join(repo.home, 'config/git/ignore'), '*.swp\n')
    await using open = await openFor(repo)
    const { changes } = await shell(
      open.world,
      'touch local.log a.swp b.txt; git status --porcelain > status',
    )
    expect(changes[0]?.files.map((f) => f.path)).toEqual(['b.txt', 'status'])
  })

  const setup = (run: string) => JSON.stringify({ setup: { run, lockFiles: ['lock.json'] }, checks: [] })

  test('setup runs once for each lock file; what it brings is there, and is never committed', async () => {
    using repo = makeRepo({
      files: {
        'lock.json': '1\n',
        '.gitignore': 'modules/\n',
        '.galley.json': setup(
          'mkdir -p modules extra && echo $RANDOM$$ > modules/id && echo x > extra/x && echo changed > lock.json',
        ),
      },
    })
    const count = join(repo.home, 'count')
    repo.write(
      '.galley.json',
      setup(
        `echo x >> ${count}; mkdir -p modules extra; echo made > modules/id; echo x > extra/x; echo changed > lock.json`,
      ),
    )
    repo.commit('policy')
    await using open = await openFor(repo)
    const read = 'cat modules/id lock.json > seen.txt; git add -A; git commit -qm all'
    const first = await shell(open.world, read)
    expect(contentsOf(repo, first.changes[0]?.commit ?? '', 'seen.txt')).toBe('made\n1')
    expect(first.changes[0]?.files.map((f) => f.path)).toEqual(['seen.txt'])
    await shell(open.world, read)
    expect(readFileSync(count, 'utf8')).toBe('x\n')
    repo.write('lock.json', '2\n')
    repo.commit('another lock')
    await shell(open.world, read)
    expect(readFileSync(count, 'utf8')).toBe('x\nx\n')
    await shell(open.world, 'ls modules', { usesSetup: false })
    expect(readFileSync(count, 'utf8')).toBe('x\nx\n')
  })

  test('what a run changes of it is not there for the next', async () => {
    using repo = makeRepo({
      files: { '.gitignore': 'modules/\n', '.galley.json': setup('mkdir -p modules; echo good > modules/a') },
    })
    await using open = await openFor(repo)
    await shell(open.world, 'echo evil > modules/a')
    expect((await shell(open.world, 'cat modules/a > seen.txt')).changes[0]?.files).toHaveLength(1)
    const seen = await shell(open.world, 'cat modules/* > seen.txt; touch modules/new; rm -f modules/gone')
    expect(contentsOf(repo, seen.changes[0]?.commit ?? '', 'seen.txt')).toBe('good')
    expect(readdirSync(join(idleTreeOf(open.world), 'modules'))).toEqual(['a'])
  })

  test('a setup that fails refuses, with what it said; without setup the command runs', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', '.galley.json': setup('echo no network >&2; exit 4') } })
    await using open = await openFor(repo)
    const refused = await refusal(() => shell(open.world, 'touch x'))
    expect(refused).toMatchObject({ code: 'setup-failed', data: { output: 'no network\n' } })
    expect((await shell(open.world, 'touch x', { usesSetup: false })).changes).toHaveLength(1)
  })

  test('a policy that only lets read refuses before anything runs', async () => {
    using repo = makeRepo({ files: { '.galley.json': '{"mode":"read-only"}' } })
    await using open = await openFor(repo)
    const refused = await refusal(() => shell(open.world, `touch ${repo.home}/ran`))
    expect(refused.code).toBe('read-only')
    expect(existsSync(join(repo.home, 'ran'))).toBe(false)
  })

  test('a caller may allow less than the policy, never more', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    await using open = await openFor(repo)
    const script = `touch ${repo.home}/ran`
    const less = await refusal(() => shell(open.world, script, { permissionMode: 'read-only' }))
    expect([less.code, existsSync(join(repo.home, 'ran'))]).toEqual(['read-only', false])
    repo.write('.galley.json', '{"mode":"read-only"}')
    repo.commit('only reading')
    const more = await refusal(() => shell(open.world, script, { permissionMode: 'full' }))
    expect([more.code, existsSync(join(repo.home, 'ran'))]).toEqual(['read-only', false])
  })
})

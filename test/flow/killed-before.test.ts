import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ownIdentity } from '../../src/sys/process-identity.ts'
import { batch, cli, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { openFor } from './gc-world.ts'

const edit = { op: 'replace', path: 'a.txt', old: 'a', new: 'b' }
const dead = { ...ownIdentity(), startTime: '1' }
const elsewhere = { ...ownIdentity(), host: 'another', boot: 'another' }

const inStore = (repo: TestRepo, path: string) => join(repo.dir, '.git/galley/store.git', path)

function put(file: string, text = ''): string {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const begun = (repo: TestRepo, name: string, identity: object) =>
  put(join(repo.dir, '.git/galley/at-work', name), JSON.stringify(identity))

/** A repository with a pending change, and the lock of a git that was killed while it wrote down what became of it. */
async function withLock() {
  const repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: batch([edit]) })
  return { repo, id: change.id, lock: put(inStore(repo, `refs/galley/log/${change.id}.lock`)) }
}

/** A git that has begun to write in the store, and ends with the scope. */
async function gitAtWork(
  repo: TestRepo,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: object } = {},
) {
  const env = { ...repo.env, ...options.env }
  const child = spawn('git', [...args, 'update-ref', '--stdin'], { cwd: options.cwd ?? repo.dir, env })
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.stdin.write('start\n')
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const end = async () => {
    child.stdin.end()
    await ended
  }
  return { [Symbol.asyncDispose]: end, end }
}

const approve = async (repo: TestRepo, id: string) => {
  await using galley = await openGalley(repo)
  return galley.approve({ id })
}

describe('after a galley that was killed', () => {
  test('the next one takes its locks away, and what it was making', async () => {
    const { repo, id, lock } = await withLock()
    const lying = [
      lock,
      put(inStore(repo, 'packed-refs.lock')),
      put(inStore(repo, 'packed-refs.new')),
      put(inStore(repo, 'objects/info/commit-graphs/commit-graph-chain.lock')),
      put(inStore(repo, 'objects/pack/pack-x.keep'), 'fast-import'),
      put(inStore(repo, 'objects/ab/tmp_obj_x1')),
      put(inStore(repo, 'objects/pack/tmp_pack_x1')),
      put(inStore(repo, 'fast_import_crash_1')),
      put(inStore(repo, 'worktrees/gmade00000/HEAD'), `${'0'.repeat(40)}\n`),
      put(inStore(repo, 'worktrees/gmade00000/HEAD.lock')),
      inStore(repo, 'worktrees/gmade00000'),
      put(join(repo.dir, '.git/galley/tmp/x/objects/y')),
      put(join(repo.dir, '.git/galley/store-x/HEAD')),
      begun(repo, 'x', dead),
    ]
    expect((await approve(repo, id)).change.state).toBe('approved')
    expect(lying.filter((file) => existsSync(file))).toEqual([])
    expect(readdirSync(join(repo.dir, '.git/galley/at-work'))).toEqual([])
    repo[Symbol.dispose]()
  })

  test('nothing is touched where nobody was killed', async () => {
    const { repo, id, lock } = await withLock()
    expect((await refusal(() => approve(repo, id))).code).toBe('busy')
    expect(existsSync(lock)).toBe(true)
    repo[Symbol.dispose]()
  })

  test('what is being made stays while another is at work, and its lock as well while its git runs', async () => {
    const { repo, id, lock } = await withLock()
    const passing = put(join(repo.dir, '.git/galley/tmp/x/objects/y'))
    const marker = begun(repo, 'x', dead)
    begun(repo, 'y', ownIdentity())
    const holder = await gitAtWork(repo, ['--git-dir', inStore(repo, '')])
    expect((await refusal(() => approve(repo, id))).code).toBe('busy')
    expect([lock, passing, marker].map((file) => existsSync(file))).toEqual([true, true, true])
    await holder.end()
    await approve(repo, id)
    expect([lock, passing, `${marker}.unlocked`].map((file) => existsSync(file))).toEqual([false, true, true])
    repo[Symbol.dispose]()
  })

  /** How somebody's git, such as an agent's in a tree that was opened for it, may be told where it works. */
  const ways: readonly [string, (repo: TestRepo, tree: string) => Parameters<typeof gitAtWork>][] = [
    ['named as a whole', (repo) => [repo, ['--git-dir', inStore(repo, '')]]],
    ['named by a relative variable', (repo) => [repo, [], { env: { GIT_DIR: '.git/galley/store.git' } }]],
    [
      'named by a relative option',
      (repo) => [repo, ['--git-dir=galley/store.git'], { cwd: join(repo.dir, '.git') }],
    ],
    ['by the tree it stands in, behind a link', (repo, tree) => [repo, [], { cwd: realpathSync(tree) }]],
    [
      'with a value like the name of a reader',
      (repo) => [repo, ['--git-dir', inStore(repo, ''), '--namespace', 'cat-file']],
    ],
  ]

  test.each(ways)(
    'nothing is touched while a git works there, %s, however old its lock is',
    async (_, way) => {
      using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
      const cache = join(repo.dir, '.git/cache')
      mkdirSync(join(repo.dir, '.git/elsewhere'))
      symlinkSync(join(repo.dir, '.git/elsewhere'), cache)
      await using galley = await openGalley(repo, { env: { XDG_CACHE_HOME: cache } })
      const { change } = await galley.propose({ batch: batch([edit]) })
      const { path } = await galley.openTree(change.id)
      const lock = put(inStore(repo, `worktrees/${change.id}-full/index.lock`))
      utimesSync(lock, 1, 1)
      const pack = put(inStore(repo, 'objects/pack/tmp_pack_x1'))
      begun(repo, 'x', dead)
      const holder = await gitAtWork(...way(repo, path))
      await galley.reject({ id: change.id, reason: 'x' })
      expect([lock, pack].map((file) => existsSync(file))).toEqual([true, true])
      await holder.end()
      const next = await galley.propose({ batch: batch([edit]) })
      expect(next.change.state).toBe('staged')
      expect([lock, pack].map((file) => existsSync(file))).toEqual([false, false])
    },
  )

  test.each([
    ['of whom nothing can be told', JSON.stringify(elsewhere)],
    ['who has only begun to say who it is', '{"pid":'],
  ])('nothing is touched while one is at work %s', async (_, marker) => {
    const { repo, id, lock } = await withLock()
    begun(repo, 'x', dead)
    put(join(repo.dir, '.git/galley/at-work/y'), marker)
    expect((await refusal(() => approve(repo, id))).code).toBe('busy')
    expect(existsSync(lock)).toBe(true)
    repo[Symbol.dispose]()
  })

  test('what a process left that the system refused something is taken away, while that process lives on', async () => {
    const { repo, id, lock } = await withLock()
    const kept = put(inStore(repo, 'objects/pack/pack-x.keep'), 'fast-import')
    await using open = await openFor(repo)
    await open.world.atWork()
    open.world.noteFailure()
    await open.world.close()
    await approve(repo, id)
    expect([lock, kept].filter((file) => existsSync(file))).toEqual([])
    expect(readdirSync(join(repo.dir, '.git/galley/at-work'))).toEqual([])
    repo[Symbol.dispose]()
  })

  /** A change that has landed while its log could not be written: its lock lies there, and the process has ended. */
  async function landUnwritten(repo: TestRepo) {
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch([edit]) })
    await galley.approve({ id: change.id })
    const lock = inStore(repo, `refs/galley/log/${change.id}.lock`)
    const hook = put(join(repo.dir, '.git/hooks/post-merge'), `#!/bin/sh\n: > '${lock}'\n`)
    chmodSync(hook, 0o755)
    const landed = await galley.land({ id: change.id })
    rmSync(hook)
    return { id: change.id, lock, landed }
  }

  test('a landing whose log could not be written has landed, and is written down later', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const { id, lock, landed } = await landUnwritten(repo)
    expect(landed.change).toMatchObject({ state: 'landed', landed: { after: repo.git('rev-parse', 'HEAD') } })
    expect(landed.remarks.join()).toContain('its log does not say so yet')
    expect(repo.git('status', '--porcelain')).toBe('')
    rmSync(lock)
    await using later = await openGalley(repo)
    expect(await later.recover()).toMatchObject({ recorded: [{ id, failure: null }] })
    expect((await later.show(id)).change.state).toBe('landed')
  })

  test('it is written down by the landing of another change, too', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using early = await openGalley(repo)
    const other = await early.propose({ batch: batch([{ op: 'write', path: 'b.txt', content: 'b\n' }]) })
    await early.approve({ id: other.change.id })
    await early.close()
    const { id, lock } = await landUnwritten(repo)
    rmSync(lock)
    await using later = await openGalley(repo)
    await later.land({ id: other.change.id })
    expect((await later.show(id)).change.state).toBe('landed')
  })

  test('it is written down once that can be done, however often it could not', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const { id, lock } = await landUnwritten(repo)
    rmSync(lock)
    const config = join(repo.home, 'gitconfig')
    const before = readFileSync(config)
    writeFileSync(config, '[user]\n\tuseConfigOnly = true\n')
    for (const _ of [1, 2]) {
      await using still = await openGalley(repo)
      expect(await still.recover()).toMatchObject({ recorded: [{ id, failure: expect.any(String) }] })
    }
    writeFileSync(config, before)
    await using later = await openGalley(repo)
    expect(await later.recover()).toMatchObject({ recorded: [{ id, failure: null }] })
    expect((await later.show(id)).change.state).toBe('landed')
  })

  test('what another verb of the same process is making stays', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const first = await galley.propose({ batch: batch([edit]) })
    const second = await galley.propose({ batch: batch([{ op: 'write', path: 'b.txt', content: 'b\n' }]) })
    await galley.approve({ id: first.change.id })
    // Nothing but the branch moves, and what it needs is in galley's folder until then.
    repo.git('checkout', '-q', '--detach')
    const [moves, goesOn] = [join(repo.home, 'moves'), join(repo.home, 'goes-on')]
    const wait = `: > '${moves}'\nuntil [ -e '${goesOn}' ]; do sleep 0.05; done`
    const script = `#!/bin/sh\n[ "$1" = prepared ] || exit 0\n${wait}\n`
    chmodSync(put(join(repo.dir, '.git/hooks/reference-transaction'), script), 0o755)
    const landing = galley.land({ id: first.change.id })
    await expect.poll(() => existsSync(moves), { timeout: 10_000 }).toBe(true)
    const marker = begun(repo, 'x', dead)
    await galley.approve({ id: second.change.id })
    put(goesOn)
    expect((await landing).change.state).toBe('landed')
    expect(existsSync(`${marker}.unlocked`)).toBe(true)
  })

  test('a living process counts as one, whatever the repository is called', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' }, name: 'my.failed.unlocked' })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch([edit]) })
    const passing = put(join(repo.dir, '.git/galley/tmp/x/objects/y'))
    begun(repo, 'x', dead)
    begun(repo, 'y', ownIdentity())
    await approve(repo, change.id)
    expect(existsSync(passing)).toBe(true)
  })

  test('doctor tells of it, and mends it', async () => {
    const { repo, lock } = await withLock()
    begun(repo, 'x', dead)
    expect(cli(repo, ['doctor']).stdout).toContain('a galley was killed here')
    expect(existsSync(lock)).toBe(true)
    expect(cli(repo, ['doctor', '--fix']).stdout).not.toContain('was killed here')
    expect(existsSync(lock)).toBe(false)
    repo[Symbol.dispose]()
  })
})

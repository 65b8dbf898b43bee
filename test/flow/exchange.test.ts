import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { galleyRefs, inStore, makeClones } from '../helpers/clones.ts'
import { batch, cli, openGalley, refusal } from '../helpers/galley.ts'
import { serveHttp } from '../helpers/http-remote.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const append = { op: 'append', path: 'a.txt', content: 'b\n' }
const write = (path: string) => ({ op: 'write', path, content: `${path}\n` })
const textOf = (file: string) => readFileSync(file, 'utf8')
const onRemote = (bare: TestRepo) => galleyRefs(bare, bare.dir)

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

describe('a change that was proposed and approved in one clone', () => {
  test('lands in another, with its approval, digest and log', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    await using ben = await openGalley(made.ben)
    const { change } = await ann.propose({ batch: batch([append, write('n.txt')]) })
    await ann.approve({ id: change.id })
    const [annBefore, benBefore] = [made.ann.snapshot(), made.ben.snapshot()]
    const pushed = await ann.push()
    expect(pushed).toMatchObject({ remote: 'origin', changes: [change.id], branch: null })
    expect(onRemote(made.bare)).toEqual(galleyRefs(made.ann))
    const fetched = await ben.fetch()
    expect(fetched.changes).toMatchObject([{ id: change.id, how: 'new', approvals: 1 }])
    expect(fetched.dropped).toEqual([])
    expect([made.ann.snapshot(), made.ben.snapshot()]).toEqual([annBefore, benBefore])
    expect(galleyRefs(made.ben)).toEqual(galleyRefs(made.ann))
    expect((await ben.show(change.id)).log).toEqual((await ann.show(change.id)).log)

    const { landed } = await ben.land({ id: change.id })
    expect(landed.after).toBe(change.commit)
    expect(made.ben.read('a.txt')).toBe('a\nb\n')
    await ben.push({ withBranch: 'main' })
    expect(made.bare.git('rev-parse', 'main')).toBe(landed.after)
    await ann.fetch()
    expect((await ann.show(change.id)).change.state).toBe('landed')
  })

  test('is a change like any other there: rejected, revised and undone', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    await using ben = await openGalley(made.ben)
    const { change } = await ann.propose({ batch: batch([append]) })
    await ann.push()
    await ben.fetch()
    await ben.reject({ id: change.id, reason: 'say why' })
    await ben.push()
    await ann.fetch()
    expect((await ann.show(change.id)).change).toMatchObject({ state: 'rejected', rejection: 'say why' })
    const again = batch([{ ...append, content: 'c\n' }])
    const revised = await ann.propose({ batch: again, revise: change.id })
    expect(revised.change.revision).toBe(2)
    await ann.push()
    await ben.fetch()
    await ben.approve({ id: change.id, digest: revised.change.digest })
    await ben.land({ id: change.id })
    const undone = await ben.undo({ target: change.id })
    await ben.approve({ id: undone.change.id })
    await ben.land({ id: undone.change.id })
    await ben.push()
    await ann.fetch()
    expect((await ann.show(change.id)).change.state).toBe('undone')
  })

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

  test('is checked here before it lands, whatever its log says of checks', async () => {
    const policy = (run: string) => `{"checks":[{"name":"own","run":"${run}"}]}`
    using made = two({ files: { 'a.txt': 'a\n', '.galley.json': policy('test ! -e $HOME/forbidden') } })
    await using ann = await openGalley(made.ann)
    await using ben = await openGalley(made.ben)
    const { change } = await ann.propose({ batch: batch([append]) })
    expect(change.checks).toMatchObject([{ outcome: 'passed' }])
    await ann.approve({ id: change.id })
    await ann.push()
    await ben.fetch()
    writeFileSync(join(made.ben.home, 'forbidden'), '')
    const before = made.ben.snapshot()
    expect(await refusal(() => ben.land({ id: change.id }))).toMatchObject({ code: 'checks-failed' })
    expect(made.ben.snapshot()).toEqual(before)
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

describe('a second push or fetch', () => {
  test('moves nothing and says so', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    await using ben = await openGalley(made.ben)
    await ann.propose({ batch: batch([append]) })
    await ann.push()
    expect(await ann.push()).toMatchObject({ pushed: [], changes: [] })
    await ben.fetch()
    expect(await ben.fetch()).toMatchObject({ changes: [], dropped: [] })
    expect(await ben.push()).toMatchObject({ pushed: [] })
  })

  test('leaves out keys, batches, landings and whatever else is this store’s own', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    const { change } = await ann.propose({ batch: batch([append], { key: 'k' }) })
    await ann.approve({ id: change.id })
    await ann.land({ id: change.id })
    await ann.push()
    const kinds = made.bare
      .git('for-each-ref', '--format=%(refname)')
      .split('\n')
      .map((ref) => ref.split('/', 3).join('/'))
    expect([...new Set(kinds)]).toEqual([
      'refs/galley/approvals',
      'refs/galley/changes',
      'refs/galley/log',
      'refs/heads/main',
    ])
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

  test('keep every event of both: the later push is refused, and a fetch folds', async () => {
    await using both = await shared()
    const { ann, ben, id, made } = both
    await ann.approve({ id })
    await ben.approve({ id })
    await ann.push()
    const refused = await refusal(() => ben.push())
    expect(refused).toMatchObject({ code: 'branch-moved', data: { id } })
    expect(refused.hint).toContain('galley fetch')
    expect((await ben.fetch()).changes).toMatchObject([{ id, how: 'merged', approvals: 1 }])
    await ben.push()
    await ann.fetch()
    expect(galleyRefs(made.ann)).toEqual(galleyRefs(made.ben))
    const { log, change } = await ann.show(id)
    expect(log.map((event) => event.kind)).toEqual(['proposed', 'staged', 'approved', 'approved'])
    expect(change.approvals.map((one) => one.by)).toEqual([
      'Ann <ann0@example.org>',
      'Ben <ben1@example.org>',
    ])
  })

  test('do not turn a no into a yes, whichever comes first', async () => {
    for (const first of ['approve', 'reject'] as const) {
      await using both = await shared()
      const { ann, ben, id } = both
      if (first === 'approve') await ann.approve({ id })
      else await ann.reject({ id, reason: 'no' })
      if (first === 'approve') await ben.reject({ id, reason: 'no' })
      else await ben.approve({ id })
      await ann.push()
      await ben.fetch()
      await ben.push()
      await ann.fetch()
      for (const galley of [ann, ben]) {
        expect((await galley.show(id)).change.state, first).toBe('rejected')
        expect(await refusal(() => galley.land({ id }))).toMatchObject({ code: 'wrong-state' })
      }
    }
  })

  test('do not carry an approval of one revision over to the next', async () => {
    await using both = await shared()
    const { ann, ben, id } = both
    await ben.approve({ id })
    await ann.propose({ batch: batch([{ ...append, content: 'c\n' }]), revise: id })
    await ann.push()
    await ben.fetch()
    const { change } = await ben.show(id)
    expect(change).toMatchObject({ state: 'staged', revision: 2, approvals: [] })
    expect(await refusal(() => ben.land({ id }))).toMatchObject({ code: 'not-approved' })
  })

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

describe('where a remote is', () => {
  test('is what git would take: the branch’s, the push default, the URL rewritten, a path from the top of the work tree', async () => {
    using made = two()
    using other = makeRepo({ bare: true })
    await using ann = await openGalley(made.ann)
    await ann.propose({ batch: batch([append]) })
    made.ann.git('remote', 'add', 'away', 'gh:somewhere/else')
    made.ann.git('config', `url.${other.dir}.insteadOf`, 'gh:somewhere/else')
    made.ann.git('config', 'remote.pushDefault', 'away')
    await using again = await openGalley(made.ann)
    expect((await again.push()).remote).toBe('away')
    expect(onRemote(other)).toEqual(galleyRefs(made.ann))
    expect(onRemote(made.bare)).toEqual([])
    made.ann.git('remote', 'set-url', '--push', 'origin', '../near.git')
    made.ann.git('init', '--quiet', '--bare', join(made.ann.home, 'near.git'))
    made.ann.write('deep/er/x.txt', 'x\n')
    await using deep = await openGalley(made.ann, { dir: join(made.ann.dir, 'deep/er') })
    await deep.push({ remote: 'origin' })
    expect(galleyRefs(made.ann, join(made.ann.home, 'near.git'))).toEqual(galleyRefs(made.ann))
  })

  test('is refused when there is none, it cannot be reached, or would run a program', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    await galley.propose({ batch: batch([append]) })
    const before = galleyRefs(repo)
    const mark = join(repo.home, 'ran')
    for (const [remote, code] of [
      [undefined, 'not-found'],
      ['nowhere', 'not-found'],
      [join(repo.home, 'no-such.git'), 'io-error'],
      [`ext::sh -c "touch% ${mark}"`, 'io-error'],
      [`--upload-pack=touch ${mark};x/y`, 'not-found'],
    ] as const) {
      for (const verb of ['push', 'fetch'] as const) {
        const found = await refusal(() => galley[verb](remote === undefined ? {} : { remote }))
        expect(found.code, `${verb} ${remote}`).toBe(code)
      }
    }
    expect(existsSync(mark)).toBe(false)
    expect(galleyRefs(repo)).toEqual(before)
  })

  test('lets in by the user’s own credential helper, and tells nobody the password', async () => {
    using made = two()
    made.bare.git('config', 'http.receivepack', 'true')
    await using http = await serveHttp(made.bare, 'ann', 'open-sesame')
    made.ann.git('remote', 'set-url', 'origin', http.url)
    await using closed = await openGalley(made.ann)
    const { change } = await closed.propose({ batch: batch([append]) })
    expect(await refusal(() => closed.push())).toMatchObject({ code: 'io-error' })
    expect(http.seen.allowed).toBe(0)
    const helper = '!f() { echo username=ann; echo password=open-sesame; }; f'
    made.ann.git('config', '--global', 'credential.helper', helper)
    await using open = await openGalley(made.ann)
    await open.push()
    await open.fetch()
    expect(onRemote(made.bare)).toEqual(galleyRefs(made.ann))
    expect(http.seen.allowed).toBeGreaterThan(2)
    const named = await open.fetch({ remote: http.url.replace('//', () => '//ann:open-sesame@') })
    expect(named.remote).toBe(http.url)
    const nobody = 'http://ann:open-sesame@127.0.0.1:1/'
    const failed = await refusal(() => open.fetch({ remote: nobody }))
    expect(JSON.stringify({ ...failed, message: failed.message })).not.toContain('open-sesame')
    await open.close()
    expect(textOf(join(made.ann.dir, '.git/galley/galley.log'))).not.toContain('open-sesame')
    expect(inStore(made.ann, 'config', '--local', '--list')).not.toContain('credential')
    expect((await closed.show(change.id)).change.state).toBe('staged')
  })

  test('is heard to the end, however late git’s last words come', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    await ann.propose({ batch: batch([append]) })
    await ann.push()
    const git = join(made.ben.home, 'slow/git')
    mkdirSync(join(made.ben.home, 'slow'))
    const late = `case " $* " in *" ls-remote --refs "*) PATH='${made.ben.env['PATH']}' git "$@" >"$HOME/all"; head -c 20 "$HOME/all"; (sleep 0.4; tail -c +21 "$HOME/all") & exit 0;; esac`
    writeFileSync(git, `#!/bin/sh\n${late}\nPATH='${made.ben.env['PATH']}' exec git "$@"\n`, { mode: 0o755 })
    const path = `${join(made.ben.home, 'slow')}:${made.ben.env['PATH']}`
    await using ben = await openGalley(made.ben, { env: { PATH: path } })
    expect((await ben.fetch()).changes).toHaveLength(1)
  })

  test('lets in by the SSH command of the user, also one of .git/config', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    await ann.propose({ batch: batch([append]) })
    const ssh = join(made.ann.home, 'ssh')
    writeFileSync(ssh, '#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\nexec sh -c "$1"\n', { mode: 0o755 })
    made.ann.git('config', 'core.sshCommand', ssh)
    made.ann.git('remote', 'set-url', 'origin', `ssh://host${made.bare.dir}`)
    await using again = await openGalley(made.ann)
    await again.push()
    expect(onRemote(made.bare)).toEqual(galleyRefs(made.ann))
    await again.fetch()
  })

  test('gives no hook of the repository a chance, but pre-push when a branch goes along', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    const { change } = await ann.propose({ batch: batch([append]) })
    await ann.approve({ id: change.id })
    await ann.land({ id: change.id })
    const said = join(made.ann.home, 'said')
    const hook = (code: number) =>
      writeFileSync(
        join(made.ann.dir, '.git/hooks/pre-push'),
        `#!/bin/sh\necho "$1 $(cat)" >>'${said}'\necho not today >&2\nexit ${code}\n`,
        { mode: 0o755 },
      )
    hook(1)
    await ann.push()
    expect(await refusal(() => ann.push({ withBranch: 'main' }))).toMatchObject({
      code: 'hook-refused',
      message: expect.stringContaining('not today'),
    })
    expect(made.bare.git('rev-parse', 'main')).toBe(change.base)
    hook(0)
    await ann.push({ withBranch: 'main' })
    expect(made.bare.git('rev-parse', 'main')).toBe(made.ann.git('rev-parse', 'main'))
    const after = made.ann.git('rev-parse', 'main')
    const line = `origin refs/heads/main ${after} refs/heads/main ${change.base}`
    expect(textOf(said)).toBe(`${line}\n${line}\n`)
  })
})

describe('a branch that goes along with its approvals', () => {
  async function landedHere() {
    const made = two()
    const ann = await openGalley(made.ann)
    const { change } = await ann.propose({ batch: batch([append]) })
    await ann.approve({ id: change.id })
    const { landed } = await ann.land({ id: change.id })
    const close = async () => {
      await ann.close()
      made[Symbol.dispose]()
    }
    return { made, ann, change, after: landed.after, [Symbol.asyncDispose]: close }
  }

  test('is refused as a whole when the server refuses one of them', async () => {
    await using here = await landedHere()
    const { made, ann, change } = here
    const hook = 'while read old new ref; do case $ref in refs/galley/approvals/*) exit 1;; esac; done'
    writeFileSync(join(made.bare.dir, 'hooks/pre-receive'), `#!/bin/sh\n${hook}\n`, { mode: 0o755 })
    expect(await refusal(() => ann.push({ withBranch: 'main' }))).toMatchObject({ code: 'hook-refused' })
    expect(made.bare.git('rev-parse', 'main')).toBe(change.base)
    expect(onRemote(made.bare)).toEqual([])
  })

  test('is one transaction: a hook of the server sees branch and approvals together', async () => {
    await using here = await landedHere()
    const { made, ann, change, after } = here
    const seen = join(made.bare.home, 'seen')
    writeFileSync(
      join(made.bare.dir, 'hooks/pre-receive'),
      `#!/bin/sh\ncat >>'${seen}'\necho >>'${seen}'\n`,
      { mode: 0o755 },
    )
    await ann.push({ withBranch: 'main' })
    const [together = ''] = textOf(seen).split('\n\n')
    expect(together).toContain(`${change.base} ${after} refs/heads/main`)
    expect(together).toContain(`refs/galley/approvals/${change.id}/1/`)
    expect(made.bare.git('rev-parse', 'main')).toBe(after)
  })

  test('is refused when the remote’s has moved on, and nothing of it is pushed', async () => {
    await using here = await landedHere()
    const { made, ann } = here
    made.ben.write('b.txt', 'b\n')
    made.ben.commit('first there')
    made.ben.git('push', '--quiet', 'origin', 'main')
    const tip = made.bare.git('rev-parse', 'main')
    expect(await refusal(() => ann.push({ withBranch: 'main' }))).toMatchObject({ code: 'branch-moved' })
    expect(made.bare.git('rev-parse', 'main')).toBe(tip)
    expect(onRemote(made.bare)).toEqual([])
    expect(await refusal(() => ann.push({ withBranch: 'no-such' }))).toMatchObject({ code: 'stale' })
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

describe('the command line', () => {
  test('prints what came and went, and names what is behind', async () => {
    using made = two()
    const edits = JSON.stringify(batch([append]))
    const proposed = cli(made.ann, ['--json', 'propose', '-'], { input: edits })
    const { id } = proposed.json.change
    expect(cli(made.ann, ['push'])).toMatchObject({
      code: 0,
      stdout: 'pushed to origin: 1 change, 0 approvals\n',
    })
    expect(cli(made.ann, ['push']).stdout).toBe('Nothing that origin has not.\n')
    const fetched = cli(made.ben, ['fetch'])
    expect(fetched.stdout).toMatch(new RegExp(`^new +${id} staged  1 file `))
    expect(cli(made.ben, ['fetch']).stdout).toBe('Nothing new on origin.\n')
    cli(made.ann, ['approve', id])
    cli(made.ben, ['approve', id])
    expect(cli(made.ben, ['push'])).toMatchObject({ code: 0 })
    const behind = cli(made.ann, ['push'])
    expect(behind.code).toBe(1)
    expect(behind.stderr).toContain(`galley: branch-moved: ${id} was not pushed`)
    const json = cli(made.ann, ['--json', 'fetch', 'origin']).json
    expect(json).toMatchObject({ ok: true, remote: 'origin', changes: [{ id, how: 'merged' }], dropped: [] })
    made.bare.git('update-ref', `refs/galley/approvals/${id}/1/000000000000`, 'main')
    expect(cli(made.ann, ['fetch']).stderr).toContain('forged')
    expect(cli(made.ann, ['push', 'a', 'b']).code).toBe(2)
  })
})

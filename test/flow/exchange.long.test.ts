import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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
})

describe('a change that was rejected', () => {
  const secret = { op: 'write', path: '.env.local', content: 'TOKEN=s3cr3t\n' }

  test('before it was ever pushed stays here: neither a ref nor an object of it reaches the remote', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    const { change } = await ann.propose({ batch: batch([secret]) })
    await ann.reject({ id: change.id, reason: 'a secret' })
    const other = await ann.propose({ batch: batch([append]) })
    const pushed = await ann.push()
    expect(pushed).toMatchObject({ changes: [other.change.id], withheld: [change.id] })
    expect(onRemote(made.bare).filter((line) => line.includes(change.id))).toEqual([])
    const objects = made.bare.git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)')
    expect(objects).not.toContain(change.files[0]?.newBlob)
    expect(objects).not.toContain(change.commit)
    expect(await ann.push()).toMatchObject({ pushed: [], withheld: [change.id] })
    const said = cli(made.ann, ['push']).stdout
    expect(said).toBe(
      `Nothing that origin has not.\nkept here: ${change.id} (rejected, or standing on what was rejected)\n`,
    )
  })

  test('keeps what stands on it here too: its commit would go along', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    const below = await ann.propose({ batch: batch([secret]) })
    const above = await ann.propose({ batch: batch([append], { base: below.change.id }) })
    await ann.reject({ id: below.change.id, reason: 'a secret' })
    const pushed = await ann.push({ withBranch: 'main' })
    expect(pushed).toMatchObject({ pushed: [] })
    expect([...pushed.withheld].sort()).toEqual([below.change.id, above.change.id].sort())
    expect(onRemote(made.bare)).toEqual([])
  })

  test('after it was pushed is rejected there too', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    await using ben = await openGalley(made.ben)
    const { change } = await ann.propose({ batch: batch([append]) })
    await ann.push()
    await ann.reject({ id: change.id, reason: 'no' })
    expect(await ann.push()).toMatchObject({ changes: [change.id], withheld: [] })
    await ben.fetch()
    expect((await ben.show(change.id)).change).toMatchObject({ state: 'rejected', rejection: 'no' })
  })

  test('and was then proposed anew goes', async () => {
    using made = two()
    await using ann = await openGalley(made.ann)
    const { change } = await ann.propose({ batch: batch([append]) })
    await ann.reject({ id: change.id, reason: 'no' })
    await ann.propose({ batch: batch([{ ...append, content: 'c\n' }]), revise: change.id })
    expect(await ann.push()).toMatchObject({ changes: [change.id], withheld: [] })
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

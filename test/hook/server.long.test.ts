import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { approveChange, commitFiles, guardMain, landChange } from '../flow/verify-world.ts'
import { batch, cli, gitInput, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { makeKey, signAs, signText } from '../helpers/signing.ts'
import { asPerson, galley, makeServer, runAs } from './hook-world.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

const tipOf = (repo: TestRepo, ref = 'refs/heads/main'): string =>
  repo.tryGit('rev-parse', '-q', '--verify', ref).out
const store = (repo: TestRepo): string => `--git-dir=${repo.dir}/.git/galley/store.git`
const approvalRef = (repo: TestRepo, id: string): string =>
  repo.git(store(repo), 'for-each-ref', '--format=%(refname)', `refs/galley/approvals/${id}/`)

describe('a server with pre-receive', () => {
  test.each(['sha1', 'sha256'] as const)(
    'takes a branch together with its approvals, and keeps both (%s)',
    async (objectFormat) => {
      using repo = makeRepo({ objectFormat, files: { 'a.txt': 'one\n', ...guardMain } })
      using server = makeRepo({ objectFormat, bare: true, name: 'server.git' })
      galley(server, 'hooks', 'install', '--reference-transaction')
      repo.git('remote', 'add', 'origin', server.dir)
      // The first push brings the policy: there was none to go by.
      expect(asPerson(repo, 'push', '--quiet', 'origin', 'main').code).toBe(0)
      const { id, commit } = await landChange(repo, 'Two', { 'a.txt': 'two\n' })
      const alone = asPerson(repo, 'push', 'origin', 'main')
      expect(alone.out).toMatch(/remote: galley: forged: the push to main .*Two|galley: forged/)
      expect(galley(repo, 'push', 'origin', '--with-branch', 'main')).toMatch(/main/)
      expect(tipOf(server)).toBe(commit)
      expect(tipOf(server, approvalRef(repo, id))).not.toBe('')
      // Nothing of galley's is left but what was pushed.
      expect(existsSync(join(server.dir, 'galley/store.git'))).toBe(false)
    },
  )

  test('lets approvals, revisions and logs be made, and never moved or taken away', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    using server = makeServer(repo)
    const { id } = await approveChange(repo, 'Two', { 'a.txt': 'two\n' })
    const other = await approveChange(repo, 'Three', { 'a.txt': 'three\n' })
    galley(repo, 'push', 'origin')
    const refs = [approvalRef(repo, id), `refs/galley/changes/${id}/1`, `refs/galley/log/${id}`]
    for (const ref of refs) {
      const kept = tipOf(server, ref)
      expect(kept).not.toBe('')
      const instead = ref.replace(id, () => other.id)
      const source = ref === refs[0] ? approvalRef(repo, other.id) : instead
      const moved = asPerson(repo, store(repo), 'push', '--force', server.dir, `${source}:${ref}`)
      expect(moved.out).toMatch(/remote: galley: forged: refs\/galley\/.* may not move/)
      expect(asPerson(repo, 'push', server.dir, `:${ref}`).out).toMatch(/may not be deleted/)
      expect(tipOf(server, ref)).toBe(kept)
    }
  })

  test('refuses a claim that is not so on a branch that nothing guards, and takes what people push there', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    using server = makeServer(repo)
    repo.git('checkout', '--quiet', '-b', 'topic')
    commitFiles(repo, 'By hand', { 'b.txt': 'b\n' })
    expect(asPerson(repo, 'push', '--quiet', 'origin', 'topic').code).toBe(0)
    commitFiles(repo, 'Claims\n\nGalley-Change: g000000000', { 'c.txt': 'c\n' })
    expect(asPerson(repo, 'push', 'origin', 'topic').out).toMatch(/remote: galley: forged/)
    expect(tipOf(server, 'refs/heads/topic')).toBe(repo.git('rev-parse', 'topic~1'))
  })

  test('goes by the policy from before the push', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    using server = makeServer(repo)
    commitFiles(repo, 'No guard', { '.galley.json': '{}\n' })
    expect(asPerson(repo, 'push', 'origin', 'main').out).toMatch(/remote: galley: unapproved/)
    expect(tipOf(server)).toBe(repo.git('rev-parse', 'main~1'))
  })

  test('with required signatures takes no approval by a key that is not allowed', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const [good, foreign] = [makeKey(repo, 'good'), makeKey(repo, 'foreign')]
    signAs(repo, { name: 'Test', key: good })
    const requires = '"approval": { "requires": "signature" }, "sign": "ssh", "allowedSigners": "signers"'
    commitFiles(repo, 'Policy', {
      signers: `test@example.org namespaces="git" ${good.publicText}\n`,
      '.galley.json': `{ "guard": ["main"], ${requires} }\n`,
    })
    using server = makeServer(repo)
    cpSync(join(repo.home, 'gitconfig'), join(server.home, 'gitconfig'))
    const { id, commit } = await landChange(repo, 'Signed', { 'a.txt': 'two\n' })
    expect(cli(repo, ['verify', 'HEAD~1..', '--require-signature']).code).toBe(0)
    galley(repo, 'push', 'origin', '--with-branch', 'main')
    expect(tipOf(server)).toBe(commit)
    // An approval of a proposal that nobody approved, signed by a key that nobody allowed.
    await using opened = await openGalley(repo)
    const edits = [{ op: 'write', path: 'a.txt', content: 'evil\n' }]
    const { change: other } = await opened.propose({ batch: batch(edits, { title: 'Evil' }) })
    const evil = commitFiles(repo, 'Evil', { 'a.txt': 'evil\n' })
    const text = repo.git(store(repo), 'cat-file', 'tag', approvalRef(repo, id))
    const body = JSON.parse(text.slice(text.indexOf('\n\n') + 2, text.indexOf('\n}\n') + 2))
    const tree = repo.git('rev-parse', 'HEAD^{tree}')
    const made = { ...body, change: other.id, commit: other.commit, base: commit, tree }
    const forged = await forge(repo, made, other.commit)
    const payload = `object ${other.commit}\ntype commit\ntag galley/${other.id}/1\ntagger Test <test@example.org> 1700000000 +0000\n\n${forged}`
    const tag = gitInput(
      repo,
      [store(repo), 'hash-object', '-t', 'tag', '-w', '--stdin'],
      payload + signText(repo, foreign, payload),
    )
    repo.git(store(repo), 'update-ref', `refs/galley/approvals/${other.id}/1/${tag.slice(0, 12)}`, tag)
    const verified = cli(repo, ['verify', 'HEAD~1..', '--require-signature'])
    expect(verified.code).toBe(1)
    expect(verified.stdout).toMatch(/^unapproved \w+ {2}Evil\n.*it is not in the list of allowed signers$/m)
    const own = ['changes', 'log', 'approvals'].map((kind) => `refs/galley/${kind}/*:refs/galley/${kind}/*`)
    const refs = [`${evil}:refs/heads/main`, ...own]
    const pushed = asPerson(repo, store(repo), 'push', '--atomic', server.dir, ...refs)
    expect(pushed.code).not.toBe(0)
    expect(pushed.out).toMatch(/is not in the list of allowed signers/)
    expect(tipOf(server)).toBe(commit)
  })

  test('goes by the list that its hooks were told, in place of the policy’s, also after they are installed again', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const [good, listed] = [makeKey(repo, 'good'), makeKey(repo, 'listed')]
    signAs(repo, { name: 'Test', key: good })
    const line = (key: typeof good) => `test@example.org namespaces="git" ${key.publicText}\n`
    const requires = '"approval": { "requires": "signature" }, "sign": "ssh", "allowedSigners": "signers"'
    commitFiles(repo, 'Policy', {
      signers: line(good),
      '.galley.json': `{ "guard": ["main"], ${requires} }\n`,
    })
    using server = makeServer(repo)
    const list = join(repo.home, "the server's list")
    writeFileSync(list, line(listed))
    galley(server, 'hooks', 'install', '--allowed-signers', list)
    galley(server, 'hooks', 'install')
    expect(galley(server, 'hooks', 'status')).not.toMatch(/^(?!installed)\w+ /m)
    const { commit } = await landChange(repo, 'Signed', { 'a.txt': 'two\n' })
    expect(cli(repo, ['push', 'origin', '--with-branch', 'main']).code).toBe(1)
    expect(tipOf(server)).not.toBe(commit)
    writeFileSync(list, line(listed) + line(good))
    galley(repo, 'push', 'origin', '--with-branch', 'main')
    expect(tipOf(server)).toBe(commit)
  })

  test('refuses a list that is not there, lies in the repository, or is for no hook of a server', () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    using server = makeServer(repo)
    for (const [where, list, code] of [
      [server, '/nowhere', 'not-approved'],
      [server, join(server.dir, 'config'), 'not-approved'],
      [repo, join(repo.home, 'gitconfig'), 'usage'],
    ] as const) {
      const before = where.snapshot()
      const found = cli(where, ['hooks', 'install', '--allowed-signers', list, '--json'])
      expect(found.json.error.code).toBe(code)
      expect(where.snapshot()).toEqual(before)
    }
  })
})

/** The body of an approval that fits a commit, which does what HEAD does, in every way that needs no key. */
async function forge(
  repo: TestRepo,
  body: Readonly<Record<string, unknown>>,
  commit: string,
): Promise<string> {
  const { digestOf } = await import('../../src/flow/stage.ts')
  const { messageHashOf } = await import('../../src/flow/record-approval.ts')
  const [line = ''] = repo.git('diff-tree', '-r', '--no-commit-id', '--no-abbrev', 'HEAD').split('\n')
  const [, oldMode = '', newMode = '', oldBlob = '', newBlob = '', path = ''] =
    /^:(\d+) (\d+) (\w+) (\w+) \w\t(.*)$/.exec(line) ?? []
  const digest = digestOf([
    { path, oldBlob, newBlob, oldMode: oldMode as '100644', newMode: newMode as '100644' },
  ])
  const messageHash = messageHashOf(Buffer.from(`${repo.git(store(repo), 'cat-file', 'commit', commit)}\n`))
  return `${JSON.stringify({ ...body, digest, messageHash }, null, 1)}\n`
}

describe('a clone that tests', () => {
  test('verifies with the approvals that it fetches, without a store', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    using server = makeServer(repo)
    await landChange(repo, 'Two', { 'a.txt': 'two\n' })
    galley(repo, 'push', 'origin', '--with-branch', 'main')
    repo.git('checkout', '--quiet', '-b', 'topic')
    commitFiles(repo, 'By hand', { 'b.txt': 'b\n' })
    repo.git('push', '--quiet', 'origin', 'topic')
    // As a runner has it: one commit detached, with its history.
    mkdirSync(join(repo.home, 'ci'))
    const ci = { cwd: join(repo.home, 'ci') }
    runAs(repo, ['git', 'clone', '--quiet', '--no-checkout', server.dir, '.'], {}, ci)
    runAs(repo, ['git', 'checkout', '--quiet', '--detach', 'origin/topic'], {}, ci)
    runAs(repo, ['git', 'fetch', '--quiet', 'origin', '+refs/galley/*:refs/galley/*'], {}, ci)
    const json = (...args: readonly string[]) => cli(repo, ['verify', ...args, '--json'], ci)
    expect(json('origin/main~1..origin/main').json.counts).toMatchObject({ approved: 1, unapproved: 0 })
    const failed = json('origin/main..HEAD', '--onto', 'main')
    expect(failed.code).toBe(1)
    expect(failed.json).toMatchObject({
      ok: false,
      error: {
        code: 'unapproved',
        data: { onto: 'main', commits: [{ title: 'By hand', paths: ['b.txt'] }] },
      },
    })
    const sarif = cli(repo, ['verify', 'origin/main..HEAD', '--onto', 'main', '--sarif'], ci)
    expect(sarif.code).toBe(1)
    const { version, runs } = JSON.parse(sarif.stdout)
    expect(version).toBe('2.1.0')
    expect(runs[0].results[0]).toMatchObject({
      ruleId: 'unapproved',
      locations: [{ physicalLocation: { artifactLocation: { uri: 'b.txt' } } }],
    })
    expect(existsSync(join(ci.cwd, '.git/galley/store.git'))).toBe(false)
  })
})

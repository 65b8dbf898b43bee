import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { batch, gitInput, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { makeKey, signAs, signText, type TestKey } from '../helpers/signing.ts'

const append = { op: 'append', path: 'a.txt', content: 'b\n' }
const storeOf = (repo: TestRepo) => join(repo.dir, '.git/galley/store.git')
const inStore = (repo: TestRepo, ...args: readonly string[]) =>
  repo.git(`--git-dir=${storeOf(repo)}`, ...args)

/** A repository whose policy asks for signatures by those that a file of it names. */
function signedRepo(
  signers: (keys: { readonly ann: TestKey; readonly ben: TestKey }) => string,
  policy: object = {},
) {
  const repo = makeRepo()
  const [ann, ben] = [makeKey(repo, 'ann'), makeKey(repo, 'ben')]
  signAs(repo, { name: 'Ann', key: ann })
  const approval = { requires: 'signature' }
  repo.write(
    '.galley.json',
    JSON.stringify({ sign: 'ssh', allowedSigners: 'keys/signers', approval, ...policy }),
  )
  repo.write('keys/signers', signers({ ann, ben }))
  repo.write('a.txt', 'a\n')
  repo.commit('first')
  return { repo, ann, ben, [Symbol.dispose]: () => repo[Symbol.dispose]() }
}

const line = (name: string, key: TestKey, option = '') => `${name}@example.org ${option}${key.publicText}\n`
const bothAllowed = ({ ann, ben }: { ann: TestKey; ben: TestKey }) => line('ann', ann) + line('ben', ben)

const approvalRefs = (repo: TestRepo, id: string): readonly string[] =>
  inStore(repo, 'for-each-ref', '--format=%(refname)', `refs/galley/approvals/${id}`)
    .split('\n')
    .filter(Boolean)

/** Puts a tag object of one's own making where an approval stands. */
function putApproval(repo: TestRepo, id: string, text: string): string {
  const tag = gitInput(
    repo,
    [`--git-dir=${storeOf(repo)}`, 'hash-object', '-t', 'tag', '-w', '--stdin'],
    text,
  )
  inStore(repo, 'update-ref', `refs/galley/approvals/${id}/1/${tag.slice(0, 12)}`, tag)
  return tag
}

/** Takes an approval's tag apart: what is signed, and the signature. */
function takeTag(repo: TestRepo, ref: string) {
  const text = `${inStore(repo, 'cat-file', 'tag', ref)}\n`
  const at = text.indexOf('-----BEGIN')
  inStore(repo, 'update-ref', '-d', ref)
  return { payload: at === -1 ? text : text.slice(0, at), signature: at === -1 ? '' : text.slice(at) }
}

async function approved(repo: TestRepo) {
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: batch([append]) })
  await galley.approve({ id: change.id })
  const [ref = ''] = approvalRefs(repo, change.id)
  return { id: change.id, ref }
}

async function landing(repo: TestRepo, id: string) {
  await using galley = await openGalley(repo)
  return galley.land({ id })
}

describe('an approval under a policy that signs', () => {
  test('is signed as git signs tags, lands, and plain git verify-tag verifies it', async () => {
    using made = signedRepo(bothAllowed)
    const { repo } = made
    const before = repo.snapshot()
    const { id, ref } = await approved(repo)
    expect(repo.snapshot()).toEqual(before)
    const tag = inStore(repo, 'rev-parse', ref)
    expect(ref).toBe(`refs/galley/approvals/${id}/1/${tag.slice(0, 12)}`)
    const signers = join(repo.dir, 'keys/signers')
    inStore(repo, '-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-tag', tag)
    expect(inStore(repo, 'for-each-ref', 'refs/tags')).toBe('')
    const { landed } = await landing(repo, id)
    expect(repo.git('rev-parse', 'HEAD')).toBe(landed.after)
  })

  test.each(['sha1', 'sha256'] as const)(
    'is signed in a repository of %s from a linked work tree',
    async (objectFormat) => {
      using repo = makeRepo({ objectFormat })
      const ann = makeKey(repo, 'ann')
      signAs(repo, { name: 'Ann', key: ann })
      repo.write('.galley.json', '{"approval":{"requires":"signature"},"allowedSigners":"keys/signers"}')
      repo.write('keys/signers', line('ann', ann))
      repo.write('a.txt', 'a\n')
      repo.commit('first')
      const dir = join(repo.home, 'linked')
      repo.git('worktree', 'add', '--quiet', '-b', 'side', dir)
      await using galley = await openGalley(repo, { dir })
      const { change } = await galley.propose({ batch: batch([append]) })
      await galley.approve({ id: change.id })
      const { landed } = await galley.land({ id: change.id })
      expect(landed.ref).toBe('refs/heads/side')
    },
  )

  test('is refused to an agent at work, whatever key there is', async () => {
    using made = signedRepo(bothAllowed)
    await using galley = await openGalley(made.repo, { env: { GALLEY_AGENT: '1' } })
    const { change } = await galley.propose({ batch: batch([append]) })
    expect((await refusal(() => galley.approve({ id: change.id }))).code).toBe('agent-may-not-approve')
    expect(approvalRefs(made.repo, change.id)).toEqual([])
  })

  test('is refused when no key is set, or no program signs, and leaves nothing', async () => {
    using made = signedRepo(bothAllowed)
    const { repo } = made
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch([append]) })
    for (const [setting, said] of [
      ['gpg.ssh.program=/nonexistent/keygen', 'not installed'],
      [`user.signingKey=${join(repo.home, 'no-such-key')}`, 'did not sign'],
      ['user.signingKey=ABCD1234', 'did not sign'],
    ] as const) {
      const [key = '', value = ''] = setting.split('=')
      repo.git('config', key, value)
      await using again = await openGalley(repo)
      const found = await refusal(() => again.approve({ id: change.id }))
      expect(found).toMatchObject({ code: 'no-identity', message: expect.stringContaining(said) })
      repo.git('config', '--unset', key)
    }
    expect(approvalRefs(repo, change.id)).toEqual([])
    expect((await galley.show(change.id)).change.state).toBe('staged')
  })

  test('is refused at once when the list would not take the signature', async () => {
    using made = signedRepo(({ ben }) => line('ben', ben))
    await using galley = await openGalley(made.repo)
    const { change } = await galley.propose({ batch: batch([append]) })
    const found = await refusal(() => galley.approve({ id: change.id }))
    expect(found).toMatchObject({ code: 'not-approved', message: expect.stringContaining('ann@example.org') })
    expect(approvalRefs(made.repo, change.id)).toEqual([])
  })

  test('by a rule is not signed, and does not count where signatures are required', async () => {
    using made = signedRepo(bothAllowed, { autoApprove: { paths: ['*.txt'] } })
    await using galley = await openGalley(made.repo)
    const { change } = await galley.propose({ batch: batch([append]) })
    for (const ref of approvalRefs(made.repo, change.id))
      expect(inStore(made.repo, 'cat-file', 'tag', ref)).not.toContain('SIGNATURE')
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('not-approved')
  })
})

describe('a landing that requires a signature', () => {
  const forgeries: readonly (readonly [
    string,
    string,
    string,
    (context: {
      readonly repo: TestRepo
      readonly ann: TestKey
      readonly ben: TestKey
      readonly payload: string
      readonly signature: string
    }) => string,
  ])[] = [
    [
      'a body changed after signing',
      'forged',
      'does not hold',
      ({ payload, signature }) => payload.replace('"via": "cli"', '"via": "terminal"') + signature,
    ],
    [
      'another signature than that over the text',
      'forged',
      'does not hold',
      ({ repo, ann, payload }) => payload + signText(repo, ann, `${payload} `),
    ],
    [
      'a signature for another purpose',
      'forged',
      'namespace',
      ({ repo, ann, payload }) => payload + signText(repo, ann, payload, 'file'),
    ],
    [
      "one person's claim under another's key",
      'forged',
      'ben@example.org',
      ({ repo, ben, payload }) => payload + signText(repo, ben, payload),
    ],
    [
      'a key that nobody allowed',
      'not-approved',
      'not in the list',
      ({ repo, payload }) => payload + signText(repo, makeKey(repo, 'eve'), payload),
    ],
    ['no signature', 'not-approved', 'needed, found 0', ({ payload }) => payload],
    [
      'text after the signature',
      'forged',
      'follows the approval',
      ({ payload, signature }) => `${payload}${signature}x\n`,
    ],
    [
      'text before the signature',
      'forged',
      'follows the approval',
      ({ repo, ann, payload }) => `${payload}x\n${signText(repo, ann, `${payload}x\n`)}`,
    ],
    [
      'a signature of another kind',
      'forged',
      'follows the approval',
      ({ payload }) => `${payload}-----BEGIN PGP SIGNATURE-----\nabcd\n-----END PGP SIGNATURE-----\n`,
    ],
    [
      'a signature that is empty',
      'forged',
      'follows the approval',
      ({ payload }) => `${payload}-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n`,
    ],
  ]

  // A refusal leaves everything as it was, so that one repository serves them all.
  let shared: ReturnType<typeof makeGenuine> | null = null
  const genuine = () => (shared ??= makeGenuine())
  async function makeGenuine() {
    const made = signedRepo(bothAllowed)
    const { id, ref } = await approved(made.repo)
    return { made, id, ...takeTag(made.repo, ref) }
  }
  afterAll(async () => (await shared)?.made[Symbol.dispose]())

  test.each(forgeries)('refuses %s as %s', async (_what, code, said, forge) => {
    const { made, id, payload, signature } = await genuine()
    const { repo } = made
    const tag = putApproval(repo, id, forge({ ...made, payload, signature }))
    const before = repo.snapshot()
    const found = await refusal(() => landing(repo, id))
    expect(found).toMatchObject({ code, message: expect.stringContaining(said) })
    expect(repo.snapshot()).toEqual(before)
    inStore(repo, 'update-ref', '-d', `refs/galley/approvals/${id}/1/${tag.slice(0, 12)}`)
  })

  test('takes the genuine one beside a forged one', async () => {
    using made = signedRepo(bothAllowed)
    const { repo } = made
    const { id, ref } = await approved(repo)
    const tag = inStore(repo, 'rev-parse', ref)
    const { payload, signature } = takeTag(repo, ref)
    putApproval(repo, id, payload.replace('"via": "cli"', '"via": "web"') + signature)
    inStore(repo, 'update-ref', ref, tag)
    await landing(repo, id)
  })

  test('refuses a key that the list of now lets expire, and says when', async () => {
    using made = signedRepo(bothAllowed)
    const { repo, ann } = made
    const { id } = await approved(repo)
    repo.write('keys/signers', line('ann', ann, 'valid-before="20250101" '))
    repo.commit('her key has expired')
    const found = await refusal(() => landing(repo, id))
    expect(found).toMatchObject({ code: 'not-approved', message: expect.stringContaining('has expired') })
  })

  test('refuses a key that has been taken off the list', async () => {
    using made = signedRepo(bothAllowed)
    const { repo, ben } = made
    const { id } = await approved(repo)
    repo.write('keys/signers', line('ben', ben))
    repo.commit('she has left')
    expect(await refusal(() => landing(repo, id))).toMatchObject({ code: 'not-approved' })
  })

  test('asks the tip for the list: not the proposal, not the working tree, not .git/config', async () => {
    using made = signedRepo(({ ben }) => line('ben', ben))
    const { repo, ann, ben } = made
    repo.git('config', 'user.signingKey', ben.file)
    repo.git('config', 'user.email', 'ben@example.org')
    const { id, ref } = await approved(repo)
    const { payload } = takeTag(repo, ref)
    const hers = payload.replaceAll('ben@example.org', 'ann@example.org')
    putApproval(repo, id, hers + signText(repo, ann, hers))
    writeFileSync(join(repo.dir, 'keys/signers'), bothAllowed({ ann, ben }))
    repo.git('config', 'gpg.ssh.allowedSignersFile', join(repo.dir, 'keys/signers'))
    expect(await refusal(() => landing(repo, id))).toMatchObject({ code: 'not-approved' })
  })

  test('protects the list: a rule cannot approve a change of it', async () => {
    using made = signedRepo(bothAllowed, { approval: {}, autoApprove: { paths: ['**'], maxTier: 'indent' } })
    await using galley = await openGalley(made.repo)
    const { change } = await galley.propose({
      batch: batch([{ op: 'append', path: 'keys/signers', content: 'x\n' }]),
    })
    expect(change.state).toBe('staged')
  })

  test('takes the list from an absolute path, and never from inside the repository or from a configuration', async () => {
    using made = signedRepo(bothAllowed)
    const { repo, ann } = made
    const outside = join(repo.home, 'allowed')
    writeFileSync(outside, line('ann', ann))
    const cases = [
      { policy: outside, own: null, code: null },
      // The home is the account's, and not what the caller calls so.
      { policy: '~/allowed', own: null, code: 'not-approved' },
      { policy: null, own: outside, code: 'not-approved' },
      { policy: null, own: null, code: 'not-approved' },
      { policy: join(repo.dir, 'keys/signers'), own: null, code: 'not-approved' },
      { policy: join(repo.dir, '.git/signers'), own: null, code: 'not-approved' },
      { policy: join(repo.home, 'nowhere'), own: null, code: 'not-approved' },
    ]
    for (const { policy, own, code } of cases) {
      const named = policy === null ? {} : { allowedSigners: policy }
      writeFileSync(join(repo.dir, '.git/signers'), line('ann', ann))
      repo.write('.galley.json', JSON.stringify({ approval: { requires: 'signature' }, ...named }))
      repo.commit('policy')
      if (own !== null)
        appendFileSync(join(repo.home, 'gitconfig'), `[gpg "ssh"]\n\tallowedSignersFile = ${own}\n`)
      const task = async () => landing(repo, (await approved(repo)).id)
      if (code === null) await task()
      else expect(await refusal(task), `${policy}`).toMatchObject({ code })
      if (own !== null) repo.git('config', '--global', '--unset', 'gpg.ssh.allowedSignersFile')
    }
  })

  test('says so when there is no program to verify with', async () => {
    using made = signedRepo(bothAllowed)
    const { id } = await approved(made.repo)
    const path = join(made.repo.home, 'bin')
    mkdirSync(path)
    symlinkSync(execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim(), join(path, 'git'))
    const poor = { ...made.repo, env: { ...made.repo.env, PATH: path } }
    const found = await refusal(() => landing(poor, id))
    expect(found).toMatchObject({ code: 'not-approved', message: expect.stringContaining('ssh-keygen') })
    expect(found.hint).toContain('OpenSSH')
  })
})

describe('the number of approvals', () => {
  const two = { approval: { requires: 'signature', count: 2 } }
  const asBen = (repo: TestRepo, key: TestKey) => ({
    ...repo,
    env: { ...repo.env, GIT_COMMITTER_NAME: 'Ben', GIT_COMMITTER_EMAIL: 'ben@example.org' },
    key,
  })

  test('counts people: the same one twice is one, another makes two', async () => {
    using made = signedRepo(bothAllowed, two)
    const { repo, ben } = made
    const { id } = await approved(repo)
    await using galley = await openGalley(repo)
    await galley.approve({ id })
    expect(approvalRefs(repo, id)).toHaveLength(2)
    expect(await refusal(() => galley.land({ id }))).toMatchObject({
      code: 'not-approved',
      data: { needed: 2, found: 1 },
    })
    repo.git('config', 'user.signingKey', ben.file)
    await using other = await openGalley(asBen(repo, ben))
    await other.approve({ id })
    await other.land({ id })
  })

  test('counts keys: one key that is allowed for two addresses is one person', async () => {
    using made = signedRepo(({ ann }) => `ann@example.org,ben@example.org ${ann.publicText}\n`, two)
    const { repo, ann } = made
    const { id } = await approved(repo)
    await using other = await openGalley(asBen(repo, ann))
    await other.approve({ id })
    expect(await refusal(() => other.land({ id }))).toMatchObject({
      code: 'not-approved',
      message: expect.stringContaining('has approved as Ann'),
    })
  })

  test.each(['ben with ED25519 key SHA256:AAAA', 'ben with ED25519 key SHA256:AAAA '])(
    'counts keys, also where an address looks like one: %j',
    async (address) => {
      using made = signedRepo(({ ann }) => `* ${ann.publicText}\n`, two)
      const { repo, ann } = made
      const { id } = await approved(repo)
      const ben = asBen(repo, ann)
      await using other = await openGalley({ ...ben, env: { ...ben.env, GIT_COMMITTER_EMAIL: address } })
      await other.approve({ id })
      expect(await refusal(() => other.land({ id }))).toMatchObject({
        code: 'not-approved',
        message: expect.stringContaining('has approved as Ann'),
      })
    },
  )

  test('takes two unsigned ones where the policy asks for no more', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', '.galley.json': '{"approval":{"count":2}}' } })
    const { id } = await approved(repo)
    expect(await refusal(() => landing(repo, id))).toMatchObject({ code: 'not-approved' })
    await using other = await openGalley(asBen(repo, { file: '', publicText: '' }))
    await other.approve({ id })
    await landing(repo, id)
  })
})

describe('an approval that expires', () => {
  test('does not land after its hour, and lands before', async () => {
    using made = signedRepo(bothAllowed, {
      approval: { requires: 'signature', expiresAfterHours: 0.0000001 },
    })
    const { repo } = made
    const { id } = await approved(repo)
    expect(await refusal(() => landing(repo, id))).toMatchObject({ code: 'expired' })
    repo.write(
      '.galley.json',
      '{"approval":{"requires":"signature","expiresAfterHours":1},"allowedSigners":"keys/signers"}',
    )
    repo.commit('an hour')
    const again = await approved(repo)
    await landing(repo, again.id)
  })
})

describe('a policy that asks for a terminal', () => {
  test('does not take what a command line approved without one', async () => {
    using repo = makeRepo({
      files: { 'a.txt': 'a\n', '.galley.json': '{"approval":{"requires":"terminal"}}' },
    })
    const { id } = await approved(repo)
    expect(await refusal(() => landing(repo, id))).toMatchObject({
      code: 'not-approved',
      data: { requires: 'terminal' },
    })
  })
})

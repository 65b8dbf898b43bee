import { beforeAll, describe, expect, inject, test } from 'vitest'
import { batch, cli, cliHere, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { makeKey, signAs } from '../helpers/signing.ts'
import { asPerson, makeServer } from '../hook/hook-world.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

/** A guarded branch whose last commit broke the policy. */
function broken(
  text = '{"guard":["main"],"autoApprove":{"paths":["**"]},}',
  good: object | null = { guard: ['main'], autoApprove: { paths: ['**'] } },
) {
  const repo = makeRepo({
    files: { 'a.txt': 'one\n', ...(good === null ? {} : { '.galley.json': JSON.stringify(good) }) },
  })
  repo.write('.galley.json', text)
  repo.commit('broken')
  return repo
}

const mend = JSON.stringify(
  batch([{ op: 'write', path: '.galley.json', content: '{"guard":["main"]}\n', mode: 'overwrite' }]),
)

const propose = async (repo: TestRepo, input = mend) =>
  (await cliHere(repo, ['propose', '-', '--json'], { input })).json

describe('a committed policy that cannot be read is mended through galley:', () => {
  test.each([
    ['a comma too many', '{"guard":["main"],}'],
    ['a word that is no key', '{"guard":["main"],"gaurd":[]}'],
    ['no JSON at all', 'guard: [main]\n'],
    ['a file that is too large', `{"guard":["main"]}${' '.repeat(1024 * 1024)}`],
  ])('%s; each answer says so, and afterwards none does', async (_, text) => {
    using repo = broken(text)
    const proposed = await propose(repo)
    const { id, state } = proposed.change
    expect([state, proposed.notices.length]).toEqual(['staged', 1])
    expect(proposed.notices[0]).toMatch(/^\.galley\.json has .* each change needs a person\.$/)
    const said = await cliHere(repo, ['approve', id])
    expect([said.code, said.stderr]).toEqual([
      0,
      expect.stringMatching(/^galley: note: \.galley\.json has /m),
    ])
    expect((await cliHere(repo, ['land', id, '--json'])).json.notices.length).toBe(1)
    expect(repo.read('.galley.json')).toBe('{"guard":["main"]}\n')
    expect(
      (await propose(repo, JSON.stringify(batch([{ op: 'append', path: 'a.txt', content: 'x\n' }])))).notices,
    ).toBeUndefined()
  })

  test('also what a person did in the work tree, by capture', async () => {
    using repo = broken()
    repo.write('.galley.json', '{"guard":["main"]}\n')
    const captured = (await cliHere(repo, ['capture', '-m', 'mend', '--json'])).json
    expect((await cliHere(repo, ['land', captured.change.id, '--approve', '--json'])).code).toBe(0)
  })

  test('no rule approves meanwhile, no agent does, and what the last readable one asked for still counts', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const [good, foreign] = [makeKey(repo, 'good'), makeKey(repo, 'foreign')]
    signAs(repo, { name: 'Test', key: good })
    repo.write('signers', `test@example.org ${good.publicText}\n`)
    const signed = { sign: 'ssh', allowedSigners: 'signers', approval: { requires: 'signature' } }
    repo.write('.galley.json', JSON.stringify(signed))
    repo.commit('policy')
    repo.write('.galley.json', '{')
    repo.commit('broken')
    await using agent = await openGalley(repo, { env: { GALLEY_AGENT: 'bot' } })
    const { change } = await agent.propose({ batch: JSON.parse(mend) })
    const before = repo.snapshot()
    expect((await refusal(() => agent.approve({ id: change.id }))).code).toBe('agent-may-not-approve')
    repo.git('config', 'user.signingKey', foreign.file)
    const kept = repo.snapshot()
    await using person = await openGalley(repo)
    expect((await refusal(() => person.approve({ id: change.id }))).code).toBe('not-approved')
    expect((await refusal(() => person.land({ id: change.id }))).code).toBe('not-approved')
    expect(repo.snapshot()).toEqual(kept)
    repo.git('config', '--unset', 'user.signingKey')
    expect(repo.snapshot()).toEqual(before)
    await using again = await openGalley(repo)
    await again.approve({ id: change.id })
    await again.land({ id: change.id })
  })

  test('every verb that only looks goes on', async () => {
    using repo = broken()
    await propose(repo)
    for (const words of [['status'], ['read', 'a.txt'], ['verify', 'HEAD~1..HEAD'], ['log'], ['doctor']]) {
      const { code, json } = await cliHere(repo, [...words, '--json'])
      expect([words[0], code === 255 ? json.error : code !== 255]).toEqual([words[0], true])
      expect([words[0], json.error?.code]).not.toEqual([words[0], 'invalid-policy'])
    }
    const checked = await cliHere(repo, ['policy', 'check', '--json'])
    expect(checked.json.error.code).toBe('invalid-policy')
  })

  test('on a server that guards the branch, whose policy broke before it did', async () => {
    using repo = broken()
    using server = makeServer(repo)
    repo.write('a.txt', 'by hand\n')
    const byHand = repo.commit('by hand')
    const refused = asPerson(repo, 'push', 'origin', 'main')
    expect(refused.out).toMatch(/remote: galley: unapproved: /)
    expect(refused.out).toMatch(/remote: galley: note: \.galley\.json has /)
    repo.git('update-ref', 'refs/heads/main', `${byHand}~1`)
    repo.git('checkout', '--quiet', '--', '.')
    const { change } = await propose(repo)
    expect((await cliHere(repo, ['land', change.id, '--approve'])).code).toBe(0)
    expect(cli(repo, ['push', 'origin', '--with-branch', 'main']).code).toBe(0)
    expect(server.git('cat-file', 'blob', 'main:.galley.json')).toBe('{"guard":["main"]}')
  })
})

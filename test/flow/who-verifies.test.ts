import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, cliHere, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { makeKey, signAs, type TestKey } from '../helpers/signing.ts'

const line = (key: TestKey) => `test@example.org ${key.publicText}\n`

/** A guarded repository whose policy asks for signatures, and an approval by a key that nobody allows. */
async function withForeignApproval(allowedSigners: string | null) {
  const repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  const [good, foreign] = [makeKey(repo, 'good'), makeKey(repo, 'foreign')]
  signAs(repo, { name: 'Test', key: foreign })
  const approval = { requires: 'signature' }
  repo.write('signers', line(foreign))
  repo.write('.galley.json', JSON.stringify({ sign: 'ssh', allowedSigners: 'signers', approval }))
  repo.commit('policy')
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({
    batch: batch([{ op: 'write', path: 'a.txt', content: 'two\n' }]),
  })
  await galley.approve({ id: change.id })
  repo.write('signers', line(good))
  const named = allowedSigners === null ? {} : { allowedSigners }
  repo.write('.galley.json', JSON.stringify({ guard: ['main'], sign: 'ssh', ...named, approval }))
  repo.commit('it counts no more')
  return { repo, id: change.id, good, foreign, [Symbol.dispose]: () => repo[Symbol.dispose]() }
}

/** A program that calls every signature good, and a list that allows the foreign key: named in each place that a caller can write. */
function hostile(repo: TestRepo, foreign: TestKey) {
  const [program, list] = [join(repo.home, 'yes'), join(repo.home, 'list')]
  const said =
    'Good "git" signature for test@example.org with ED25519 key SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
  writeFileSync(program, `#!/bin/sh\necho '${said}'\n`, { mode: 0o755 })
  writeFileSync(list, line(foreign))
  const who = '[user]\n\tname = Test\n\temail = test@example.org\n'
  const text = `${who}[gpg]\n\tprogram = ${program}\n[gpg "ssh"]\n\tprogram = ${program}\n\tallowedSignersFile = ${list}\n`
  const home = join(repo.home, 'other')
  mkdirSync(join(home, 'git'), { recursive: true })
  for (const name of ['.gitconfig', 'git/config', 'given']) writeFileSync(join(home, name), text)
  writeFileSync(join(home, 'signers'), line(foreign))
  const settings = { 'gpg.ssh.program': program, 'gpg.ssh.allowedSignersFile': list }
  const counted = Object.entries(settings).flatMap(([key, value], n) => [
    [`GIT_CONFIG_KEY_${n}`, key],
    [`GIT_CONFIG_VALUE_${n}`, value],
  ])
  return {
    GIT_CONFIG_GLOBAL: { GIT_CONFIG_GLOBAL: join(home, 'given') },
    GIT_CONFIG_SYSTEM: { GIT_CONFIG_SYSTEM: join(home, 'given'), GIT_CONFIG_NOSYSTEM: '0' },
    HOME: { HOME: home, GIT_CONFIG_GLOBAL: join(home, '.gitconfig') },
    XDG_CONFIG_HOME: { XDG_CONFIG_HOME: home, GIT_CONFIG_GLOBAL: join(home, 'git/config') },
    GIT_CONFIG_COUNT: { GIT_CONFIG_COUNT: '2', ...Object.fromEntries(counted) },
    GIT_CONFIG_PARAMETERS: { GIT_CONFIG_PARAMETERS: `'gpg.ssh.program=${program}'` },
  }
}

describe('what the caller names verifies no signature:', () => {
  test.each(['signers', null])(
    'a landing and a verifier refuse, the policy’s list being %s',
    async (named) => {
      using made = await withForeignApproval(named)
      const { repo, id, foreign } = made
      repo.git('config', 'gpg.ssh.program', join(repo.home, 'yes'))
      for (const [place, env] of Object.entries(hostile(repo, foreign))) {
        await using galley = await openGalley(repo, { env })
        const before = repo.snapshot()
        expect(await refusal(() => galley.land({ id })), place).toMatchObject({ code: 'not-approved' })
        expect(repo.snapshot()).toEqual(before)
      }
      // Landed by hand as though it counted.
      const base = repo.git('rev-parse', 'HEAD')
      repo.write('a.txt', 'two\n')
      repo.commit(`A change\n\nGalley-Change: ${id}`)
      for (const [place, env] of Object.entries(hostile(repo, foreign))) {
        await using galley = await openGalley(repo, { env })
        const found = await galley.verify({ range: `${base}..HEAD` })
        expect([place, found.commits.map((one) => one.verdict)]).toEqual([place, ['unapproved']])
      }
    },
  )

  test('the home in a policy’s path is the account’s, and not what HOME says', async () => {
    using made = await withForeignApproval('~/signers')
    const { repo, id, foreign } = made
    hostile(repo, foreign)
    await using galley = await openGalley(repo, { env: { HOME: join(repo.home, 'other') } })
    expect(await refusal(() => galley.land({ id }))).toMatchObject({ code: 'not-approved' })
  })

  test('a verifier goes by the list on its own command line', async () => {
    using made = await withForeignApproval('signers')
    const { repo, id, foreign } = made
    repo.write('a.txt', 'two\n')
    repo.commit(`A change\n\nGalley-Change: ${id}`)
    const list = join(repo.home, 'of the verifier')
    writeFileSync(list, line(foreign))
    const ask = async (...more: readonly string[]) => {
      const { json } = await cliHere(repo, ['verify', 'HEAD~1..HEAD', ...more, '--json'])
      return json.ok === false ? json.error.code : json.commits[0].verdict
    }
    expect(await ask()).toBe('unapproved')
    expect(await ask('--allowed-signers', list)).toBe('approved')
    expect(await ask('--allowed-signers', join(repo.dir, 'signers'))).toBe('not-approved')
    expect(await ask('--allowed-signers', join(repo.home, 'nowhere'))).toBe('not-approved')
  })
})

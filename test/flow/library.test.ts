import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const edit = { op: 'write', path: 'new.txt', content: 'n\n', mode: 'create' } as const

describe('the library does what the verbs do', () => {
  test('apply proposes, approves and lands; an agent may not', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using agent = await openGalley(repo, { env: { GALLEY_AGENT: 'robot' } })
    const before = repo.snapshot()
    const refused = await refusal(() => agent.apply({ batch: batch([edit]) }))
    expect(refused.code).toBe('agent-may-not-approve')
    expect(repo.snapshot()).toEqual(before)
    expect((await agent.status()).pending).toEqual([])
    await using galley = await openGalley(repo)
    const { change, landed } = await galley.apply({ batch: batch([edit]) })
    expect([change.state, landed?.after, repo.read('new.txt')]).toEqual([
      'landed',
      repo.git('rev-parse', 'HEAD'),
      'n\n',
    ])
  })

  test('check runs the checks again, checkPolicy lists faults, recover and purge tidy up', async () => {
    using repo = makeRepo({
      files: {
        '.galley.json': JSON.stringify({
          checks: { commands: [{ name: 'it', run: ['test', '-e', 'new.txt'] }] },
        }),
      },
    })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch([edit]) })
    expect((await galley.check({ id: change.id })).change.checks.map((c) => c.outcome)).toEqual(['passed'])
    expect((await galley.checkPolicy()).exists).toBe(true)
    repo.write('.galley.json', '{"chekcs":{}}')
    expect((await refusal(() => galley.checkPolicy())).code).toBe('invalid-policy')
    expect((await galley.checkPolicy({ ofHead: true })).exists).toBe(true)
    expect(await galley.recover()).toEqual({ landings: [], recorded: [] })
    expect((await refusal(() => galley.purge())).code).toBe('wrong-state')
    expect((await galley.purge({ force: true })).pending).toEqual([change.id])
    expect(existsSync(join(repo.dir, '.git/galley'))).toBe(false)
  })

  test('purge is for a person: with --force too, an agent is refused and nothing goes; it may look at what would', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch([edit]) })
    await using agent = await openGalley(repo, { env: { GALLEY_AGENT: 'robot' } })
    const before = repo.snapshot()
    expect(await refusal(() => agent.purge({ force: true }))).toMatchObject({
      code: 'agent-may-not-approve',
      message: expect.not.stringContaining('approve'),
      hint: 'Ask a person to run `galley purge` in their own terminal.',
    })
    expect((await agent.purge({ dryRun: true })).removed).toContain(join(repo.dir, '.git/galley'))
    expect(repo.snapshot()).toEqual(before)
    expect((await galley.show(change.id)).change.state).toBe('staged')
  })
})

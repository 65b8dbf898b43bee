import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { landChange } from '../flow/verify-world.ts'
import { cli } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { galley, makeServer, runAs } from './hook-world.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

/** What a program of node's is run with so that its clock is two hours ahead. */
function twoHoursLater(repo: TestRepo): Record<string, string> {
  const file = join(repo.home, 'later.cjs')
  writeFileSync(
    file,
    'const D = Date, by = 7200000; global.Date = class extends D { constructor(...a) { a.length ? super(...a) : super(D.now() + by) } static now() { return D.now() + by } }',
  )
  return { NODE_OPTIONS: `--require ${file}` }
}

const policy = (approval: object) => JSON.stringify({ guard: ['main'], approval })

describe('a change that landed in time and is pushed after its approval expired', () => {
  test('is refused with a way that works: it is approved anew; that is no second use of it', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', '.galley.json': policy({ expiresAfterHours: 1 }) } })
    using server = makeServer(repo)
    const { id, commit } = await landChange(repo, 'Two', { 'a.txt': 'two\n' })
    galley(repo, 'push', 'origin')
    const later = twoHoursLater(repo)
    const push = () => runAs(repo, ['git', 'push', 'origin', 'main'], later)
    const refused = push()
    expect(refused.code).toBe(1)
    expect(refused.out).toMatch(/unapproved: .* expired at /)
    expect(refused.out).toContain(`\`galley approve ${id}\``)
    expect(cli(repo, ['approve', id, '--json'], { env: later }).code).toBe(0)
    expect(cli(repo, ['push', 'origin', '--json'], { env: later }).code).toBe(0)
    expect(push().code).toBe(0)
    expect(server.git('rev-parse', 'main')).toBe(commit)
    expect(cli(repo, ['show', id, '--json']).json.change.state).toBe('landed')
    // Undone, and brought back by hand: the second approval is one of the same change, which is used up.
    expect(cli(repo, ['undo', id, '--yes'], { env: later }).code).toBe(0)
    expect(cli(repo, ['push', 'origin', '--with-branch', 'main'], { env: later }).code).toBe(0)
    repo.git('cherry-pick', '--no-edit', commit)
    expect(push()).toMatchObject({
      code: 1,
      out: expect.stringMatching(/remote: galley: (unapproved|forged)/),
    })
  })

  test('is not approved anew where approvals do not expire, nor by an agent', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', '.galley.json': policy({}) } })
    const { id } = await landChange(repo, 'Two', { 'a.txt': 'two\n' })
    expect(cli(repo, ['approve', id, '--json']).json.error.code).toBe('wrong-state')
    const byAgent = cli(repo, ['approve', id, '--json'], { env: { GALLEY_AGENT: 'bot' } })
    expect(byAgent.json.error.code).toBe('agent-may-not-approve')
  })
})

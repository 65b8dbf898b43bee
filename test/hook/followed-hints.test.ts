import { beforeAll, describe, expect, inject, test } from 'vitest'
import { approveChange, guardMain, landChange } from '../flow/verify-world.ts'
import { cli } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { asAgent, asPerson, galley, makeServer } from './hook-world.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

/** Every hint of a refusal here is obeyed to the letter, and what was refused goes through. */
const files = { 'a.txt': 'one\n', ...guardMain }

/** The commands that a hint names, in their order. */
const commandsIn = (text: string): readonly string[] =>
  [...text.replace(/\s*remote: */g, ' ').matchAll(/`((?:git|galley) [^`]+)`/g)].map((match) => match[1] ?? '')

function obey(repo: TestRepo, command: string): void {
  const [program, ...args] = command.split(' ')
  if (program === 'galley') galley(repo, ...args)
  else expect(asPerson(repo, ...args)).toMatchObject({ code: 0 })
}

const lastId = (repo: TestRepo): string => cli(repo, ['log', '-n', '1', '--json']).json.changes[0].id

describe('verify', () => {
  test('of a commit by hand says how it becomes a change', () => {
    using repo = makeRepo({ files })
    repo.write('a.txt', 'by hand\n')
    repo.commit('By hand')
    const refused = cli(repo, ['verify', 'main~1..main'])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('unapproved')])
    const start = repo.git('rev-parse', 'HEAD~1')
    const [, , reset = '', capture = ''] = commandsIn(refused.stderr)
    for (const command of [reset, capture]) obey(repo, command)
    galley(repo, 'land', lastId(repo), '--approve')
    expect(repo.read('a.txt')).toBe('by hand\n')
    galley(repo, 'verify', `${start}..main`)
  })

  test('of a commit that names a change falsely says the same', async () => {
    using repo = makeRepo({ files })
    const { id } = await approveChange(repo, 'One', { 'a.txt': 'two\n' })
    repo.write('a.txt', 'other\n')
    repo.commit(`One\n\nGalley-Change: ${id}`)
    const refused = cli(repo, ['verify', 'main~1..main'])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('forged')])
    const start = repo.git('rev-parse', 'HEAD~1')
    const [, , reset = '', capture = ''] = commandsIn(refused.stderr)
    for (const command of [reset, capture]) obey(repo, command)
    galley(repo, 'land', lastId(repo), '--approve')
    galley(repo, 'verify', `${start}..main`)
  })

  test('of a range that is no step of the branch names the one that can be looked at', async () => {
    using repo = makeRepo({ files })
    repo.git('branch', 'topic')
    await landChange(repo, 'On main', { 'b.txt': 'b\n' })
    repo.git('checkout', '-q', 'topic')
    await landChange(repo, 'On topic', { 'a.txt': 'two\n' })
    const refused = cli(repo, ['verify', 'main..topic'])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('usage')])
    for (const command of commandsIn(refused.stderr)) obey(repo, command)
    repo.git('rebase', '-q', 'main')
    galley(repo, 'verify', 'main..topic')
  })

  test('of a range that names no commit gives one that does', () => {
    using repo = makeRepo({ files })
    for (let n = 0; n < 12; n++) repo.commit(`commit ${n}`)
    const refused = cli(repo, ['verify', 'nowhere..main'])
    expect(refused.code).toBe(2)
    expect(commandsIn(refused.stderr)).toEqual(['galley verify main~10..main'])
    obey(repo, 'galley verify main~10..main')
  })
})

describe('the hooks', () => {
  test('of a repository let a commit of an agent through as a change', () => {
    using repo = makeRepo({ files })
    galley(repo, 'hooks', 'install')
    repo.write('a.txt', 'agent\n')
    repo.git('add', '--all')
    const refused = asAgent(repo, 'commit', '-m', 'Agent')
    expect(refused.code).toBe(1)
    const [capture = ''] = commandsIn(refused.out)
    obey(repo, `${capture} -m Agent`)
    galley(repo, 'land', lastId(repo), '--approve')
    expect(repo.git('log', '-1', '--format=%s')).toBe('Agent')
  })

  test('of a server say how a branch that lost commits goes on', async () => {
    using repo = makeRepo({ files })
    using server = makeServer(repo)
    await landChange(repo, 'One', { 'a.txt': 'two\n' })
    galley(repo, 'push', 'origin', '--with-branch', 'main')
    repo.git('reset', '-q', '--hard', 'HEAD~1')
    await landChange(repo, 'Other', { 'b.txt': 'b\n' })
    galley(repo, 'push', 'origin')
    const refused = asPerson(repo, 'push', '--force', 'origin', 'main')
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('may not lose commits')])
    const [fetch = '', rebase = ''] = commandsIn(refused.out)
    for (const command of [fetch, rebase]) obey(repo, command)
    galley(repo, 'push', 'origin', '--with-branch', 'main')
    expect(server.git('log', '--format=%s', '-2', 'main')).toBe('Other\nOne')
  })

  test('of a server say how a branch may be deleted', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', '.galley.json': '{ "guard": ["main", "old"] }\n' } })
    using server = makeServer(repo)
    expect(asPerson(repo, 'push', 'origin', 'main:old').code).toBe(0)
    const refused = asPerson(repo, 'push', 'origin', ':old')
    expect([refused.code, refused.out]).toEqual([1, expect.stringMatching(/Take the branch out of `guard`/)])
    repo.git('checkout', '-q', '-b', 'old')
    await landChange(repo, 'Free it', { '.galley.json': '{ "guard": ["main"] }\n' })
    galley(repo, 'push', 'origin', '--with-branch', 'old')
    expect(asPerson(repo, 'push', 'origin', ':old').code).toBe(0)
    expect(server.tryGit('rev-parse', '--verify', 'old').code).not.toBe(0)
  })

  test('of a server say how a branch that was merged the wrong way round goes on', async () => {
    using repo = makeRepo({ files })
    using _ = makeServer(repo)
    repo.git('checkout', '-q', '-b', 'topic')
    await landChange(repo, 'Topic', { 'b.txt': 'b\n' })
    repo.git('checkout', '-q', 'main')
    await landChange(repo, 'Main', { 'a.txt': 'two\n' })
    galley(repo, 'push', 'origin', '--with-branch', 'main')
    const main = repo.git('rev-parse', 'main')
    repo.git('checkout', '-q', 'topic')
    repo.git('merge', '-q', '--no-edit', 'main')
    repo.git('branch', '-q', '-f', 'main', 'topic')
    const refused = asPerson(repo, 'push', 'origin', 'main')
    expect(refused.code).toBe(1)
    expect(commandsIn(refused.out)[0]).toBe('git merge <the other>')
    repo.git('checkout', '-q', '-B', 'main', main)
    repo.git('merge', '-q', '--no-edit', 'topic~1')
    galley(repo, 'push', 'origin', '--with-branch', 'main')
  })
})

describe('push', () => {
  test('of a branch that moved there says what brings both together', async () => {
    using repo = makeRepo({ files })
    using _ = makeServer(repo)
    await landChange(repo, 'One', { 'a.txt': 'two\n' })
    galley(repo, 'push', 'origin', '--with-branch', 'main')
    repo.git('reset', '-q', '--hard', 'HEAD~1')
    await landChange(repo, 'Other', { 'b.txt': 'b\n' })
    const refused = cli(repo, ['push', 'origin', '--with-branch', 'main'])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('branch-moved')])
    for (const command of commandsIn(refused.stderr)) obey(repo, command)
    galley(repo, 'push', 'origin', '--with-branch', 'main')
  })

  test('of a branch that is none says where the names are', () => {
    using repo = makeRepo({ files })
    using _ = makeServer(repo)
    const refused = cli(repo, ['push', 'origin', '--with-branch', 'nowhere'])
    expect(refused.code).toBe(1)
    expect(commandsIn(refused.stderr)).toEqual(['git branch'])
  })
})

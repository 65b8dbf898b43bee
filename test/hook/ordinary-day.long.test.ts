import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { approveChange, guardMain, landChange, linesOf, verifyRange } from '../flow/verify-world.ts'
import { cli } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { asAgent, asPerson, galley, makeServer, runAs } from './hook-world.ts'
import { writeScript } from './managers.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

/** Somebody else's work, on the remote's main. */
function othersCommit(repo: TestRepo): void {
  const there = `--git-dir=${repo.git('remote', 'get-url', 'origin')}`
  const commit = repo.git(there, 'commit-tree', '-p', 'main', '-m', 'Others', 'main^{tree}')
  repo.git(there, 'update-ref', 'refs/heads/main', commit)
}

/** Everything that a day brings. Each must end well; the name of the one that does not is what the test shows. */
function aDay(repo: TestRepo): readonly string[] {
  const failed: string[] = []
  const day = (...args: readonly string[]) => {
    const editors = { GIT_SEQUENCE_EDITOR: "sed -i -e '2s/^pick/squash/'", GIT_EDITOR: 'true' }
    const result = runAs(repo, ['git', ...args], editors)
    if (result.code !== 0) failed.push(`git ${args.join(' ')}: ${result.out}`)
  }
  const edit = (name: string, content: string) => {
    repo.write(name, content)
    day('add', name)
  }
  edit('a.txt', 'two\n')
  day('commit', '-m', 'Work')
  edit('b.txt', 'b\n')
  day('commit', '--amend', '--no-edit')
  edit('c.txt', 'c\n')
  edit('d.txt', 'd\n')
  day('commit', '-m', 'Half', '--', 'c.txt')
  day('commit', '-m', 'Other half')
  day('checkout', '-b', 'side', 'HEAD~2')
  edit('s.txt', 's\n')
  day('commit', '-m', 'Side')
  day('checkout', '-')
  day('merge', '--no-ff', '-m', 'Merge', 'side')
  day('revert', '--no-edit', '-m', '1', 'HEAD')
  day('cherry-pick', 'side')
  edit('e.txt', 'e\n')
  day('commit', '-m', 'To be squashed')
  day('rebase', '-i', 'HEAD~2')
  repo.write('a.txt', 'three\n')
  day('stash')
  day('stash', 'pop')
  day('checkout', '--', 'a.txt')
  day('tag', 'v1')
  day('branch', 'doomed')
  day('branch', '-D', 'doomed')
  day('pack-refs', '--all')
  day('gc', '--quiet')
  day('worktree', 'add', '-q', '-b', 'elsewhere', '../elsewhere')
  day('worktree', 'remove', '../elsewhere')
  day('fetch', '--quiet', 'origin')
  othersCommit(repo)
  day('pull', '--quiet', '--no-rebase', '--no-edit', 'origin', 'main')
  othersCommit(repo)
  day('pull', '--quiet', '--rebase', 'origin', 'main')
  day('push', '--quiet', 'origin', 'HEAD:refs/heads/mine')
  day('reset', '--quiet', '--hard', 'HEAD~1')
  day('switch', '--quiet', '--detach', 'HEAD~1')
  day('switch', '--quiet', '-')
  return failed
}

describe('the ordinary day of a person', () => {
  test('where only agents are guarded: nothing is refused, and node is never started', () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', '.galley.json': '{ "protect": ["x"] }\n' } })
    using _server = makeServer(repo)
    galley(repo, 'hooks', 'install', '--reference-transaction')
    // In place of galley: something that would be noticed.
    for (const name of [
      'pre-commit',
      'pre-merge-commit',
      'commit-msg',
      'pre-push',
      'reference-transaction',
    ]) {
      const path = join(repo.dir, '.git/hooks', name)
      const text = readFileSync(path, 'utf8').replace(
        /^node='[^']*' galley='[^']*'/m,
        () => `node='${repo.home}/node' galley='${path}'`,
      )
      writeScript(path, text)
    }
    writeScript(join(repo.home, 'node'), `#!/bin/sh\necho "$*" >> '${repo.home}/ran'\nexit 1\n`)
    expect(aDay(repo)).toEqual([])
    expect(existsSync(join(repo.home, 'ran'))).toBe(false)
    // That it would have been noticed:
    repo.write('a.txt', 'agent\n')
    expect(asAgent(repo, 'commit', '-am', 'Its').code).toBe(1)
    expect(existsSync(join(repo.home, 'ran'))).toBe(true)
  })

  test('on a branch beside a guarded one', () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    using _server = makeServer(repo)
    galley(repo, 'hooks', 'install', '--reference-transaction')
    repo.git('checkout', '--quiet', '-b', 'topic')
    expect(aDay(repo)).toEqual([])
  })

  test('a pull brings what others landed on the guarded branch', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    using server = makeServer(repo)
    galley(repo, 'hooks', 'install', '--reference-transaction')
    // Somebody else's landing, whose approval is in their store and on the server.
    runAs(repo, ['git', 'clone', '--quiet', server.dir, '../other'])
    const other = { cwd: join(repo.home, 'other') }
    writeFileSync(
      join(repo.home, 'batch.json'),
      JSON.stringify({
        version: 1,
        title: 'Theirs',
        edits: [{ op: 'write', path: 'a.txt', content: 'theirs\n' }],
      }),
    )
    const { json } = cli(repo, ['propose', '../batch.json', '--json'], other)
    expect(cli(repo, ['land', json.change.id, '--approve'], other).code).toBe(0)
    const refs = ['changes', 'approvals', 'log'].map((kind) => `refs/galley/${kind}/*:refs/galley/${kind}/*`)
    const store = ['git', '--git-dir=.git/galley/store.git']
    expect(runAs(repo, [...store, 'push', '--quiet', server.dir, ...refs], {}, other).code).toBe(0)
    expect(runAs(repo, ['git', 'push', '--quiet', 'origin', 'main'], {}, other)).toEqual({ code: 0, out: '' })
    expect(asPerson(repo, 'pull', '--quiet', '--ff-only', 'origin', 'main')).toEqual({ code: 0, out: '' })
    expect(repo.read('a.txt')).toBe('theirs\n')
  })
})

describe('an agent', () => {
  test('commits what was approved, on any branch, and nothing more', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    galley(repo, 'hooks', 'install', '--reference-transaction')
    await approveChange(repo, 'Two', { 'a.txt': 'two\n', 'b.txt': 'b\n' })
    repo.write('a.txt', 'two\n')
    repo.write('b.txt', 'b\n')
    // A part of it, by the index; then by a path; then more than it.
    repo.git('add', 'a.txt')
    expect(asAgent(repo, 'commit', '-m', 'Part').out).toMatch(
      /one path that no approval covers[\s\S]*\n {2}a\.txt\n/,
    )
    expect(asAgent(repo, 'commit', '-m', 'Part', '--', 'a.txt').code).not.toBe(0)
    repo.write('c.txt', 'c\n')
    repo.git('add', '--all')
    const more = asAgent(repo, 'commit', '-m', 'More')
    expect(more.out).toMatch(/galley: unapproved: this commit changes one path that no approval covers/)
    expect(more.out).toMatch(/\n {2}c\.txt\n/)
    expect(more.out).toMatch(/hint: .*galley capture --staged.*A person may approve it/)
    repo.git('rm', '--quiet', '--cached', 'c.txt')
    expect(asAgent(repo, 'commit', '--quiet', '-m', 'Whole')).toEqual({ code: 0, out: '' })
    expect(linesOf(await verifyRange(repo, 'HEAD~1..'))).toEqual(['approved Whole'])
    // Once: taken back and made again it is not approved any more.
    repo.git('revert', '--no-edit', 'HEAD')
    repo.write('a.txt', 'two\n')
    repo.write('b.txt', 'b\n')
    repo.git('add', 'a.txt', 'b.txt')
    expect(asAgent(repo, 'commit', '-m', 'Again').out).toMatch(/was approved once/)
  })

  test('lands an approved change through its own hooks', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    galley(repo, 'hooks', 'install', '--reference-transaction')
    const { id } = await approveChange(repo, 'Two', { 'a.txt': 'two\n' })
    expect(cli(repo, ['land', id], { env: { CLAUDECODE: '1' } }).stderr).toBe('')
    expect(repo.read('a.txt')).toBe('two\n')
  })

  test('with an expired approval is told so', async () => {
    const policy = '{ "approval": { "expiresAfterHours": 0.00001 } }\n'
    using repo = makeRepo({ files: { 'a.txt': 'one\n', '.galley.json': policy } })
    galley(repo, 'hooks', 'install')
    await approveChange(repo, 'Two', { 'a.txt': 'two\n' })
    repo.write('a.txt', 'two\n')
    expect(asAgent(repo, 'commit', '-am', 'Late').out).toMatch(/expired/)
  })

  test('may not drop commits of a guarded branch', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    await landChange(repo, 'Two', { 'a.txt': 'two\n' })
    galley(repo, 'hooks', 'install', '--reference-transaction')
    const result = asAgent(repo, 'reset', '--quiet', '--hard', 'HEAD~1')
    expect(result.out).toMatch(/moving main is not approved .*it would drop commits/)
    expect(repo.git('log', '-1', '--format=%s', 'main')).toBe('Two')
  })

  test('merges approved work into a guarded branch, and no other', async () => {
    const middle = '1\n2\n3\n4\n5\n6\n7\n8\n'
    using repo = makeRepo({
      files: { 'a.txt': 'one\n', 'm.txt': '1\n', 'two-sides.txt': middle, ...guardMain },
    })
    repo.git('checkout', '--quiet', '-b', 'topic')
    await landChange(repo, 'Two', { 'a.txt': 'two\n' })
    repo.git('checkout', '--quiet', 'main')
    await landChange(repo, 'Main', { 'm.txt': '2\n' })
    galley(repo, 'hooks', 'install', '--reference-transaction')
    expect(asAgent(repo, 'merge', '--quiet', '--no-edit', 'topic')).toEqual({ code: 0, out: '' })
    // Both sides changed one file: no approval knows the bytes that come of it, and the merge is clean all the same.
    repo.git('checkout', '--quiet', '-b', 'above')
    await landChange(repo, 'Above', { 'two-sides.txt': `above\n${middle}` })
    repo.git('checkout', '--quiet', 'main')
    await landChange(repo, 'Below', { 'two-sides.txt': `${middle}below\n` })
    expect(asAgent(repo, 'merge', '--quiet', '--no-edit', 'above').code).toBe(0)
    repo.git('checkout', '--quiet', '-b', 'other', 'HEAD~1')
    repo.write('o.txt', 'o\n')
    repo.commit('Unapproved')
    repo.git('checkout', '--quiet', 'main')
    expect(asAgent(repo, 'merge', '--quiet', '--no-edit', 'other').out).toMatch(/galley: unapproved/)
  })
})

describe('commit-msg', () => {
  test('tells a person of a claim that is not so, and stops an agent', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    galley(repo, 'hooks', 'install')
    await landChange(repo, 'Two', { 'a.txt': 'two\n' })
    repo.write('a.txt', 'three\n')
    const person = asPerson(repo, 'commit', '--quiet', '--all', '--amend', '--no-edit')
    expect(person.code).toBe(0)
    expect(person.out).toMatch(/galley: note: it names g/)
    expect(asPerson(repo, 'commit', '--quiet', '--amend', '-m', 'Mine')).toEqual({ code: 0, out: '' })
    const claim = 'Its\n\nGalley-Change: g000000000'
    expect(asAgent(repo, 'commit', '--quiet', '--allow-empty', '-m', claim).out).toMatch(/galley: forged/)
  })

  test('does not take the diff of a verbose commit for a claim', async () => {
    using repo = makeRepo({ files: { 'doc.txt': 'Galley-Change: g000000000\nx\n' } })
    galley(repo, 'hooks', 'install')
    repo.write('doc.txt', 'Galley-Change: g000000000\ny\n')
    const result = runAs(repo, ['git', 'commit', '--quiet', '--all', '--verbose'], {
      GIT_EDITOR: "sed -i '1s/^/Doc/'",
    })
    expect(result).toEqual({ code: 0, out: '' })
  })
})

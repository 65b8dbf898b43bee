import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { writeScript } from '../hook/managers.ts'

const hook = (repo: TestRepo, name: string, lines: string): void =>
  writeScript(join(repo.dir, '.git/hooks', name), `#!/bin/sh\nout='${repo.home}/ran'\n${lines}\n`)

const heard = (repo: TestRepo): string => readFileSync(join(repo.home, 'ran'), 'utf8')

const two = (text = 'two\n') => batch([{ op: 'write', path: 'a.txt', content: text }], { title: 'Two' })

async function landTwo(repo: TestRepo): Promise<string> {
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: two() })
  await galley.approve({ id: change.id })
  await galley.land({ id: change.id })
  return change.id
}

/** A repository with a remote that its branch follows. */
function makeFollowing(branch: string): TestRepo {
  const repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  const far = join(repo.home, 'far.git')
  repo.git('init', '-q', '--bare', far)
  repo.git('remote', 'add', 'origin', far)
  repo.git('push', '-q', '-u', 'origin', 'main')
  repo.git('checkout', '-q', '-b', branch, '--track', 'origin/main')
  repo.git('tag', '-a', 'v1', '-m', 'one')
  return repo
}

describe("the team's own hooks", () => {
  test('are told of branch, upstream, remotes, tags and settings what a commit of the user tells them', async () => {
    using repo = makeFollowing('ABC-12-clock')
    repo.git('config', 'team.prefix', 'Clock "one" \\ two; # three')
    repo.git('config', 'team.Some.Thing.list', 'first')
    repo.git('config', '--add', 'team.Some.Thing.list', 'second\nline')
    const asks = [
      'symbolic-ref HEAD',
      'branch --show-current',
      'rev-parse --abbrev-ref @{upstream}',
      'rev-list --count @{upstream}..HEAD',
      'remote -v show -n',
      'rev-parse origin/main v1 v1^{}',
      'describe --always',
      'config team.prefix',
      'config --get-all team.Some.Thing.list',
      'config user.email',
      'diff --cached --name-only',
      'stash list',
    ]
    // A push goes nowhere from a tree; all else is as at home.
    const lines = asks.map((ask) => `git ${ask} | grep -v '(push)' >> "$out" 2>&1`).join('\n')
    hook(repo, 'pre-commit', `: > "$out"\n${lines}\n:`)
    repo.write('a.txt', 'mine\n')
    repo.git('commit', '-q', '-a', '-m', 'mine')
    const home = heard(repo).split('\n')
    await using galley = await openGalley(repo)
    await galley.propose({ batch: two() })
    // The user's commit is before the one that is asked about now.
    const ahead = home.indexOf('0')
    expect(heard(repo).split('\n')).toEqual(
      home.map((line, at) =>
        at === ahead ? '1' : line.replace(/^v1$|^v1-\d+-g\w+$/, repo.git('describe', '--always')),
      ),
    )
  })

  test.each([
    ['symbolic-ref', 'git symbolic-ref --short HEAD'],
    ['branch', 'git branch --show-current'],
  ])('that guard a branch by %s guard it against a landing too', async (_, ask) => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(repo, 'pre-commit', `[ "$(${ask})" != main ] || { echo not on main; exit 1; }`)
    const before = repo.snapshot()
    expect((await refusal(() => landTwo(repo))).code).toBe('checks-failed')
    expect(repo.snapshot()).toEqual(before)
    repo.git('checkout', '-q', '-b', 'topic')
    await landTwo(repo)
    expect(repo.read('a.txt')).toBe('two\n')
  })

  test('see a detached HEAD where the user has one', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    repo.git('checkout', '-q', '--detach')
    hook(repo, 'pre-commit', 'git symbolic-ref -q HEAD > "$out"; echo "$?" >> "$out"')
    await landTwo(repo)
    expect(heard(repo)).toBe('1\n')
  })

  test('put aside and take back what they like, and leave no stash to another', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(repo, 'pre-commit', 'git stash list >> "$out"; echo x > b.txt; git stash -q --keep-index -u')
    await landTwo(repo)
    expect(heard(repo)).toBe('')
    expect(repo.git('stash', 'list')).toBe('')
  })
})

describe('hooks for the message', () => {
  test('are asked in the order of git, each with what the one before made of it', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(repo, 'prepare-commit-msg', 'echo "$# $2" > "$out"; printf "\\nTicket: T-7\\n" >> "$1"')
    hook(repo, 'commit-msg', 'grep -c "^Ticket: T-7" "$1" >> "$out"; sed -i "1s/^/[T-9] /" "$1"')
    await landTwo(repo)
    expect(heard(repo)).toBe('2 message\n1\n')
    const message = repo.git('log', '-1', '--format=%B')
    expect(message).toMatch(/^\[T-9\] Two\n/)
    expect(message.match(/^Ticket: T-7$/gm)).toHaveLength(1)
  })

  test.each([
    ['puts a ticket before whatever stands there', 'sed -i "1s/^/[T-9] /" "$1"', /^\[T-9\] Two\n/],
    ['writes the time down', 'echo "Seen: $(date +%N)" >> "$1"', /^Two\n[\s\S]*^Seen: \d+$/m],
  ])('one that %s has its turn once, at a landing on another tip too', async (_, lines, made) => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', 'b.txt': 'b\n' } })
    hook(repo, 'commit-msg', lines)
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: two() })
    expect([change.revision, change.checks[0]?.outcome]).toEqual([2, 'passed'])
    repo.write('b.txt', 'mine\n')
    repo.git('commit', '-q', '-a', '--no-verify', '-m', 'mine')
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    const message = repo.git('log', '-1', '--format=%B')
    expect(message).toMatch(made)
    expect(message.match(/T-9|Seen/g)).toHaveLength(1)
  })

  test('one that refuses what the author wrote refuses it at every check', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(repo, 'commit-msg', 'sed -i "1s/^/[T-9] /" "$1"; [ ! -e "$out.no" ] || exit 3')
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: two() })
    await galley.approve({ id: change.id })
    writeScript(join(repo.home, 'ran.no'), '')
    const again = await refusal(() => galley.check({ id: change.id }))
    expect(again.code).toBe('checks-failed')
  })
})

test('a hook that misses a program is told of with a way to bring it', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  hook(repo, 'pre-commit', 'exec node_modules/.bin/lint')
  const refused = await refusal(() => landTwo(repo))
  expect([refused.code, refused.hint]).toEqual([
    'checks-failed',
    expect.stringMatching(/`setup` in the policy .* \.worktreeinclude/),
  ])
})

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run } from '../../src/flow/run/run.ts'
import type { RunOutcome } from '../../src/flow/run/run-work.ts'
import { openWorld, type World } from '../../src/flow/world.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

async function openFor(repo: TestRepo, env: Record<string, string> = {}) {
  const world = await openWorld(repo.dir, { env: { ...repo.env, ...env }, clock: systemClock })
  return { world, [Symbol.asyncDispose]: () => world.close() }
}

const shell = (world: World, script: string): Promise<RunOutcome> =>
  run(world, { command: ['sh', '-c', script] })

const inStore = (repo: TestRepo, ...args: readonly string[]): string =>
  repo.git('--git-dir', join(repo.dir, '.git/galley/store.git'), ...args)

const FILES = { 'a.txt': 'one\n', 'b.txt': 'two\n', '.gitignore': '*.log\nout/\n' }

describe('a repository that an agent broke', () => {
  test.each([
    ['HEAD is garbage', 'echo nonsense > .git/HEAD'],
    ['HEAD is a pipe', 'rm .git/HEAD; mkfifo .git/HEAD'],
    ['refs are a loop of links', 'rm -rf .git/refs; ln -s refs .git/refs'],
    ['the repository is a file', 'rm -rf .git; echo gitdir: /etc > .git'],
    ['the repository is a link to the user’s', 'mv .git kept; ln -s "$USERS/.git" .git'],
    ['the ignore rules are a pipe', 'rm .gitignore; mkfifo .gitignore; mkdir d; mkfifo d/.gitattributes'],
    [
      'a hundred thousand files',
      'mkdir many; cd many; seq 100000 | xargs touch; cd ..; echo many/ >> .gitignore',
    ],
    [
      'an index of garbage, and locks',
      'echo DIRCgarbage > .git/index; touch .git/index.lock .git/HEAD.lock .git/refs/heads/main.lock',
    ],
    ['a configuration that git refuses', 'printf "[core\\n" > .git/config'],
    [
      'alternates and a common directory elsewhere',
      'echo /etc > .git/objects/info/alternates; echo /etc > .git/commondir',
    ],
    [
      'refs in another form',
      'mkdir .git/reftable; git config extensions.refstorage reftable; git config core.repositoryformatversion 1',
    ],
    [
      'a socket and links in a loop',
      "ln -s loop loop; ln -s . here; node -e \"require('net').createServer().listen('sock',()=>process.exit())\"; true",
    ],
    ['nothing may be read', 'chmod 000 .git b.txt; chmod 500 .'],
  ])('%s: the run ends, its work is a change or kept, and the next run is clean', async (_, script) => {
    using repo = makeRepo({ files: FILES })
    await using open = await openFor(repo, { USERS: repo.dir })
    const before = repo.snapshot()
    const outcome = await shell(open.world, `echo work > work.txt; ${script}`)
    expect(outcome.changes[0]?.files.map((f) => f.path)).toContain('work.txt')
    expect(repo.snapshot()).toEqual(before)
    const next = await shell(
      open.world,
      'git status --porcelain; git log -1 --format=%s > said.txt; cat a.txt b.txt >> said.txt',
    )
    expect(inStore(repo, 'show', `${next.changes[0]?.commit}:said.txt`)).toBe('first\none\ntwo')
    expect(next.left).toEqual([])
  })
})

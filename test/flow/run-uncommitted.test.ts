import { chmodSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { land } from '../../src/flow/land/land.ts'
import { run } from '../../src/flow/run/run.ts'
import { readPairs } from '../../src/flow/show.ts'
import { refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { inStore, openFor } from './gc-world.ts'

const LINES = ['1', '2', '3', '4', '5', '6', '7', '8', '9']
const lines = (changed: Readonly<Record<number, string>> = {}) =>
  LINES.map((line, i) => `${changed[i + 1] ?? line}\n`).join('')

/** Work of every kind that git tells apart, and an ignored file. */
function withWork(): TestRepo {
  const repo = makeRepo({
    files: {
      'a.txt': lines(),
      'staged.txt': 's\n',
      'gone.txt': 'g\n',
      'b.txt': 'b\n',
      'tool.sh': 't\n',
      '.gitignore': '*.log\n',
    },
  })
  repo.write('staged.txt', 'staged\n')
  repo.git('add', 'staged.txt')
  repo.write('a.txt', lines({ 1: 'mine' }))
  rmSync(join(repo.dir, 'gone.txt'))
  repo.write('deep/new.txt', 'new\n')
  repo.write('x.log', 'ignored\n')
  chmodSync(join(repo.dir, 'tool.sh'), 0o755)
  return repo
}

const shell = (script: string, more: object = {}) => ({ command: ['sh', '-c', script], ...more })

test('what is uncommitted is not in the tree of a run, and that is said; where there is nothing, nothing is', async () => {
  using repo = withWork()
  await using open = await openFor(repo)
  const before = repo.snapshot()
  const { remarks, changes } = await run(open.world, shell('true'))
  expect(changes).toEqual([])
  expect(remarks.join()).toMatch(
    /does not see what is uncommitted: .*"a\.txt".*and \d more.*--with-uncommitted/,
  )
  expect(repo.snapshot()).toEqual(before)
  repo.git('add', '-A')
  repo.git('commit', '-q', '-m', 'all')
  expect((await run(open.world, shell('true'))).remarks).toEqual([])
})

test('brought along it is there, staged, unstaged, new and gone; the change holds what the command did alone, and lands beneath it', async () => {
  using repo = withWork()
  await using open = await openFor(repo)
  const { world } = open
  const before = repo.snapshot()
  const script = `
    [ "$(sed -n 1p a.txt)" = mine ] && [ "$(cat staged.txt)" = staged ] && [ ! -e gone.txt ] && [ -e deep/new.txt ] && [ -x tool.sh ] && [ ! -e x.log ] || exit 9
    sed -i 's/^9$/agent/' a.txt; echo agent > agent.txt; git add -A; git commit -q -m 'By the agent'`
  const outcome = await run(world, shell(script, { withUncommitted: true }))
  expect(outcome).toMatchObject({ exitCode: 0, remarks: [], left: [] })
  expect(repo.snapshot()).toEqual(before)
  const [change] = outcome.changes
  const id = change?.id ?? ''
  const pairs = await readPairs(world, id)
  expect(pairs.map(({ path, after }) => [path, Buffer.from(after?.bytes ?? '').toString()])).toEqual([
    ['a.txt', lines({ 9: 'agent' })],
    ['agent.txt', 'agent\n'],
  ])
  await approve(world, { id, via: 'cli' })
  await land(world, { id })
  expect(repo.read('a.txt')).toBe(lines({ 1: 'mine', 9: 'agent' }))
  expect(repo.git('show', 'HEAD:a.txt')).toBe(lines({ 9: 'agent' }).trimEnd())
  expect(
    repo
      .git('status', '--porcelain')
      .split('\n')
      .map((line) => line.trim())
      .sort(),
  ).toEqual(['?? deep/', 'D gone.txt', 'M a.txt', 'M  staged.txt', 'M tool.sh'].sort())
})

test('a command that does nothing to it makes no change', async () => {
  using repo = withWork()
  await using open = await openFor(repo)
  const { changes, left } = await run(
    open.world,
    shell('git stash -q; git stash pop -q', { withUncommitted: true }),
  )
  expect(changes).toEqual([])
  expect(left.filter((name) => name.endsWith('/work'))).toEqual([])
})

test('where the command changed the very lines that are uncommitted, all of its work is kept, and the refusal says where', async () => {
  using repo = withWork()
  await using open = await openFor(repo)
  const before = repo.snapshot()
  const refused = await refusal(() =>
    run(open.world, shell("sed -i 's/^mine$/ours/' a.txt", { withUncommitted: true })),
  )
  expect(refused).toMatchObject({ code: 'overlaps-uncommitted', data: { paths: ['a.txt'] } })
  const { ref } = refused.data['left'] as { ref: string }
  expect(inStore(repo, 'show', `${ref}:a.txt`)).toContain('ours')
  expect(repo.snapshot()).toEqual(before)
})

test('what is no regular file is not brought, and named', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  symlinkSync('a.txt', join(repo.dir, 'link'))
  await using open = await openFor(repo)
  const { remarks } = await run(open.world, shell('true', { withUncommitted: true }))
  expect(remarks).toEqual(['"link", which is uncommitted, was not brought: it is no regular file'])
})

test('a file that is not committed at all and that the command changes is in the change as a whole, and lands over what it was given', async () => {
  using repo = withWork()
  repo.write('mine.txt', 'mine\nmore\n')
  await using open = await openFor(repo)
  const { world } = open
  const before = repo.snapshot()
  const script = 'echo agent >> mine.txt; echo b2 > b.txt; rm deep/new.txt'
  const { changes } = await run(world, shell(script, { withUncommitted: true }))
  expect(repo.snapshot()).toEqual(before)
  const id = changes[0]?.id ?? ''
  expect(changes[0]?.files.map((f) => f.path)).toEqual(['b.txt', 'mine.txt'])
  expect(changes[0]?.remarks).toMatchObject([
    { kind: 'takes-uncommitted', path: 'mine.txt', text: expect.stringContaining('2 uncommitted lines') },
  ])
  await approve(world, { id, via: 'cli' })
  await land(world, { id })
  expect(repo.read('mine.txt')).toBe('mine\nmore\nagent\n')
  expect(repo.read('deep/new.txt')).toBe('new\n')
})

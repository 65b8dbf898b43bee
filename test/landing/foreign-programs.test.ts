import { chmodSync, existsSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { capture } from '../../src/flow/capture/capture.ts'
import { collectGarbage } from '../../src/flow/gc/gc.ts'
import { land } from '../../src/flow/land/land.ts'
import { showChange } from '../../src/flow/show.ts'
import { status } from '../../src/flow/status.ts'
import { undo } from '../../src/flow/undo/undo.ts'
import { verify } from '../../src/flow/verify/verify.ts'
import { openFor, stage, write } from '../flow/gc-world.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

/** With a file behind attributes that was staged so lately that git takes its entry for one that may have changed since. */
function stagedJustNow(): TestRepo {
  const repo = makeRepo({ files: { 'a.txt': 'one\n', 'f.bin': 'data\n' } })
  repo.write('../program', `#!/bin/sh\necho "$0 $*" >>'${join(repo.home, 'ran')}'\ncat\n`)
  chmodSync(join(repo.home, 'program'), 0o755)
  repo.write('.gitattributes', '*.bin filter=box diff=box merge=box\n')
  repo.git('add', '.')
  repo.git('commit', '-q', '-m', 'attributes')
  repo.write('f.bin', 'staged\n')
  const ahead = Date.now() / 1000 + 10
  utimesSync(join(repo.dir, 'f.bin'), ahead, ahead)
  repo.git('add', 'f.bin')
  return repo
}

const ran = (repo: TestRepo) => (existsSync(join(repo.home, 'ran')) ? repo.read('../ran') : '')

const FILTER = [
  ['filter.box.clean', 'PROGRAM'],
  ['filter.box.smudge', 'cat'],
  ['filter.box.required', 'true'],
] as const

test.each([
  ['a required clean filter', FILTER],
  ['one that is not installed', [...FILTER.slice(1), ['filter.box.clean', '/nonexistent/clean']]],
  ['a filter process', [['filter.box.process', 'PROGRAM']]],
  [
    'a file system monitor, text conversion and diff drivers',
    [
      ['core.fsmonitor', 'PROGRAM'],
      ['diff.box.textconv', 'PROGRAM'],
      ['diff.box.command', 'PROGRAM'],
      ['diff.external', 'PROGRAM'],
      ['merge.box.driver', 'PROGRAM %O %A %B'],
      ['core.pager', 'PROGRAM'],
    ],
  ],
  ['a clean filter beside a split index', [...FILTER, ['core.splitIndex', 'true']]],
  ['a clean filter beside an untracked cache', [...FILTER, ['core.untrackedCache', 'true']]],
] as const)(
  'nothing that galley does for other files runs %s, and what is staged stays staged',
  async (name, settings) => {
    using repo = stagedJustNow()
    const blob = repo.git('rev-parse', ':f.bin')
    const program = join(repo.home, 'program')
    if (name.includes('index')) repo.git('update-index', '--split-index')
    for (const [key, value] of settings) repo.git('config', key, value.replace('PROGRAM', program))
    await using open = await openFor(repo)
    const { world } = open
    const first = await stage(world, [
      { op: 'append', path: 'a.txt', content: 'two\n' },
      write('new.txt', 'n\n'),
    ])
    await approve(world, { id: first.id, via: 'cli' })
    await status(world)
    await land(world, { id: first.id })
    repo.write('new.txt', 'captured\n')
    const { change } = await capture(world, { paths: ['new.txt'] })
    await approve(world, { id: change.id, via: 'cli' })
    await land(world, { id: change.id })
    const undone = await undo(world, { target: first.id, paths: ['a.txt'] })
    await approve(world, { id: undone.change.id, via: 'cli' })
    await land(world, { id: undone.change.id })
    await showChange(world, first.id)
    await verify(world, { range: 'HEAD~3..HEAD' })
    await collectGarbage(world, { dryRun: false })
    expect(ran(repo)).toBe('')
    for (const [key] of settings) repo.tryGit('config', '--unset-all', key)
    expect(repo.git('rev-parse', ':f.bin')).toBe(blob)
    expect(repo.git('diff', '--cached', '--name-only')).toBe('f.bin')
    expect(repo.git('status', '--porcelain')).toBe('M  f.bin')
    expect(repo.read('a.txt')).toBe('one\n')
  },
)

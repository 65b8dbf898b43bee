import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import type { Snapshot, TestRepo } from '../helpers/repo.ts'
import { land, leftovers, type NewContent, refusalOf } from './stage-change.ts'

const lines = (count: number, changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: count }, (_, i) => `${changed[i + 1] ?? `line ${i + 1}`}\n`).join('')

export const BASE = {
  'touched.txt': lines(20),
  'other.txt': 'other\n',
  'dir/gone.txt': 'gone\n',
  'dir/stays.txt': 'stays\n',
}
/** The agent's change: line 2 of the touched file. */
const CHANGE: Readonly<Record<string, NewContent>> = { 'touched.txt': lines(20, { 2: 'AGENT' }) }

export interface Row {
  readonly name: string
  readonly arrange: (repo: TestRepo) => void
  readonly change?: Readonly<Record<string, NewContent>>
  /** A code, or what status says after landing. */
  readonly expect:
    | { readonly refused: string }
    | { readonly status: string; readonly also?: (repo: TestRepo) => void }
}

const show = (repo: TestRepo, path: string) => `${repo.git('show', `:${path}`)}\n`
const stage = (repo: TestRepo, path: string, content: string) => {
  repo.write(path, content)
  repo.git('add', path)
}

export const rows: readonly Row[] = [
  { name: 'a clean tree', arrange: () => undefined, expect: { status: '' } },
  {
    name: 'unstaged, staged, partly staged and intended work in untouched files',
    arrange: (repo) => {
      stage(repo, 'other.txt', 'staged\n')
      repo.write('other.txt', 'staged and more\n')
      repo.write('dir/stays.txt', 'unstaged\n')
      repo.write('intended.txt', 'intended\n')
      repo.git('add', '-N', 'intended.txt')
      repo.write('untracked.txt', 'untracked\n')
    },
    expect: {
      status: ' M dir/stays.txt\n A intended.txt\nMM other.txt\n?? untracked.txt',
      also: (repo) => {
        expect(show(repo, 'other.txt')).toBe('staged\n')
        expect(repo.read('other.txt')).toBe('staged and more\n')
      },
    },
  },
  {
    name: 'unstaged work elsewhere in the touched file: beneath it',
    arrange: (repo) => repo.write('touched.txt', lines(20, { 15: 'MINE' })),
    expect: {
      status: ' M touched.txt',
      also: (repo) => {
        expect(repo.read('touched.txt')).toBe(lines(20, { 2: 'AGENT', 15: 'MINE' }))
        expect(show(repo, 'touched.txt')).toBe(lines(20, { 2: 'AGENT' }))
        expect(repo.git('diff', '-U0')).toContain('-line 15\n+MINE')
        expect(repo.git('diff', '--cached')).toBe('')
      },
    },
  },
  {
    name: 'staged work elsewhere in the touched file: beneath it',
    arrange: (repo) => stage(repo, 'touched.txt', lines(20, { 15: 'MINE' })),
    expect: {
      status: 'M  touched.txt',
      also: (repo) => {
        expect(repo.read('touched.txt')).toBe(lines(20, { 2: 'AGENT', 15: 'MINE' }))
        expect(show(repo, 'touched.txt')).toBe(lines(20, { 2: 'AGENT', 15: 'MINE' }))
        expect(repo.git('diff')).toBe('')
      },
    },
  },
  {
    name: 'staged and further unstaged work in the touched file: beneath both',
    arrange: (repo) => {
      stage(repo, 'touched.txt', lines(20, { 10: 'STAGED' }))
      repo.write('touched.txt', lines(20, { 10: 'STAGED', 18: 'UNSTAGED' }))
    },
    expect: {
      status: 'MM touched.txt',
      also: (repo) => {
        expect(show(repo, 'touched.txt')).toBe(lines(20, { 2: 'AGENT', 10: 'STAGED' }))
        expect(repo.read('touched.txt')).toBe(lines(20, { 2: 'AGENT', 10: 'STAGED', 18: 'UNSTAGED' }))
      },
    },
  },
  {
    name: 'a staged version with the working file back at the base: beneath both',
    arrange: (repo) => {
      stage(repo, 'touched.txt', lines(20, { 10: 'STAGED' }))
      repo.write('touched.txt', lines(20))
    },
    expect: {
      status: 'MM touched.txt',
      also: (repo) => {
        expect(show(repo, 'touched.txt')).toBe(lines(20, { 2: 'AGENT', 10: 'STAGED' }))
        expect(repo.read('touched.txt')).toBe(lines(20, { 2: 'AGENT' }))
      },
    },
  },
  {
    name: 'unstaged work at the same line',
    arrange: (repo) => repo.write('touched.txt', lines(20, { 2: 'MINE' })),
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'staged work at the same line, the working file back at the base',
    arrange: (repo) => {
      stage(repo, 'touched.txt', lines(20, { 2: 'MINE' }))
      repo.write('touched.txt', lines(20))
    },
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'unstaged content that is the new one already',
    arrange: (repo) => repo.write('touched.txt', lines(20, { 2: 'AGENT' })),
    expect: { status: '', also: (repo) => expect(repo.git('diff-files')).toBe('') },
  },
  {
    name: 'staged content that is the new one already',
    arrange: (repo) => stage(repo, 'touched.txt', lines(20, { 2: 'AGENT' })),
    expect: { status: '' },
  },
  {
    name: 'staged content that is the new one, and further unstaged work',
    arrange: (repo) => {
      stage(repo, 'touched.txt', lines(20, { 2: 'AGENT' }))
      repo.write('touched.txt', lines(20, { 2: 'AGENT', 15: 'MINE' }))
    },
    expect: { status: ' M touched.txt', also: (repo) => expect(repo.read('touched.txt')).toContain('MINE') },
  },
  {
    name: 'an untracked file where one is added',
    arrange: (repo) => repo.write('new.txt', 'mine\n'),
    change: { 'new.txt': 'agent\n' },
    expect: { refused: 'would-overwrite' },
  },
  {
    name: 'an untracked file with the new bytes where one is added',
    arrange: (repo) => repo.write('new.txt', 'agent\n'),
    change: { 'new.txt': 'agent\n' },
    expect: { status: '', also: (repo) => expect(repo.git('diff-files')).toBe('') },
  },
  {
    name: 'an ignored file where one is added',
    arrange: (repo) => {
      stage(repo, '.gitignore', '*.log\n')
      repo.git('commit', '-qm', 'ignore')
      repo.write('new.log', 'mine\n')
    },
    change: { 'new.log': 'agent\n' },
    expect: { refused: 'would-overwrite' },
  },
  {
    name: 'an ignored file in a directory where a file is added',
    arrange: (repo) => {
      stage(repo, '.gitignore', '*.log\n')
      repo.git('commit', '-qm', 'ignore')
      repo.write('build/new.log', 'mine\n')
    },
    change: { build: 'agent\n' },
    expect: { refused: 'would-overwrite' },
  },
  {
    name: 'an untracked file where a directory is needed',
    arrange: (repo) => repo.write('build', 'mine\n'),
    change: { 'build/new.txt': 'agent\n' },
    expect: { refused: 'would-overwrite' },
  },
  {
    name: 'an empty directory where a file is added',
    arrange: (repo) => mkdirSync(join(repo.dir, 'build/deep'), { recursive: true }),
    change: { build: 'agent\n' },
    expect: { status: '', also: (repo) => expect(repo.read('build')).toBe('agent\n') },
  },
  {
    name: 'the touched file deleted in the work tree only',
    arrange: (repo) => rmSync(join(repo.dir, 'touched.txt')),
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'the touched file removed from index and work tree',
    arrange: (repo) => void repo.git('rm', '-q', 'touched.txt'),
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'the touched file removed from the index and kept as untracked',
    arrange: (repo) => void repo.git('rm', '-q', '--cached', 'touched.txt'),
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'a file that the change deletes, removed from the index and kept as untracked',
    arrange: (repo) => void repo.git('rm', '-q', '--cached', 'dir/gone.txt'),
    change: { 'dir/gone.txt': null },
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'a modified file that the change deletes',
    arrange: (repo) => repo.write('dir/gone.txt', 'mine\n'),
    change: { 'dir/gone.txt': null },
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'a file that the change deletes, deleted in the work tree already',
    arrange: (repo) => rmSync(join(repo.dir, 'dir/gone.txt')),
    change: { 'dir/gone.txt': null },
    expect: { status: '' },
  },
  {
    name: 'an intent to add where the change adds other content',
    arrange: (repo) => {
      repo.write('new.txt', 'mine\n')
      repo.git('add', '-N', 'new.txt')
    },
    change: { 'new.txt': 'agent\n' },
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'an intent to add the very bytes that the change adds',
    arrange: (repo) => {
      repo.write('new.txt', 'agent\n')
      repo.git('add', '-N', 'new.txt')
    },
    change: { 'new.txt': 'agent\n' },
    expect: { status: '' },
  },
  {
    name: 'a file staged as new with other content where the change adds one',
    arrange: (repo) => stage(repo, 'new.txt', 'mine\n'),
    change: { 'new.txt': 'agent\n' },
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'unmerged entries elsewhere',
    arrange: (repo) => {
      repo.git('switch', '-qc', 'side')
      stage(repo, 'other.txt', 'side\n')
      repo.git('commit', '-qm', 'side')
      repo.git('switch', '-q', 'main')
      stage(repo, 'other.txt', 'main\n')
      repo.git('commit', '-qm', 'main')
      repo.tryGit('merge', 'side')
      rmSync(join(repo.dir, '.git/MERGE_HEAD'))
    },
    expect: { refused: 'unmerged' },
  },
  ...['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'BISECT_LOG'].map((mark) => ({
    name: `an operation in progress: ${mark}`,
    arrange: (repo: TestRepo) => repo.write(`.git/${mark}`, `${repo.git('rev-parse', 'HEAD')}\n`),
    expect: { refused: 'in-progress' },
  })),
  ...['rebase-merge', 'rebase-apply', 'sequencer'].map((mark) => ({
    name: `an operation in progress: ${mark}`,
    arrange: (repo: TestRepo) => mkdirSync(join(repo.dir, '.git', mark)),
    expect: { refused: 'in-progress' },
  })),
  {
    name: 'a local edit that assume-unchanged hides, at the same line',
    arrange: (repo) => {
      repo.git('update-index', '--assume-unchanged', 'touched.txt')
      repo.write('touched.txt', lines(20, { 2: 'MINE' }))
    },
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'a local edit that assume-unchanged hides, elsewhere: beneath it, still hidden',
    arrange: (repo) => {
      repo.git('update-index', '--assume-unchanged', 'touched.txt')
      repo.write('touched.txt', lines(20, { 15: 'MINE' }))
    },
    expect: {
      status: '',
      also: (repo) => {
        expect(repo.read('touched.txt')).toBe(lines(20, { 2: 'AGENT', 15: 'MINE' }))
        expect(repo.git('ls-files', '-v', 'touched.txt')).toBe('h touched.txt')
      },
    },
  },
  {
    name: 'a local edit that skip-worktree hides, at the same line',
    arrange: (repo) => {
      repo.git('update-index', '--skip-worktree', 'touched.txt')
      repo.write('touched.txt', lines(20, { 2: 'MINE' }))
    },
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'a local edit that skip-worktree hides, elsewhere: beneath it, still hidden',
    arrange: (repo) => {
      repo.git('update-index', '--skip-worktree', 'touched.txt')
      repo.write('touched.txt', lines(20, { 15: 'MINE' }))
    },
    expect: {
      status: '',
      also: (repo) => {
        expect(repo.read('touched.txt')).toBe(lines(20, { 2: 'AGENT', 15: 'MINE' }))
        expect(repo.git('ls-files', '-t', 'touched.txt')).toBe('S touched.txt')
      },
    },
  },
  {
    name: 'the touched file replaced by a symbolic link',
    arrange: (repo) => {
      rmSync(join(repo.dir, 'touched.txt'))
      symlinkSync('other.txt', join(repo.dir, 'touched.txt'))
    },
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'a parent directory replaced by a symbolic link',
    arrange: (repo) => {
      mkdirSync(join(repo.home, 'outside'))
      renameSync(join(repo.dir, 'dir'), join(repo.home, 'outside/dir'))
      symlinkSync(join(repo.home, 'outside/dir'), join(repo.dir, 'dir'))
    },
    change: { 'dir/stays.txt': 'agent\n' },
    expect: { refused: 'symlink' },
  },
  {
    name: 'the touched file replaced by a directory',
    arrange: (repo) => {
      rmSync(join(repo.dir, 'touched.txt'))
      repo.write('touched.txt/mine.txt', 'mine\n')
    },
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'an executable bit that the user set on the touched file',
    arrange: (repo) => chmodSync(join(repo.dir, 'touched.txt'), 0o755),
    expect: {
      status: ' M touched.txt',
      also: (repo) => {
        expect(lstatSync(join(repo.dir, 'touched.txt')).mode & 0o777).toBe(0o755)
        expect(repo.git('diff')).toContain('old mode 100644\nnew mode 100755')
      },
    },
  },
  {
    name: 'an executable bit that the change sets, on a file that has outgrown every limit',
    arrange: (repo) => truncateSync(join(repo.dir, 'touched.txt'), limits.fileMaxBytes + 4096),
    change: { 'touched.txt': { content: lines(20), executable: true } },
    expect: {
      status: ' M touched.txt',
      also: (repo) => {
        const { mode, size } = lstatSync(join(repo.dir, 'touched.txt'))
        expect([mode & 0o777, size]).toEqual([0o755, limits.fileMaxBytes + 4096])
        expect(repo.git('diff', '--summary')).toBe('')
      },
    },
  },
  {
    name: 'an executable bit that the change sets, on a file with unstaged work',
    arrange: (repo) => repo.write('touched.txt', lines(20, { 15: 'MINE' })),
    change: { 'touched.txt': { content: lines(20), executable: true } },
    expect: {
      status: ' M touched.txt',
      also: (repo) => {
        expect(lstatSync(join(repo.dir, 'touched.txt')).mode & 0o111).not.toBe(0)
        expect(repo.read('touched.txt')).toBe(lines(20, { 15: 'MINE' }))
        expect(repo.git('ls-files', '-s', 'touched.txt')).toContain('100755')
      },
    },
  },
  {
    name: 'other times on the touched file',
    arrange: (repo) => utimesSync(join(repo.dir, 'touched.txt'), 1, 1),
    expect: { status: '' },
  },
  {
    name: 'a second name on disk for the touched file',
    arrange: (repo) => linkSync(join(repo.dir, 'touched.txt'), join(repo.home, 'second-name')),
    expect: { status: '' },
  },
  {
    name: 'an fsmonitor that says nothing changed, and an edit at the same line',
    arrange: (repo) => {
      repo.write('../monitor', '#!/bin/sh\nprintf "token\\0"\n')
      chmodSync(join(repo.home, 'monitor'), 0o755)
      repo.git('config', 'core.fsmonitor', join(repo.home, 'monitor'))
      repo.git('status')
      repo.write('touched.txt', lines(20, { 2: 'MINE' }))
    },
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'an edit of the same size and time that git is told not to look for',
    arrange: (repo) => {
      repo.git('config', 'core.checkStat', 'minimal')
      repo.git('config', 'core.trustctime', 'false')
      const { mtime, atime } = lstatSync(join(repo.dir, 'touched.txt'))
      repo.write('touched.txt', lines(20, { 2: 'LINE 2' }))
      utimesSync(join(repo.dir, 'touched.txt'), atime, mtime)
    },
    expect: { refused: 'overlaps-uncommitted' },
  },
  {
    name: 'a file that becomes a directory',
    arrange: () => undefined,
    change: { 'other.txt': null, 'other.txt/inner.txt': 'agent\n' },
    expect: { status: '', also: (repo) => expect(repo.read('other.txt/inner.txt')).toBe('agent\n') },
  },
  {
    name: 'a directory that becomes a file',
    arrange: () => undefined,
    change: { 'dir/gone.txt': null, 'dir/stays.txt': null, dir: 'agent\n' },
    expect: { status: '', also: (repo) => expect(repo.read('dir')).toBe('agent\n') },
  },
  {
    name: 'a directory that becomes a file, with an untracked file in it',
    arrange: (repo) => repo.write('dir/mine.txt', 'mine\n'),
    change: { 'dir/gone.txt': null, 'dir/stays.txt': null, dir: 'agent\n' },
    expect: { refused: 'would-overwrite' },
  },
  {
    name: 'index.lock held by somebody else',
    arrange: (repo) => repo.write('.git/index.lock', ''),
    expect: { refused: 'locked' },
  },
  {
    name: 'the branch locked by somebody else',
    arrange: (repo) => {
      // Refs kept as reftable have one lock for all.
      const isTable = existsSync(join(repo.dir, '.git/reftable'))
      repo.write(isTable ? '.git/reftable/tables.list.lock' : '.git/refs/heads/main.lock', '')
    },
    expect: { refused: 'locked' },
  },
  {
    name: 'a reference-transaction hook that refuses',
    arrange: (repo) => {
      repo.write(
        '.git/hooks/reference-transaction',
        '#!/bin/sh\n[ "$1" = prepared ] && { echo "not today" >&2; exit 1; }\nexit 0\n',
      )
      chmodSync(join(repo.dir, '.git/hooks/reference-transaction'), 0o755)
    },
    expect: { refused: 'hook-refused' },
  },
]

/**
 * Objects of a refused change may stay behind, unreferenced, where a hook had to see them; nothing else may.
 */
const withoutObjects = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  gitFiles: Object.fromEntries(
    Object.entries(snapshot.gitFiles).filter(([path]) => !path.startsWith('objects/')),
  ),
})

/** Lands into a state, and holds what is there afterwards against what the row says. */
export async function holdRow(repo: TestRepo, { arrange, change, expect: outcome }: Row): Promise<void> {
  arrange(repo)
  if ('refused' in outcome) {
    const before = repo.snapshot()
    expect(await refusalOf(land(repo, change ?? CHANGE))).toBe(outcome.refused)
    const isLate = outcome.refused === 'hook-refused' || outcome.refused === 'locked'
    const after = repo.snapshot()
    expect(isLate ? withoutObjects(after) : after).toEqual(isLate ? withoutObjects(before) : before)
    return
  }
  const report = await land(repo, change ?? CHANGE)
  expect(repo.git('rev-parse', 'HEAD')).toBe(report.after)
  expect(repo.tryGit('status', '--porcelain', '--untracked-files=all').out).toBe(outcome.status)
  outcome.also?.(repo)
  expect(leftovers(repo)).toEqual([])
  expect(repo.tryGit('fsck', '--strict', '--no-dangling')).toEqual({ code: 0, out: '' })
}

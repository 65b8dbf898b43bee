import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { completeEntries, isSoundIndex, viewIndex } from '../../src/git/index-file.ts'
import { gitInput } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const index = (repo: TestRepo) => readFileSync(join(repo.dir, '.git/index'))

/** What git says of its own index: mode, id, stage and path of every entry. */
const listed = (repo: TestRepo) =>
  repo
    .git('ls-files', '-s', '-z')
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [, mode, id, stage, path] = /^(\d+) ([0-9a-f]+) (\d)\t([\s\S]*)$/.exec(line) ?? []
      return { mode, id, stage: Number(stage), path: path ?? '' }
    })

const segment = fc
  .stringMatching(/^[a-z0-9 ü"\\\n-]{1,12}$/u)
  .filter((text) => !text.startsWith('-') && text.trim() !== '')
const paths = fc.uniqueArray(
  fc.array(segment, { minLength: 1, maxLength: 30 }).map((parts) => parts.join('/')),
  { minLength: 1, maxLength: 40 },
)

describe('reading an index', () => {
  test.each([
    ['sha1', 2],
    ['sha1', 3],
    ['sha1', 4],
    ['sha256', 2],
    ['sha256', 4],
  ] as const)('gives the entries that git gives (%s, version %s)', async (objectFormat, version) => {
    await using repo = makeRepo({ objectFormat })
    repo.git('update-index', '--index-version', String(version))
    const blob = gitInput(repo, ['hash-object', '-w', '--stdin'], 'x')
    fc.assert(
      fc.property(paths, (all) => {
        gitInput(
          repo,
          ['update-index', '-z', '--index-info'],
          all.map((path) => `100644 ${blob}\t${path}\0`).join(''),
        )
        if (version === 3) repo.git('update-index', '--add', '--cacheinfo', `100755,${blob},zz`)
        const bytes = index(repo)
        const known = listed(repo)
        const view = viewIndex(bytes, objectFormat, [...known.map(({ path }) => path), 'not/there', 'a', ''])
        expect(
          [...(view?.entries.values() ?? [])].map(({ mode, id, stage, path }) => ({ mode, id, stage, path })),
        ).toEqual(known)
        expect(view).toMatchObject({ unmerged: null, form: 'whole' })
        expect(isSoundIndex(bytes, objectFormat)).toBe(true)
      }),
      { numRuns: 12 },
    )
  })

  test('sees flags, names longer than four thousand bytes, and the first unmerged path', async () => {
    await using repo = makeRepo({ files: { a: 'a\n', b: 'b\n', c: 'c\n' } })
    repo.git('update-index', '--assume-unchanged', 'a')
    repo.git('update-index', '--skip-worktree', 'b')
    repo.write('new', 'n\n')
    repo.git('add', '-N', 'new')
    const blob = repo.git('rev-parse', ':c')
    const long = Array.from({ length: 41 }, () => 'd'.repeat(100)).join('/')
    gitInput(
      repo,
      ['update-index', '-z', '--index-info'],
      [`${blob} 1\tz`, `${blob} 2\tz`, `${blob}\t${long}`].map((line) => `100644 ${line}\0`).join(''),
    )
    const view = viewIndex(index(repo), 'sha1', ['a', 'b', 'c', 'new', long])
    expect(view?.unmerged).toBe('z')
    expect(
      [...(view?.entries ?? [])].map(([path, e]) => [
        path.slice(0, 3),
        e.assumeUnchanged,
        e.skipWorktree,
        e.intentToAdd,
      ]),
    ).toEqual([
      ['a', true, false, false],
      ['b', false, true, false],
      ['c', false, false, false],
      ['ddd', false, false, false],
      ['new', false, false, true],
    ])
  })

  test('gives nothing for other bytes, whatever they are', () => {
    const head = Buffer.from('DIRC\0\0\0\x02\0\0\0\x05', 'latin1')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (tail, hasHead) => {
        const bytes = Buffer.concat([hasHead ? head : Buffer.alloc(0), tail])
        const view = viewIndex(bytes, 'sha1', ['a'])
        expect(view === null || view.entries.size <= 1).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('completing an index', () => {
  test('gives one that git takes, whose completed entries are clean', async () => {
    await using repo = makeRepo({ files: { a: 'a\n', b: 'b\n' } })
    repo.git('update-index', '--index-version', '4')
    const blob = repo.git('rev-parse', ':b')
    gitInput(repo, ['update-index', '-z', '--index-info'], `100644 ${blob}\ta\0`)
    const bytes = index(repo)
    const entry = viewIndex(bytes, 'sha1', ['a'])?.entries.get('a')
    if (entry === undefined) throw new Error('no entry')
    const stat = {
      ctimeNs: 5_000_000_007n,
      mtimeNs: 1n << 62n,
      dev: 1n,
      ino: (1n << 40n) + 3n,
      uid: 1n,
      gid: 1n,
      size: 2n,
    }
    const ranges = completeEntries(bytes, 'sha1', [{ entry, stat, assumeUnchanged: true }])
    expect(ranges.map(({ length }) => length)).toEqual([62, 20])
    writeFileSync(join(repo.dir, '.git/index'), bytes)
    expect(repo.git('ls-files', '-v')).toBe('h a\nH b')
    const debug = repo.git('ls-files', '--debug', 'a')
    expect(debug).toContain('ctime: 5:7')
    expect(debug).toContain('ino: 3')
    expect(repo.tryGit('fsck', '--no-dangling')).toEqual({ code: 0, out: '' })
  })
})

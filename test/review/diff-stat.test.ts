import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { renderStat, type StatFile, sumUp } from '../../src/review/diff-stat.ts'

const plain = { columns: 80, isColoured: false }
const row = (path: string, added: number | null, removed: number | null): StatFile => ({
  path,
  added,
  removed,
})

/** What git prints for files with so many lines added and removed. */
function statByGit(
  files: readonly { readonly path: string; readonly added: number; readonly removed: number }[],
): string {
  const root = mkdtempSync(join(tmpdir(), 'galley-stat-'))
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], {
      cwd: root,
      encoding: 'utf8',
    })
  const lines = (text: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${text} ${i}\n`).join('')
  try {
    git('init', '-q')
    for (const { path, removed } of files) writeFileSync(join(root, path), `keep\n${lines('old', removed)}`)
    git('add', '.')
    git('commit', '-q', '-m', 'before')
    for (const { path, added } of files) writeFileSync(join(root, path), `keep\n${lines('new', added)}`)
    git('add', '.')
    return git('diff', '--cached', '--stat=80')
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

describe('renderStat', () => {
  test.each([
    [
      'small counts',
      [
        { path: 'a.ts', added: 3, removed: 1 },
        { path: 'longer-name.ts', added: 0, removed: 12 },
      ],
    ],
    [
      'counts that must be scaled',
      [
        { path: 'big', added: 900, removed: 300 },
        { path: 'tiny', added: 1, removed: 1 },
      ],
    ],
    [
      'many sizes',
      Array.from({ length: 12 }, (_, i) => ({
        path: `f${i}${'x'.repeat(i * 4)}`,
        added: i * i * 3,
        removed: (11 - i) * 5 + 1,
      })),
    ],
    ['one line', [{ path: 'a', added: 1, removed: 0 }]],
  ])('prints what git prints for %s', (_, files) => {
    expect(
      renderStat(
        files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
        plain,
      ),
    ).toBe(statByGit(files))
  })

  test('names binary files so', () => {
    expect(renderStat([row('a.bin', null, null)], plain)).toContain(' a.bin | Bin\n')
  })

  test('stays within the columns, keeping the end of a long name', () => {
    const lines = renderStat([row(`${'folder/'.repeat(30)}file.ts`, 500, 500)], plain).split('\n')
    expect(lines[0]?.length).toBeLessThanOrEqual(80)
    expect(lines[0]).toMatch(/^ \.\.\.\/folder\/.*folder\/file\.ts +\| 1000 \++-+$/)
  })

  test('keeps each file to one line, whatever its name', () => {
    expect(renderStat([row('a\n\u001b[2Jb', 1, 0)], plain).split('\n')[0]).toBe(' a\\u{A}\\u{1B}[2Jb | 1 +')
  })

  test('shows both names of a rename', () => {
    expect(renderStat([{ ...row('new', 1, 1), renamedFrom: 'old' }], plain)).toContain(' old => new | 2 +-\n')
  })
})

describe('sumUp', () => {
  test.each([
    [[row('a', 1, 0)], '1 file changed, 1 insertion(+)'],
    [[row('a', 0, 2)], '1 file changed, 2 deletions(-)'],
    [[row('a', 0, 0)], '1 file changed, 0 insertions(+), 0 deletions(-)'],
    [[row('a', 2, 1), row('b', 39, 11)], '2 files changed, 41 insertions(+), 12 deletions(-)'],
  ])('counts as git does', (files, expected) => {
    expect(sumUp(files)).toBe(expected)
  })
})

import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, cli, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const BATCH = batch([{ op: 'append', path: 'a.txt', content: 'b\n' }])

async function withChange(): Promise<TestRepo> {
  const repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using galley = await openGalley(repo)
  await galley.propose({ batch: BATCH })
  return repo
}

const asFile = (path: string): void => {
  rmSync(path, { recursive: true, force: true })
  writeFileSync(path, 'mine\n')
}

/** What is wrong, and what the doctor calls it. */
const sicknesses: readonly (readonly [string, (repo: TestRepo) => void, RegExp])[] = [
  [
    'a store without objects',
    (repo) => rmSync(join(repo.dir, '.git/galley/store.git/objects'), { recursive: true }),
    /^store: /,
  ],
  ['an index that is garbage', (repo) => repo.write('.git/index', 'garbage'), /^repository: /],
  [
    'a branch whose name draws on the terminal',
    (repo) => repo.write('.git/HEAD', 'ref: refs/heads/\u001b[31mx\n'),
    /^(?:repository|landing|policy|hooks): /,
  ],
  [
    'a file in the place of the folder',
    (repo) => asFile(join(repo.dir, '.git/galley')),
    /unsupported-repository/,
  ],
  [
    'a file in the place of done',
    (repo) => asFile(join(repo.dir, '.git/galley/done')),
    /unsupported-repository/,
  ],
  [
    'a file in the place of land',
    (repo) => asFile(join(repo.dir, '.git/galley/land')),
    /unsupported-repository/,
  ],
  [
    'a link in the place of done',
    (repo) => symlinkSync(repo.home, join(repo.dir, '.git/galley/done')),
    /unsupported-repository/,
  ],
  [
    'a journal of a newer version',
    (repo) => repo.write('.git/galley/land/g1-00/journal.json', '{"version":2}'),
    /^landing: .*io-error.*version 2/,
  ],
  [
    'notes that are a directory',
    (repo) => repo.write('.git/galley/land/g1-00/traces.json/x', 'x'),
    /^landing: .*cut off/,
  ],
  [
    'a file that is no landing',
    (repo) => repo.write('.git/galley/land/mine', 'mine\n'),
    /^landing: .*no landing's folder/,
  ],
]

describe('a repository that is not well', () => {
  test.each(sicknesses)('%s: the doctor says so to its end', async (_, make, expected) => {
    using repo = await withChange()
    make(repo)
    const found = cli(repo, ['doctor', '--json'])
    expect([found.code, found.json.error ?? null]).toEqual([1, null])
    const findings: readonly { readonly about: string; readonly state: string; readonly text: string }[] =
      found.json.findings
    const problems = findings.filter(({ state }) => state === 'problem')
    expect(problems.map(({ about, text }) => `${about}: ${text}`)).toContainEqual(
      expect.stringMatching(expected),
    )
    expect(problems.filter(({ text }) => text.includes('(internal)') && text.startsWith('BUG'))).toEqual([])
    // Every examination was made, or says why not.
    expect(new Set(findings.map(({ about }) => about)).size).toBe(8)
    expect(cli(repo, ['doctor']).stdout).not.toContain('\u001b[31m')
  })

  test.each(sicknesses)('%s: purge by force removes galley all the same', async (_, make) => {
    using repo = await withChange()
    make(repo)
    const outside = readdirSync(repo.home)
    const purged = cli(repo, ['purge', '--force', '--json'])
    expect([purged.code, purged.json.error ?? null]).toEqual([0, null])
    expect(existsSync(join(repo.dir, '.git/galley'))).toBe(false)
    expect(readdirSync(repo.home)).toEqual(expect.arrayContaining(outside))
    expect(repo.read('a.txt')).toBe('a\n')
  })

  test('a configuration that git cannot read: the doctor says so', async () => {
    using repo = await withChange()
    repo.write('.git/config', '[broken\n')
    const found = cli(repo, ['doctor', '--json'])
    expect(found.code).toBe(1)
    expect(found.json).toMatchObject({
      ok: true,
      healthy: false,
      findings: [
        { about: 'repository', state: 'problem', text: expect.stringContaining('unsupported-repository') },
      ],
    })
  })

  test('a file in the place of the folder is refused by every verb', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    writeFileSync(join(repo.dir, '.git/galley'), 'mine\n')
    mkdirSync(join(repo.dir, 'sub'))
    const before = repo.snapshot()
    const verbs = [
      ['status'],
      ['log'],
      ['propose', '-'],
      ['land', '--last'],
      ['capture', '-m', 'x'],
      ['undo', '--last'],
      ['gc'],
      ['recover'],
      ['run', '--', 'true'],
      ['hooks', 'install'],
      ['verify', 'HEAD'],
    ]
    const found = verbs.map((verb) => {
      const { code, json } = cli(repo, [...verb.slice(0, 1), '--json', ...verb.slice(1)], {
        input: JSON.stringify(BATCH),
      })
      return [verb[0], code, json?.error?.code]
    })
    expect(found).toEqual(verbs.map(([verb]) => [verb, 1, 'unsupported-repository']))
    expect(repo.snapshot()).toEqual(before)
  })
})

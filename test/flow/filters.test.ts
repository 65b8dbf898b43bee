import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const batch = (...edits: readonly object[]) =>
  Buffer.from(JSON.stringify({ version: 1, title: 't', agent: { name: 'bot' }, edits }))

const replace = (path: string, old: string, text: string) => ({ op: 'replace', path, old, new: text })

const inTree = (repo: TestRepo, path: string) =>
  execFileSync('git', ['cat-file', 'blob', `HEAD:${path}`], { cwd: repo.dir, env: repo.env })

const status = (repo: TestRepo) => repo.git('status', '--porcelain')
const mine = (repo: TestRepo, text: string) => appendFileSync(join(repo.home, 'gitconfig'), text)

/** Each letter is thirteen further on in the tree: readable for a test, and no less hidden for git. */
const CIPHER = "tr 'A-Za-z' 'N-ZA-Mn-za-m'"

function cipherRepo(how = CIPHER, name = 'repo'): TestRepo {
  const repo = makeRepo({ name, files: { '.gitattributes': '*.key filter=crypt\n' } })
  for (const kind of ['clean', 'smudge']) repo.git('config', `filter.crypt.${kind}`, CIPHER)
  repo.git('config', 'filter.crypt.required', 'true')
  repo.write('a.key', 'secret one\n\n\n\nsecret two\n')
  repo.commit('key')
  for (const kind of ['clean', 'smudge']) repo.git('config', `filter.crypt.${kind}`, how)
  return repo
}

describe('a filter that the user allows', () => {
  test('runs as git runs it: edited, made, captured, landed and undone in its own form', async () => {
    using repo = cipherRepo()
    mine(repo, '[galley]\n\tallowFilter = crypt\n')
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch(replace('a.key', 'one', 'uno'), {
        op: 'write',
        path: 'b.key',
        content: 'new\n',
        mode: 'create',
      }),
    })
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect(inTree(repo, 'a.key').toString()).toBe('frperg hab\n\n\n\nfrperg gjb\n')
    expect(inTree(repo, 'b.key').toString()).toBe('arj\n')
    expect([repo.read('a.key'), repo.read('b.key')]).toEqual(['secret uno\n\n\n\nsecret two\n', 'new\n'])
    expect(status(repo)).toBe('')
    repo.write('a.key', 'secret uno\n\n\n\nsecret drei\n')
    const taken = await galley.capture({})
    await galley.approve({ id: taken.change.id })
    await galley.land({ id: taken.change.id })
    expect([inTree(repo, 'a.key').toString(), status(repo)]).toEqual(['frperg hab\n\n\n\nfrperg qerv\n', ''])
    const back = await galley.undo({ target: change.id })
    await galley.approve({ id: back.change.id })
    await galley.land({ id: back.change.id })
    expect([repo.read('a.key'), status(repo)]).toEqual(['secret one\n\n\n\nsecret drei\n', ''])
  })

  test('runs in a repository whose folder has the sign that parts a list', async () => {
    using repo = cipherRepo(CIPHER, 'a:b "c" \\d')
    mine(repo, '[galley]\n\tallowFilter = crypt\n')
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch(replace('a.key', 'one', 'uno')) })
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect([inTree(repo, 'a.key').toString().slice(0, 10), status(repo)]).toEqual(['frperg hab', ''])
  })

  test('is none where only the repository says so', async () => {
    using repo = cipherRepo()
    repo.git('config', 'galley.allowFilter', 'crypt')
    const before = repo.snapshot()
    await using galley = await openGalley(repo)
    const refused = await refusal(() => galley.propose({ batch: batch(replace('a.key', 'one', 'uno')) }))
    expect([refused.code, refused.hint]).toEqual(['filtered', expect.stringContaining('--global')])
    expect(repo.snapshot()).toEqual(before)
  })

  test.each([
    ['that fails', "sh -c 'echo no key >&2; exit 1'", 'no key'],
    ['that is missing', 'no-such-filter', 'No such file'],
  ])('one %s is a refusal with its words, and nothing has moved', async (_, how, words) => {
    using repo = cipherRepo(how)
    mine(repo, '[galley]\n\tallowFilter = lfs, crypt\n')
    repo.write('a.key', 'secret one\n\n\n\nsecret three\n')
    const before = repo.snapshot()
    await using galley = await openGalley(repo)
    const refused = await refusal(() => galley.propose({ batch: batch(replace('a.key', 'one', 'uno')) }))
    expect([refused.code, refused.message]).toEqual(['filter-failed', expect.stringContaining(words)])
    expect((await refusal(() => galley.capture({}))).code).toBe('filter-failed')
    expect(repo.snapshot()).toEqual(before)
  })
})

const hasLfs = spawnSync('git', ['lfs', 'version']).status === 0

describe.skipIf(!hasLfs)('Git LFS itself, where the user allows it', () => {
  test('content is edited in the work tree, and the tree holds its pointer', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.git('lfs', 'install', '--skip-repo')
    mine(repo, '[galley]\n\tallowFilter = lfs\n')
    repo.git('lfs', 'track', '*.csv')
    repo.write('data.csv', 'a,1\nb,2\n')
    repo.commit('data')
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch(replace('data.csv', 'b,2', 'b,3')) })
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect(inTree(repo, 'data.csv').toString()).toMatch(
      /^version https:\/\/git-lfs.*\noid sha256:.*\nsize 8\n$/,
    )
    expect([repo.read('data.csv'), status(repo)]).toEqual(['a,1\nb,3\n', ''])
    expect(repo.git('lfs', 'fsck')).toContain('OK')
    const back = await galley.undo({ target: change.id })
    await galley.approve({ id: back.change.id })
    await galley.land({ id: back.change.id })
    expect([repo.read('data.csv'), status(repo)]).toEqual(['a,1\nb,2\n', ''])
    repo.git('rm', '-q', '--cached', 'data.csv')
    const gone = await galley.capture({ staged: true })
    await galley.approve({ id: gone.change.id })
    await galley.land({ id: gone.change.id })
    expect([repo.read('data.csv'), repo.git('ls-files', 'data.csv')]).toEqual(['a,1\nb,2\n', ''])
  })
})

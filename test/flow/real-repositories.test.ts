import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const batch = (path: string, old: string, text: string) =>
  Buffer.from(
    JSON.stringify({
      version: 1,
      title: 't',
      agent: { name: 'bot' },
      edits: [{ op: 'replace', path, old, new: text }],
    }),
  )

test('dotfiles: a bare repository and its work tree, both named by the environment', async () => {
  using repo = makeRepo({ files: { shellrc: 'history=10\n' } })
  const gitDir = join(repo.home, 'dots.git')
  renameSync(join(repo.dir, '.git'), gitDir)
  Object.assign(repo.env, { GIT_DIR: gitDir, GIT_WORK_TREE: repo.dir })
  repo.git('config', 'core.bare', 'true')
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: batch('shellrc', '10', '900') })
  await galley.approve({ id: change.id })
  await galley.land({ id: change.id })
  expect([repo.read('shellrc'), repo.git('status', '--porcelain')]).toEqual(['history=900\n', ''])
  const back = await galley.undo({ target: change.id })
  await galley.approve({ id: back.change.id })
  await galley.land({ id: back.change.id })
  expect([repo.read('shellrc'), repo.git('status', '--porcelain')]).toEqual(['history=10\n', ''])
})

test('a partial clone: what is missing is fetched into the store, or the refusal says that it was not', async () => {
  using up = makeRepo({ files: { 'in/a.txt': 'a\n', 'out/b.txt': 'b\n', 'far/c.txt': 'c\n' } })
  up.git('config', 'uploadpack.allowFilter', 'true')
  up.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  using repo = makeRepo()
  rmSync(join(repo.dir, '.git'), { recursive: true })
  const from = `file://${up.dir}`
  repo.git('clone', '-q', '--filter=blob:none', '--sparse', from, '.')
  repo.git('sparse-checkout', 'set', 'in')
  const packs = () => repo.snapshot().gitFiles
  const before = packs()
  {
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch('out/b.txt', 'b', 'B') })
    expect(change.files).toMatchObject([{ path: 'out/b.txt', added: 1, removed: 1 }])
    expect((await galley.read({ path: 'out/b.txt' })).content).toBe('b\n')
    expect(packs()).toEqual(before)
  }
  mkdirSync(join(repo.home, 'away'))
  renameSync(up.dir, join(repo.home, 'away/up'))
  await using galley = await openGalley(repo)
  const refused = await refusal(() => galley.propose({ batch: batch('far/c.txt', 'c', 'C') }))
  renameSync(join(repo.home, 'away/up'), up.dir)
  expect(refused.code).toBe('not-fetched')
  expect(packs()).toEqual(before)
})

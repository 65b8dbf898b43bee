import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { collectGarbage } from '../../src/flow/gc/gc.ts'
import { openWorld } from '../../src/flow/world.ts'
import { openRepository } from '../../src/git/open-repository.ts'
import { sweepDone } from '../../src/landing/finish.ts'
import { recover } from '../../src/landing/recover.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { batch, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { land, refusalOf } from './stage-change.ts'

const galleyOf = (repo: TestRepo): string => join(repo.dir, '.git/galley')
const recoverIn = async (repo: TestRepo) =>
  recover(await openRepository(repo.dir, repo.env), galleyOf(repo), systemClock)

/** Somebody else's files, in a temporary directory of their own. */
function makeVictim(): TestRepo {
  const victim = makeRepo({ files: { mine: 'mine\n' } })
  victim.write('sub/inner.jsonl', 'inner\n')
  victim.write('old/0', 'old\n')
  victim.write('objects/ab/cd', 'object\n')
  return victim
}

/** A folder of a landing as it is when it is over, put where those are that were cut off. */
async function landedFolder(repo: TestRepo): Promise<{ readonly folder: string; readonly id: string }> {
  await land(repo, { 'a.txt': 'A\n' })
  const done = join(galleyOf(repo), 'done')
  const [name = ''] = readdirSync(done)
  const id = name.slice(name.indexOf('-') + 1)
  const folder = join(galleyOf(repo), 'land', id)
  mkdirSync(join(galleyOf(repo), 'land'))
  cpSync(join(done, name), folder, { recursive: true })
  return { folder, id }
}

test.each(['land', 'done', 'tmp', 'sessions'])(
  'a link in the place of %s in the folder of galley is refused, and what it leads to stays',
  async (part) => {
    await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using victim = makeVictim()
    mkdirSync(galleyOf(repo), { recursive: true })
    symlinkSync(victim.dir, join(galleyOf(repo), part))
    const before = victim.snapshot()
    expect(await refusalOf(recoverIn(repo))).toBe('unsupported-repository')
    const world = await openWorld(repo.dir, {
      env: repo.env,
      clock: { ...systemClock, now: () => Date.now() + 1e12 },
    })
    expect(await refusalOf(collectGarbage(world, { dryRun: false }))).toBe('unsupported-repository')
    await world.close()
    expect(victim.snapshot()).toEqual(before)
  },
)

test('a link in the place of one landing, or of a part of it, leads nowhere', async () => {
  await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using victim = makeVictim()
  const before = victim.snapshot()
  mkdirSync(join(galleyOf(repo), 'land/g1-00'), { recursive: true })
  symlinkSync(victim.dir, join(galleyOf(repo), 'land/g2-00'))
  symlinkSync(join(victim.dir, 'objects'), join(galleyOf(repo), 'land/g1-00/objects'))
  expect(await recoverIn(repo)).toEqual({ landings: [] })
  expect(readdirSync(join(galleyOf(repo), 'land'))).toEqual(['g2-00'])
  expect(victim.snapshot()).toEqual(before)
})

test.each([
  ['another folder', (victim: string) => ({ indexFile: null, stages: [victim] })],
  ['a string', (victim: string) => ({ indexFile: null, stages: victim })],
  ['numbers', () => ({ indexFile: 5, stages: [5] })],
  ['an index elsewhere', (victim: string) => ({ indexFile: join(victim, 'mine'), stages: [] })],
  [
    'a folder called as ours that holds other things',
    (victim: string) => ({ indexFile: null, stages: [join(victim, '.galley-g1-00')] }),
  ],
])('notes of a landing that name %s remove nothing', async (_, notes) => {
  await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using victim = makeVictim()
  victim.write('.galley-g1-00/mine', 'mine\n')
  victim.write('mine.lock', 'galley g1-00\n')
  const before = victim.snapshot()
  repo.write('.git/galley/land/g1-00/traces.json', JSON.stringify(notes(victim.dir)))
  repo.write('.git/index.lock', 'galley g1-00\n')
  await recoverIn(repo)
  expect(victim.snapshot()).toEqual(before)
  expect(existsSync(join(repo.dir, '.git/galley/land'))).toBe(false)
})

test('a place beside the files that the notes name is removed', async () => {
  await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  repo.write('.galley-g1-00/new/0', 'new\n')
  repo.write('.galley-g1-00/.gitignore', '*\n')
  const notes = { indexFile: null, stages: [join(repo.dir, '.galley-g1-00')] }
  repo.write('.git/galley/land/g1-00/traces.json', JSON.stringify(notes))
  await recoverIn(repo)
  expect(existsSync(join(repo.dir, '.galley-g1-00'))).toBe(false)
})

const journals: readonly (readonly [string, (text: string, victim: string) => string])[] = [
  ['is of a newer version', (text) => text.replace('"version":1', '"version":2')],
  ['is of another form', () => '{}'],
  ['is null', () => 'null\n'],
  ['is not JSON', () => '{\n'],
  ['is cut short beside displaced files', (text) => text.slice(0, 40)],
  ['is empty beside displaced files', () => ''],
  [
    'names another index',
    (text, victim) => text.replace(/"indexFile":"[^"]*"/, `"indexFile":"${victim}/mine"`),
  ],
  ['names another work tree', (text, victim) => text.replace(/"workTree":"[^"]*"/, `"workTree":"${victim}"`)],
  [
    'names another repository',
    (text, victim) => text.replace(/"gitDir":"[^"]*"/, `"gitDir":"${victim}/.git"`),
  ],
  ['names another place', (text, victim) => text.replaceAll(/"stage":"[^"]*"/g, `"stage":"${victim}"`)],
  ['leads out of the work tree', (text) => text.replaceAll('"path":"a.txt"', '"path":"../a.txt"')],
  ['names a ref that is none', (text) => text.replace(/"ref":"[^"]*"/, '"ref":"refs/../../mine"')],
  ['is that of another landing', (text) => text.replace(/"id":"[^"]*"/, '"id":"other"')],
]

test.each(journals)(
  'a journal that %s is kept and refused, with all that lies beside it',
  async (_, forge) => {
    await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using victim = makeVictim()
    victim.write('mine.lock', '')
    const { folder } = await landedFolder(repo)
    const file = join(folder, 'journal.json')
    const forged = forge(readFileSync(file, 'utf8'), victim.dir)
    writeFileSync(file, forged)
    const [before, victims] = [repo.snapshot(), victim.snapshot()]
    expect(await refusalOf(recoverIn(repo))).toBe('io-error')
    expect(readFileSync(file, 'utf8')).toBe(forged)
    expect(readFileSync(join(folder, 'old/0'), 'utf8')).toBe('a\n')
    expect(repo.snapshot()).toEqual(before)
    expect(victim.snapshot()).toEqual(victims)
  },
)

test('a journal whose displaced files lie behind a link is kept and refused', async () => {
  await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using victim = makeVictim()
  const { folder } = await landedFolder(repo)
  symlinkSync(join(victim.dir, 'objects'), join(folder, 'objects'))
  const victims = victim.snapshot()
  expect(await refusalOf(recoverIn(repo))).toBe('io-error')
  expect(victim.snapshot()).toEqual(victims)
})

test('a journal of which only the beginning was written, with nothing displaced, is no landing yet', async () => {
  await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  for (const [n, text] of ['', '{"ver', '{"version":1,"id":"g', '\0\0\0\0'].entries()) {
    repo.write(`.git/galley/land/g1-0${n}/journal.json`, text)
    mkdirSync(join(galleyOf(repo), `land/g1-0${n}/old`))
  }
  expect(await recoverIn(repo)).toEqual({ landings: [] })
  expect(existsSync(join(galleyOf(repo), 'land'))).toBe(false)
})

test('displaced files whose journal cannot be read any more are kept when their time is over', async () => {
  await using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } })
  await land(repo, { 'a.txt': 'A\n' })
  const done = join(galleyOf(repo), 'done')
  const folder = join(done, readdirSync(done)[0] ?? '')
  const journal = readFileSync(join(folder, 'journal.json'), 'utf8')
  writeFileSync(join(folder, 'journal.json'), journal.replace('"version":1', '"version":2'))
  const later = { ...systemClock, now: () => Date.now() + 13 * 3600_000 }
  expect((await sweepDone(galleyOf(repo), later)).join()).toContain(folder)
  expect(readFileSync(join(folder, 'old/0'), 'utf8')).toBe('a\n')
})

test('a landing in another work tree of the repository is recovered from this one', async () => {
  await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  const tree = join(repo.home, 'linked')
  repo.git('worktree', 'add', '-q', tree, '-b', 'side')
  await using galley = await openGalley(repo, { dir: tree })
  const { change } = await galley.propose({ batch: batch([{ op: 'append', path: 'a.txt', content: 'b\n' }]) })
  await galley.approve({ id: change.id, digest: change.digest })
  await galley.land({ id: change.id })
  const [name = ''] = readdirSync(join(galleyOf(repo), 'done'))
  mkdirSync(join(galleyOf(repo), 'land'))
  const folder = join(galleyOf(repo), 'land', name.slice(name.indexOf('-') + 1))
  cpSync(join(galleyOf(repo), 'done', name), folder, { recursive: true })
  rmSync(join(galleyOf(repo), 'done'), { recursive: true })
  expect((await recoverIn(repo)).landings).toMatchObject([{ outcome: 'finished', ref: 'refs/heads/side' }])
  expect(readFileSync(join(tree, 'a.txt'), 'utf8')).toBe('a\nb\n')
})

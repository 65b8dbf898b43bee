import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { busyHands, dice } from '../helpers/busy-hands.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const CENSUS = join(import.meta.dirname, '../helpers/census.mjs')
const PROGRAM = join(import.meta.dirname, '../../dist/galley.js')
const RUNS = Number(process.env['GALLEY_RUNS'] ?? 40)
const FIRST = Number(process.env['GALLEY_SEED'] ?? 1)
const STEPS_MAX = 14

const POLICY = JSON.stringify({
  limits: { fileMaxBytes: 200_000 },
  setup: { run: 'mkdir -p gen && echo made > gen/a.c' },
  checks: [],
})

function makeWorld(): TestRepo {
  const repo = makeRepo({
    files: {
      'a.txt': 'one\n',
      'c.txt': 'three\n',
      'd/b.txt': 'two\n',
      '.gitignore': 'build/\n*.log\n.env\n',
      '.worktreeinclude': '.env\n',
      '.galley.json': POLICY,
    },
  })
  repo.write('.env', 'KEY=1\n')
  return repo
}

const markersIn = (...directories: readonly string[]): readonly string[] =>
  JSON.parse(execFileSync(process.execPath, [CENSUS, ...directories], { encoding: 'utf8' })) as string[]

/** Everything that refs of the store lead to, as bytes. */
function keptInStore(repo: TestRepo): string {
  const store = join(repo.dir, '.git/galley/store.git')
  const git = (args: readonly string[], input?: string) =>
    execFileSync('git', ['--git-dir', store, ...args], { env: repo.env, input, maxBuffer: 1 << 28 })
  const ids = git(['rev-list', '--objects', '--no-object-names', '--all'])
  const refs = git(['for-each-ref', '--format=%(refname)'])
  const objects = git(['cat-file', '--batch'], ids.toString())
  return objects.toString('latin1') + refs.toString('latin1') + insideBlobs(repo, objects)
}

/** An object store that became files of the work is looked into as the one that it was. */
function insideBlobs(repo: TestRepo, objects: Buffer): string {
  const directory = join(repo.home, 'blobs/objects')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  for (let at = 0; at < objects.length; ) {
    const end = objects.indexOf(0x0a, at)
    const [id = '', , size = '0'] = objects.toString('latin1', at, end).split(' ')
    const bytes = objects.subarray(end + 1, end + 1 + Number(size))
    if (bytes[0] === 0x78) writeFileSync(join(directory, id.slice(2)), bytes)
    if (bytes.toString('latin1', 0, 4) === 'PACK') writeFileSync(join(directory, `${id}.pack`), bytes)
    at = end + 1 + Number(size) + 1
  }
  return markersIn(directory.slice(0, -'/objects'.length)).join(' ')
}

interface Ended {
  readonly code: number | null
  readonly said: string
}

function galley(repo: TestRepo, args: readonly string[], killedAfterMs?: number): Promise<Ended> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: repo.dir, env: repo.env })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
    })
  if (killedAfterMs !== undefined) {
    const done = join(repo.home, 'worked')
    const poll = setInterval(() => {
      if (!existsSync(done)) return
      clearInterval(poll)
      setTimeout(() => child.kill('SIGKILL'), killedAfterMs)
    }, 5)
  }
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })))
}

/** The work, and then what stands in the tree by bytes: whatever galley makes of it, this is what must be found. */
const scriptOf = (home: string, name: string, work: string): string =>
  `${work}\nnode ${CENSUS} . > ${home}/${name}.part; mv ${home}/${name}.part ${home}/${name}; rm -f $HOME/filter-ran; touch ${home}/worked`

const expectedOf = (repo: TestRepo, name: string): readonly string[] =>
  JSON.parse(readFileSync(join(repo.home, name), 'utf8')) as string[]

function missing(repo: TestRepo, names: readonly string[]): readonly string[] {
  const expected = names.flatMap((name) => expectedOf(repo, name))
  const store = keptInStore(repo)
  const beside = new Set(markersIn(join(repo.home, 'cache')))
  return expected.filter((marker) => !store.includes(marker) && !beside.has(marker))
}

/** A run that nobody works in finds what the commit says, and nothing that the ones before it did. */
async function expectCleanNext(repo: TestRepo): Promise<void> {
  const next = await galley(repo, [
    'run',
    '--json',
    '--',
    'sh',
    '-c',
    `node ${CENSUS} .; git stash list; git status --porcelain`,
  ])
  expect(next.said).toMatch(/"changes": ?\[\]/)
  expect(JSON.parse(next.said.slice(next.said.indexOf('{')))).toMatchObject({ ok: true, left: [] })
}

async function oneCase(seed: number): Promise<void> {
  await using repo = makeWorld()
  const random = dice(seed)
  const before = repo.snapshot()
  const count = random.below(4) === 0 ? 2 : 1
  const names = Array.from({ length: count }, (_, i) => `made-${i}`)
  const kill = random.below(3) === 0 && count === 1 ? random.below(600) : undefined
  const keeps = random.below(4) === 0 ? ['--keep-commits'] : []
  const ends = await Promise.all(
    names.map((name) => {
      const script = scriptOf(repo.home, name, busyHands(random, 1 + random.below(STEPS_MAX)))
      return galley(repo, ['run', '--json', ...keeps, '--', 'bash', '-c', script], kill)
    }),
  )
  for (const { code, said } of ends) {
    if (kill === undefined) expect([0, 1], said).toContain(code)
    expect(said).not.toContain('"internal"')
  }
  const gc = await galley(repo, ['gc', '--json'])
  expect(gc.code, gc.said).toBe(0)
  expect(missing(repo, names), `${ends.map((e) => e.said).join('\n')}\n${gc.said}`).toEqual([])
  expect(existsSync(join(repo.home, 'filter-ran')) && kill === undefined ? 'a filter ran' : '').toBe('')
  expect(repo.snapshot()).toEqual(before)
  await expectCleanNext(repo)
}

/** A person works in the tree of a change that lands, or is rejected, meanwhile. */
async function openedCase(seed: number): Promise<void> {
  await using repo = makeWorld()
  const random = dice(seed)
  const run = await galley(repo, ['run', '--json', '--', 'sh', '-c', 'echo c > new.txt'])
  const { id } = (JSON.parse(run.said) as { change: { id: string } }).change
  const path = (await galley(repo, ['open', id])).said.trim()
  const script = scriptOf(repo.home, 'made-0', busyHands(random, 1 + random.below(STEPS_MAX)))
  // Its background writers end with it: a person closes the terminal.
  const options = { cwd: path, env: repo.env, stdio: 'ignore' } as const
  execFileSync('bash', ['-c', `trap 'kill $(jobs -p) 2>/dev/null' EXIT\n${script}`], options)
  const before = repo.snapshot()
  const decided = random.below(2) === 0 ? ['land', id, '--approve'] : ['reject', id, '-m', 'no']
  const end = await galley(repo, [...decided, '--json'])
  expect(end.code, end.said).toBe(0)
  const gc = await galley(repo, ['gc', '--json'])
  expect(gc.code, gc.said).toBe(0)
  expect(missing(repo, ['made-0']), `${end.said}\n${gc.said}`).toEqual([])
  if (decided[0] === 'reject') expect(repo.snapshot()).toEqual(before)
  const own = new Set(expectedOf(repo, 'made-0'))
  expect(markersIn(repo.dir).filter((marker) => own.has(marker))).toEqual([])
}

describe('the census', () => {
  test.each(Array.from({ length: RUNS }, (_, i) => FIRST + i))(
    'seed %i: every byte and commit of a run is in a change, under a kept ref, in a folder, or still in its tree, and nowhere else',
    (seed) => oneCase(seed),
    120_000,
  )

  test.each(Array.from({ length: Math.ceil(RUNS / 4) }, (_, i) => FIRST + i))(
    'seed %i: what a person did in an opened tree is there when its change was decided, and nowhere else',
    (seed) => openedCase(seed),
    120_000,
  )
})

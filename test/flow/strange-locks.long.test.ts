import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const program = join(import.meta.dirname, '../../dist/galley.js')
const MINUTE_MS = 60_000

/** The exit code and the refusal's code, of a command that may not wait for ever. */
function run(repo: TestRepo, ...args: readonly string[]): readonly [number | null, string | null] {
  const options = { cwd: repo.dir, env: repo.env, timeout: 60_000, killSignal: 'SIGKILL' } as const
  const { status, stdout } = spawnSync(process.execPath, [program, '--json', ...args], options)
  const answer = stdout.length === 0 ? null : JSON.parse(stdout.toString('utf8'))
  return [status, answer?.error?.code ?? null]
}

/** A repository with an approved change. */
async function withChange(): Promise<TestRepo> {
  const repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: batch([{ op: 'append', path: 'a.txt', content: 'b\n' }]) })
  await galley.approve({ id: change.id, digest: change.digest })
  return repo
}

const inGalley = (repo: TestRepo, name: string): string => join(repo.dir, '.git/galley', name)
const makePipe = (path: string): void => void execFileSync('mkfifo', [path])
const age = (path: string, minutes: number): void => {
  const seconds = (Date.now() - minutes * MINUTE_MS) / 1000
  utimesSync(path, seconds, seconds)
}

describe('something else in the place of a lock', () => {
  test.each([
    ['a directory', (path: string) => void mkdirSync(path)],
    ['a pipe', makePipe],
  ])('%s as the landing lock: looking works, landing is refused', async (_, make) => {
    using repo = await withChange()
    make(inGalley(repo, 'landing.lock'))
    expect(run(repo, 'status')).toEqual([0, null])
    expect(run(repo, 'doctor')).toEqual([1, null])
    expect(run(repo, 'land', '--last')).toEqual([1, 'busy'])
    expect(repo.read('a.txt')).toBe('a\n')
  })

  test.each([
    ['a directory', (path: string) => void mkdirSync(path)],
    ['a pipe', makePipe],
  ])('%s in the line of those who wait harms nobody', async (_, make) => {
    using repo = await withChange()
    make(inGalley(repo, `landing.lock.wait-${String(Date.now()).padStart(15, '0')}-abc`))
    expect(run(repo, 'status')).toEqual([0, null])
    expect(run(repo, 'land', '--last')).toEqual([0, null])
  })

  test.each([
    ['the log', '.git/galley/galley.log'],
    ['the lock of the index', '.git/index.lock'],
    ['the notes of a landing', '.git/galley/land/g1-00/traces.json'],
  ])('a pipe as %s is not waited for', async (_, name) => {
    using repo = await withChange()
    const path = join(repo.dir, name)
    mkdirSync(join(path, '..'), { recursive: true })
    rmSync(path, { force: true })
    makePipe(path)
    for (const verb of ['status', 'doctor', 'recover']) expect(run(repo, verb)[0]).not.toBe(null)
    const [code] = run(repo, 'land', '--last')
    expect(code).toBe(name === '.git/index.lock' ? 1 : 0)
  })

  test.each([
    ['empty', ''],
    ['garbage', '\0\0\0'],
  ])('a lock that is %s goes when it is old, and not before', async (_, text) => {
    using repo = await withChange()
    repo.write('.git/galley/landing.lock', text)
    age(inGalley(repo, 'landing.lock'), 4)
    expect(run(repo, 'recover')).toEqual([0, null])
    expect(existsSync(inGalley(repo, 'landing.lock'))).toBe(true)
    age(inGalley(repo, 'landing.lock'), 6)
    expect(run(repo, 'recover')).toEqual([0, null])
    const names = readdirSync(join(repo.dir, '.git/galley'))
    expect(names.filter((name) => name.startsWith('landing.lock'))).toEqual([])
    expect(run(repo, 'land', '--last')).toEqual([0, null])
  })
})

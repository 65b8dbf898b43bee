import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeRepo } from '../helpers/repo.ts'
import { type Stage, stages, type Tried, tryAgainst } from './full-disk.ts'
import { bundleVerb, runVerb } from './verb-trial.ts'

/** Permissions mean nothing to root, who tries as somebody else then. */
const isRoot = process.getuid?.() === 0
const NOBODY = 65534

/** Places that a verb may write to, in the repository; `null` = the folder of scratch trees. */
const DIRECTORIES = [
  ...['.', 'gone', '.git', '.git/objects', '.git/refs/heads', '.git/logs/refs/heads', '.git/galley'],
  ...['.git/galley/store.git', '.git/galley/store.git/objects/pack', '.git/galley/store.git/refs/galley/log'],
  ...['.git/galley/store.git/refs/galley/changes', '.git/galley/store.git/refs', null],
] as const

function tryWithout(program: string, stage: Stage, place: string | null, mode: number): Tried {
  const { home, dir } = stage.repo
  const file = place === null ? join(home, 'cache') : join(dir, place)
  let usual = 0
  return tryAgainst(program, stage, {
    put: () => {
      if (isRoot) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, home])
      usual = existsSync(file) ? statSync(file).mode & 0o7777 : 0
      if (existsSync(file)) chmodSync(file, mode)
    },
    lift: () => {
      if (existsSync(file)) chmodSync(file, usual)
    },
    ...(isRoot ? { account: NOBODY } : {}),
  })
}

describe('where the system gives no permission', () => {
  test('every verb is refused with a code, changes nothing, and is done as soon as it may', {
    timeout: 600_000,
  }, async () => {
    const { program, remove } = await bundleVerb()
    const codes: string[] = []
    const wrong: string[] = []
    for (const stage of stages(program, tmpdir())) {
      for (const [place, mode] of [
        ...DIRECTORIES.map((one) => [one, 0o555] as const),
        ['long.txt', 0] as const,
      ]) {
        const { code, faults } = tryWithout(program, stage, place, mode)
        const what = `${stage.name} ${place}`
        if (code !== null) codes.push(what)
        wrong.push(...faults.map((fault) => `${what}: ${fault}`))
      }
    }
    remove()
    expect(wrong).toEqual([])
    expect(codes).toEqual(
      expect.arrayContaining([
        'propose .git',
        'land .',
        'land gone',
        'land .git/objects',
        'land .git/refs/heads',
      ]),
    )
  })

  test('who says what may not be read is at work for a day, and keeps nobody from it', async () => {
    const { program, remove } = await bundleVerb()
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const place = join(repo.dir, '.git/galley/at-work')
    mkdirSync(place, { recursive: true, mode: 0o700 })
    const [recent, old] = [join(place, 'recent'), join(place, 'old')]
    for (const file of [recent, old]) writeFileSync(file, '{}', { mode: 0 })
    utimesSync(old, 1, 1)
    if (isRoot) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, repo.home])
    const tried = () => runVerb(program, repo, { verb: 'recover' }, isRoot ? NOBODY : null)
    expect(tried()).toMatchObject({ ok: true })
    expect(readdirSync(place).sort()).toEqual(['old', 'recent'])
    rmSync(recent)
    expect(tried()).toMatchObject({ ok: true })
    expect(readdirSync(place)).toEqual([])
    remove()
  })
})

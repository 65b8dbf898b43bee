import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { changesBetween, done, litter, runVerb, type Verb } from './verb-trial.ts'

/** A file system of a few megabytes, with room to be taken away. */
export interface SmallDisk extends Disposable {
  readonly directory: string
  /** Takes all room but so many bytes. */
  readonly leaveBytes: (free: number) => void
  /** Takes all inodes but so many. */
  readonly leaveInodes: (free: number) => void
  /** Gives the room back. */
  readonly lift: () => void
  readonly remount: (how: 'ro' | 'rw') => void
}

/**
 * Mounts an ext4 in a file. Needs to be root, with loop devices.
 *
 * @throws Error with what `mount` said.
 */
export function mountSmallDisk(mebibytes: number, inodes: number): SmallDisk {
  const home = mkdtempSync(join(tmpdir(), 'galley-disk-'))
  const directory = join(home, 'mounted')
  const image = join(home, 'image')
  const run = (file: string, ...args: readonly string[]) =>
    execFileSync(file, [...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  mkdirSync(directory)
  run('truncate', '-s', `${mebibytes}M`, image)
  run('mkfs.ext4', '-q', '-F', '-m', '0', '-b', '1024', '-N', `${inodes}`, image)
  run('mount', '-o', 'loop', image, directory)
  const ballast = join(directory, 'ballast')
  const allocate = (file: string, bytes: number) =>
    spawnSync('fallocate', ['-l', `${Math.floor(bytes)}`, file]).status === 0
  mkdirSync(ballast)
  return {
    directory,
    leaveBytes: (free) => {
      const tooMuch = () => Number(statfsSync(directory).bavail) * 1024 - free
      // The map of a large file takes room too: in ever smaller parts, until no block is too much.
      let part = tooMuch()
      for (let n = 0; part >= 1024; n++) {
        if (!allocate(join(ballast, `bytes-${n}`), part)) part /= 2
        part = Math.min(part, tooMuch())
      }
    },
    leaveInodes: (free) => {
      const taken = Number(statfsSync(directory).ffree) - free
      for (let n = 0; n < taken; n++) writeFileSync(join(ballast, `${n}`), '')
    },
    lift: () => {
      for (const name of readdirSync(ballast)) rmSync(join(ballast, name))
    },
    remount: (how) => run('mount', '-o', `remount,${how}`, directory),
    [Symbol.dispose]: () => {
      run('umount', directory)
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** A repository with a verb that is about to run in it; can be brought back to that state. */
export interface Stage {
  readonly name: string
  readonly repo: TestRepo
  readonly verb: Verb
  readonly restore: () => void
}

const long = (word: string) => `${word}\n`.repeat(3000)

const FILES = {
  'long.txt': long('old'),
  'mine.txt': Array.from({ length: 30 }, (_, n) => `line ${n}\n`).join(''),
  'gone/away.txt': 'away\n',
  'moved.txt': 'moved\n',
}

const BATCH = {
  version: 1,
  title: 'A change',
  edits: [
    { op: 'write', path: 'long.txt', mode: 'overwrite', content: long('new') },
    { op: 'replace', path: 'mine.txt', old: 'line 3\n', new: 'LINE 3\n' },
    { op: 'delete', path: 'gone/away.txt' },
    { op: 'move', path: 'moved.txt', to: 'deep/er/moved.txt' },
    { op: 'write', path: 'deep/new.txt', mode: 'create', content: 'new\n' },
  ],
}

/** The verbs that write, each with the state from which it starts; uncommitted work lies in a touched file. */
export function* stages(program: string, under: string): Generator<Stage> {
  const repo = makeRepo({ files: FILES, under })
  const saved = mkdtempSync(join(tmpdir(), 'galley-saved-'))
  const save = () => {
    rmSync(saved, { recursive: true })
    cpSync(repo.home, saved, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  }
  const restore = () => {
    for (const name of readdirSync(repo.home)) rmSync(join(repo.home, name), { recursive: true })
    cpSync(saved, repo.home, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  }
  const step = (name: string, verb: Verb): Stage => {
    save()
    return { name, repo, verb, restore }
  }
  repo.write('mine.txt', `${FILES['mine.txt']}not committed\n`)
  // Some of the verbs run as another account, and what they leave is looked at by this one.
  appendFileSync(join(repo.home, 'gitconfig'), '[safe]\n\tdirectory = *\n')
  yield step('propose', { verb: 'propose', batch: BATCH })
  restore()
  const id = done(runVerb(program, repo, { verb: 'propose', batch: BATCH }))
  yield step('approve', { verb: 'approve', id })
  restore()
  done(runVerb(program, repo, { verb: 'approve', id }))
  yield step('land', { verb: 'land', id })
  restore()
  done(runVerb(program, repo, { verb: 'land', id }))
  yield step('undo', { verb: 'undo', target: id })
  restore()
  const undo = done(runVerb(program, repo, { verb: 'undo', target: id }))
  done(runVerb(program, repo, { verb: 'approve', id: undo }))
  yield step('land the undo', { verb: 'land', id: undo })
  restore()
  done(runVerb(program, repo, { verb: 'land', id: undo }))
  yield step('capture', { verb: 'capture' })
  restore()
  done(runVerb(program, repo, { verb: 'capture' }))
  yield step('gc', { verb: 'gc' })
  repo[Symbol.dispose]()
  rmSync(saved, { recursive: true })
}

export interface Tried {
  /** Of the refusal; null = done. */
  readonly code: string | null
  /** What is not as it has to be. */
  readonly faults: readonly string[]
}

/** Runs the verb where the system stands in its way, then without: what is left of the first run is told. */
export function tryAgainst(
  program: string,
  { repo, verb, restore }: Stage,
  obstacle: { readonly put: () => void; readonly lift: () => void; readonly account?: number },
): Tried {
  restore()
  obstacle.put()
  const before = repo.snapshot()
  const outcome = runVerb(program, repo, verb, obstacle.account)
  const changed = outcome.ok ? [] : changesBetween(before, repo.snapshot())
  obstacle.lift()
  if (outcome.ok) return { code: null, faults: [...litter(repo), ...brokenStore(repo)] }
  const isPublic = outcome.code === 'io-error'
  const second = runVerb(program, repo, verb, obstacle.account)
  return {
    code: outcome.code,
    faults: [
      ...(isPublic ? [] : [`refused with ${outcome.code}: ${outcome.said.slice(0, 600)}`]),
      ...changed,
      ...(second.ok ? [] : [`afterwards refused: ${second.code}: ${second.said.slice(0, 600)}`]),
      ...litter(repo).map((name) => `left: ${name}`),
      ...brokenStore(repo),
    ],
  }
}

/** What git finds broken in the repository or in the store. */
export function brokenStore(repo: TestRepo): readonly string[] {
  const store = join(repo.dir, '.git/galley/store.git')
  const fsck = ['fsck', '--strict', '--no-dangling']
  const looked = [
    repo.tryGit(...fsck),
    ...(existsSync(store) ? [repo.tryGit(`--git-dir=${store}`, ...fsck)] : []),
  ]
  return looked.flatMap(({ out }) => (out === '' ? [] : [out]))
}

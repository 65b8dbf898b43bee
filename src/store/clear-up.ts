import { join } from 'node:path'
import type { Repository } from '../git/open-repository.ts'
import { limits } from '../model/limits.ts'
import type { Clock } from '../sys/clock.ts'
import { lookAtLock, readTextOrNull, removeUnchanged, type SeenLock } from '../sys/lock-file.ts'
import { findNames, passingIdentity } from '../sys/passing-files.ts'
import { mayUseRepository } from '../sys/process-list.ts'
import { listDirectory, removeTree } from '../sys/trees.ts'
import type { AtWork } from './at-work.ts'
import { scratchHome } from './scratch.ts'

/** A git whose galley was killed has read its last by then. */
const PATIENCE_MS = 3_000

/** They take no lock, and those who are at work have one running. */
const READERS = ['cat-file']

/**
 * Takes away what killed processes left in galley's folder: locks of their gits, which would stand in the way of the next one, and
 * files and trees that were being made.
 *
 * Only where somebody was killed, and costs a look at who else is at work otherwise. A lock goes while no git is running in the store or in a
 * scratch tree; the rest while nobody else is at work. Where either cannot be told, it is left to a later time.
 */
export async function clearUpAfterKilled(
  repository: Repository,
  galleyDir: string,
  atWork: AtWork,
  clock: Clock,
): Promise<void> {
  const { dead } = await atWork.others()
  if (dead.length === 0) return
  const gitDir = join(galleyDir, 'store.git')
  // Looked for before it is asked who is there: whoever begins after that question has nothing among these.
  const locks = abandonable(gitDir)
  const unfinished = await unfinishedIn(galleyDir, gitDir)
  const others = await atWork.others()
  if (others.unknown > 0 || !(await nobodyUses([gitDir, scratchHome(repository)], locks, clock))) return
  for (const [file, seen] of locks) removeUnchanged(file, seen)
  if (others.alive > 0) return
  for (const [path, identity] of unfinished) if (passingIdentity(path) === identity) await removeTree(path)
  await removeHalfMadeTrees(repository, gitDir)
  atWork.forget(dead)
}

/** What git makes under a lock of another name stands in the way as much as the lock. */
const isLock = (name: string): boolean => name.endsWith('.lock') || name === 'packed-refs.new'

function abandonable(gitDir: string): ReadonlyMap<string, SeenLock> {
  const files = findNames(gitDir, isLock, ['logs'])
  return new Map(
    files.flatMap((file) => {
      const seen = lookAtLock(file)
      return seen === null ? [] : [[file, seen] as const]
    }),
  )
}

/** Passing files and directories, by what they are known by. */
async function unfinishedIn(galleyDir: string, gitDir: string): Promise<ReadonlyMap<string, string>> {
  const names = [
    ...(await listDirectory(galleyDir)).filter((name) => /^store-/.test(name)),
    ...(await listDirectory(join(galleyDir, 'tmp'))).map((name) => join('tmp', name)),
  ].map((name) => join(galleyDir, name))
  const objects = findNames(join(gitDir, 'objects'), (name) => /^\.?tmp[-_]/.test(name))
  // fast-import keeps its pack from others until it is done; nothing would ever collect it.
  const packs = findNames(join(gitDir, 'objects', 'pack'), (name) => name.endsWith('.keep'))
  const held = packs.filter((file) => readTextOrNull(file) === 'fast-import')
  const reports = (await listDirectory(gitDir)).filter((name) => name.startsWith('fast_import_crash_'))
  const paths = [...names, ...objects, ...held, ...reports.map((name) => join(gitDir, name))]
  return new Map(
    paths.flatMap((path) => {
      const identity = passingIdentity(path)
      return identity === null ? [] : [[path, identity] as const]
    }),
  )
}

/** Whether no git is at work; where that cannot be seen, whether every lock is older than any of our gits gets. */
async function nobodyUses(
  places: readonly string[],
  locks: ReadonlyMap<string, SeenLock>,
  clock: Clock,
): Promise<boolean> {
  const oldestMs = clock.now() - 2 * limits.gitTimeoutMs
  if ([...locks.values()].every((lock) => lock.changedAtMs < oldestMs)) return true
  const until = clock.now() + PATIENCE_MS
  while (mayUseRepository('git', places, READERS)) {
    if (clock.now() >= until) return false
    await clock.sleep(20)
  }
  return true
}

/** `git worktree add` registers a tree at no commit first, and moves its HEAD then. */
async function removeHalfMadeTrees(repository: Repository, gitDir: string): Promise<void> {
  for (const name of await listDirectory(join(gitDir, 'worktrees'))) {
    const registration = join(gitDir, 'worktrees', name)
    if (!/^0*$/.test((readTextOrNull(join(registration, 'HEAD')) ?? '').trim())) continue
    const path = join(scratchHome(repository), name)
    const holds = await listDirectory(path)
    if (holds.every((entry) => entry === '.git')) await removeTree(path)
    await removeTree(registration)
  }
}

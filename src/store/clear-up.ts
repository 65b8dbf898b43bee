import { dirname, join } from 'node:path'
import type { Repository } from '../git/open-repository.ts'
import { limits } from '../model/limits.ts'
import type { Clock } from '../sys/clock.ts'
import { lookAtLock, readTextOrNull, removeUnchanged, type SeenLock } from '../sys/lock-file.ts'
import { findNames, lookAtPassing, type PassingFile } from '../sys/passing-files.ts'
import { repositoryUse } from '../sys/process-list.ts'
import { listDirectory, removeTree } from '../sys/trees.ts'
import type { AtWork } from './at-work.ts'
import { scratchHome } from './scratch-home.ts'

/** A git whose galley was killed has read its last by then. */
const PATIENCE_MS = 3_000

/** They take no lock: those who are at work have the first running, and git leaves the others running behind it. */
const HARMLESS = ['cat-file', 'credential-cache--daemon', 'fsmonitor--daemon']

/**
 * Takes away what killed processes left in galley's folder: locks of their gits, which would stand in the way of the next one, and
 * files and trees that were being made.
 *
 * Only where somebody was killed, and costs a look at who else is at work otherwise. A lock goes while no git is running in the store or in a
 * scratch tree; the rest while nobody else is at work either. Where that cannot be told, it is left to a later time.
 *
 * @returns Whether somebody was killed, or failed in the middle.
 */
export async function clearUpAfterKilled(
  repository: Repository,
  galleyDir: string,
  atWork: AtWork,
  clock: Clock,
): Promise<boolean> {
  const { dead, mayHoldLocks, alive } = await atWork.others()
  if (dead.length === 0 || (!mayHoldLocks && alive > 0)) return dead.length > 0
  const gitDir = join(galleyDir, 'store.git')
  // Looked for before it is asked who is there: whoever begins after that question has nothing among these.
  const locks = abandonable(gitDir)
  const unfinished = await unfinishedIn(repository, galleyDir, gitDir)
  const others = await atWork.others()
  const places = [gitDir, scratchHome(repository), ...(await treesOf(gitDir))]
  const changedAtMs = [...locks.values(), ...unfinished.values()].map((seen) => seen.changedAtMs)
  if (others.unknown > 0 || !(await nobodyUses(places, changedAtMs, clock))) return true
  // Before the locks: a tree out of which one was taken is not as it was seen.
  if (others.alive === 0)
    for (const [path, seen] of unfinished) if (isStill(path, seen)) await removeTree(path)
  for (const [file, seen] of locks) removeUnchanged(file, seen)
  if (others.alive > 0) await atWork.markUnlocked(dead)
  else atWork.forget(dead)
  return true
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

/** Passing files and directories, and trees that are only half registered. */
async function unfinishedIn(
  repository: Repository,
  galleyDir: string,
  gitDir: string,
): Promise<ReadonlyMap<string, PassingFile>> {
  const names = [
    ...(await listDirectory(galleyDir)).filter((name) => /^store-/.test(name)),
    ...(await listDirectory(join(galleyDir, 'tmp'))).map((name) => join('tmp', name)),
  ].map((name) => join(galleyDir, name))
  const objects = findNames(join(gitDir, 'objects'), (name) => /^\.?tmp[-_]/.test(name))
  // fast-import keeps its pack from others until it is done; nothing would ever collect it.
  const packs = findNames(join(gitDir, 'objects', 'pack'), (name) => name.endsWith('.keep'))
  const held = packs.filter((file) => 'fast-import'.startsWith(readTextOrNull(file) ?? '?'))
  const reports = (await listDirectory(gitDir)).filter((name) => name.startsWith('fast_import_crash_'))
  const trees = await halfMadeTrees(repository, gitDir)
  const paths = [...names, ...objects, ...held, ...reports.map((name) => join(gitDir, name)), ...trees]
  return new Map(
    paths.flatMap((path) => {
      const seen = lookAtPassing(path)
      return seen === null ? [] : [[path, seen] as const]
    }),
  )
}

const isStill = (path: string, seen: PassingFile): boolean => lookAtPassing(path)?.identity === seen.identity

/** Whether no git is at work; where that cannot be seen, whether all of it is older than any of our gits gets. */
async function nobodyUses(
  places: readonly string[],
  changedAtMs: readonly number[],
  clock: Clock,
): Promise<boolean> {
  const until = clock.elapsedMs() + PATIENCE_MS
  for (;;) {
    const use = repositoryUse('git', places, HARMLESS)
    const oldestMs = clock.now() - 2 * limits.gitTimeoutMs
    if (use === 'none' || (use === 'hidden' && changedAtMs.every((ms) => ms < oldestMs))) return true
    if (clock.elapsedMs() >= until) return false
    await clock.sleep(20)
  }
}

/** The scratch trees, wherever they were made. */
async function treesOf(gitDir: string): Promise<readonly string[]> {
  const marks = (await listDirectory(join(gitDir, 'worktrees'))).map((name) =>
    readTextOrNull(join(gitDir, 'worktrees', name, 'gitdir')),
  )
  return marks.flatMap((mark) => (mark === null || !mark.startsWith('/') ? [] : [dirname(mark.trim())]))
}

/**
 * `git worktree add` registers a tree at no commit first, moves its HEAD then, and fills it last: one that holds anything is not half made,
 * whatever has become of its HEAD.
 */
async function halfMadeTrees(repository: Repository, gitDir: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const name of await listDirectory(join(gitDir, 'worktrees'))) {
    const registration = join(gitDir, 'worktrees', name)
    if (!/^0*$/.test((readTextOrNull(join(registration, 'HEAD')) ?? '').trim())) continue
    const path = join(scratchHome(repository), name)
    if ((await listDirectory(path)).every((entry) => entry === '.git')) found.push(path, registration)
  }
  return found
}

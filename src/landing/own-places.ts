import { basename, dirname, join, relative } from 'node:path'
import type { Repository } from '../git/open-repository.ts'
import type { LandingJournal } from '../store/landing-journal.ts'
import { namesIn } from '../sys/directories.ts'
import { resolveFile } from '../sys/index-snapshot.ts'
import { standsAt } from '../sys/plain-file.ts'
import { readFileOrNull } from '../sys/small-files.ts'

/** What a landing makes in each of its places, and walks into. */
export const STAGE_PARTS = ['new', 'old', 'gone', 'directories'] as const

/** How a place beside the work tree's files is called, for files on another device than galley's folder. */
export const stageName = (id: string): string => `.galley-${id}`

/** The index of this work tree, and those of the repository's others. */
export async function ownIndexFiles(commonDir: string, gitDir: string): Promise<readonly string[]> {
  const worktrees = join(commonDir, 'worktrees')
  const gitDirs = new Set([gitDir, commonDir])
  for (const name of await namesIn(worktrees)) gitDirs.add(join(worktrees, name))
  return [...gitDirs].map((each) => resolveFile(join(each, 'index')))
}

/** Whether a directory is one that the landing `id` made beside the work tree's files: by its name, and by what is in it. */
export async function isOwnStage(stage: string, id: string): Promise<boolean> {
  if (basename(stage) !== stageName(id) || standsAt(stage) !== 'directory') return false
  const parts: readonly string[] = STAGE_PARTS
  return (await namesIn(stage)).every((name) => parts.includes(name) || name.startsWith('.gitignore'))
}

/**
 * What a journal names that is not this repository's or not this landing's, so that nothing may be moved or removed by it;
 * null = all is where a landing of this repository puts it.
 */
export async function foreignPlace(
  repository: Pick<Repository, 'commonDir' | 'gitDir' | 'workTree'>,
  landDir: string,
  journal: LandingJournal,
): Promise<string | null> {
  const { gitDir, workTree, indexFile } = journal
  if (!isOwnGitDir(repository.commonDir, gitDir)) return gitDir
  if (![join(gitDir, 'index'), resolveFile(join(gitDir, 'index'))].includes(indexFile)) return indexFile
  const isThere = standsAt(gitDir) !== 'absent' && standsAt(workTree) !== 'absent'
  if (isThere && !(await belongsTogether(repository, gitDir, workTree))) return workTree
  for (const { stage } of [...journal.files, ...journal.cleared, { stage: landDir }]) {
    const isOwn = resolveFile(stage) === resolveFile(landDir) || isBeside(workTree, stage, journal.id)
    if (!isOwn) return stage
    for (const part of [...STAGE_PARTS, 'objects'])
      if (!['absent', 'directory'].includes(standsAt(join(stage, part)))) return join(stage, part)
  }
  return null
}

/** Whether a git directory is the repository's, or one of its work trees'. */
export function isOwnGitDir(commonDir: string, gitDir: string): boolean {
  const [common, own] = [resolveFile(commonDir), resolveFile(gitDir)]
  return own === common || resolveFile(dirname(gitDir)) === join(common, 'worktrees')
}

/** The work tree that we are in says so itself; another one names its git directory. */
async function belongsTogether(
  repository: Pick<Repository, 'gitDir' | 'workTree'>,
  gitDir: string,
  workTree: string,
): Promise<boolean> {
  if (resolveFile(repository.gitDir) === resolveFile(gitDir) && repository.workTree !== null)
    return resolveFile(repository.workTree) === resolveFile(workTree)
  return (await gitDirNamedIn(workTree)) === resolveFile(gitDir)
}

/** The git directory that a work tree itself says it has; null = it says nothing. */
export async function gitDirNamedIn(workTree: string): Promise<string | null> {
  const mark = join(workTree, '.git')
  if (['directory', 'link'].includes(standsAt(mark))) return resolveFile(mark)
  const named = /^gitdir: (.*?)\n?$/s.exec((await readFileOrNull(mark))?.toString('utf8') ?? '')?.[1]
  return named === undefined ? null : resolveFile(join(named.startsWith('/') ? '' : workTree, named))
}

/** Whether a path is called as a landing's place and lies in the work tree, behind no link. */
function isBeside(workTree: string, stage: string, id: string): boolean {
  const way = relative(workTree, stage).split('/')
  if (way[0] === '..' || way.at(-1) !== stageName(id)) return false
  return way.every((_, i) =>
    ['absent', 'directory'].includes(standsAt(join(workTree, ...way.slice(0, i + 1)))),
  )
}

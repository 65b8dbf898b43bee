import { basename, dirname, join, relative, resolve } from 'node:path'
import type { Repository } from '../git/open-repository.ts'
import type { LandingJournal } from '../store/landing-journal.ts'
import { resolveFile } from '../sys/index-snapshot.ts'
import { standsAt } from '../sys/plain-file.ts'
import { readFileOrNull } from '../sys/small-files.ts'
import { gitDirNamedIn, isOwnGitDir } from './own-places.ts'

/**
 * The journal as it reads where its work tree is now: somebody may have moved that since the landing was cut off, with `git worktree move`,
 * or by its name where the git directory lies elsewhere, and have put another one in its place; or moved or copied the repository with all
 * that is in it. As it is, where the work tree has its place still or is gone.
 */
export async function whereWorkTreeIs(
  repository: Pick<Repository, 'commonDir' | 'gitDir' | 'workTree'>,
  journal: LandingJournal,
): Promise<LandingJournal> {
  if (!isOwnGitDir(repository.commonDir, journal.gitDir)) return broughtHere(repository, journal)
  const named = await gitDirNamedIn(journal.workTree)
  const isTaken = named !== null && named !== resolveFile(journal.gitDir)
  if (standsAt(journal.workTree) !== 'absent' && !isTaken) return journal
  const workTree = await workTreeOf(repository, journal.gitDir)
  if (workTree === null || standsAt(workTree) === 'absent') return journal
  return withPlaces({ ...journal, workTree }, [[journal.workTree, workTree]])
}

/**
 * The journal of a landing in the work tree that we are in, which was somewhere else then. Nothing of it names the old place any more, where
 * another repository may stand. As it is, where it is none of this work tree.
 */
function broughtHere(
  { commonDir, gitDir, workTree }: Pick<Repository, 'commonDir' | 'gitDir' | 'workTree'>,
  journal: LandingJournal,
): LandingJournal {
  const isLinked = basename(dirname(journal.gitDir)) === 'worktrees'
  const oldCommonDir = isLinked ? dirname(dirname(journal.gitDir)) : journal.gitDir
  const isThisOne =
    resolveFile(join(commonDir, relative(oldCommonDir, journal.gitDir))) === resolveFile(gitDir)
  const isItsIndex = journal.indexFile === join(journal.gitDir, 'index')
  if (workTree === null || !isThisOne || !isItsIndex) return journal
  return withPlaces({ ...journal, gitDir, workTree, indexFile: join(gitDir, 'index') }, [
    [oldCommonDir, commonDir],
    [journal.workTree, workTree],
  ])
}

/** Places below one directory are below another now; the first that fits counts. */
function withPlaces(
  journal: LandingJournal,
  moves: readonly (readonly [from: string, to: string])[],
): LandingJournal {
  const moved = <T extends { readonly stage: string }>(steps: readonly T[]) =>
    steps.map((step) => {
      const [from, to] = moves.find(([old]) => step.stage.startsWith(`${old}/`)) ?? ['', '']
      return { ...step, stage: join(to, step.stage.slice(from.length)) }
    })
  return { ...journal, files: moved(journal.files), cleared: moved(journal.cleared) }
}

/** The one that we are in is known; git writes down where each of the others is. */
async function workTreeOf(
  repository: Pick<Repository, 'gitDir' | 'workTree'>,
  gitDir: string,
): Promise<string | null> {
  if (resolveFile(repository.gitDir) === resolveFile(gitDir)) return repository.workTree
  const mark = (await readFileOrNull(join(gitDir, 'gitdir')))?.toString('utf8').replace(/\n$/, '')
  return mark === undefined || mark === '' ? null : dirname(resolve(gitDir, mark))
}

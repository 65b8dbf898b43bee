import { dirname, join, resolve } from 'node:path'
import type { Repository } from '../git/open-repository.ts'
import type { LandingJournal } from '../store/landing-journal.ts'
import { resolveFile } from '../sys/index-snapshot.ts'
import { standsAt } from '../sys/plain-file.ts'
import { readFileOrNull } from '../sys/small-files.ts'

/**
 * The journal as it reads where its work tree is now: somebody may have moved that since the landing was cut off, with `git worktree move`,
 * or by its name where the git directory lies elsewhere. As it is, where the work tree has its place still or is gone.
 */
export async function whereWorkTreeIs(
  repository: Pick<Repository, 'gitDir' | 'workTree'>,
  journal: LandingJournal,
): Promise<LandingJournal> {
  if (standsAt(journal.workTree) !== 'absent') return journal
  const workTree = await workTreeOf(repository, journal.gitDir)
  if (workTree === null || standsAt(workTree) === 'absent') return journal
  const from = `${journal.workTree}/`
  const moved = <T extends { readonly stage: string }>(steps: readonly T[]) =>
    steps.map((step) =>
      step.stage.startsWith(from) ? { ...step, stage: join(workTree, step.stage.slice(from.length)) } : step,
    )
  return { ...journal, workTree, files: moved(journal.files), cleared: moved(journal.cleared) }
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

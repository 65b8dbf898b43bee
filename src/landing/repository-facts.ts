import { join } from 'node:path'
import { conversionKeys } from '../git/attributes.ts'
import { type ConfigValues, configBoolean, configValues } from '../git/config-values.ts'
import { currentHead } from '../git/head.ts'
import type { Repository } from '../git/open-repository.ts'
import { operationInProgress, whereBranchIsHeld } from '../git/operation-state.ts'
import { refValue } from '../git/ref-transaction.ts'
import { listWorktrees, type WorktreeRow } from '../git/worktree-list.ts'
import { refuse } from '../model/error.ts'
import { commitId } from '../model/ids.ts'
import { resolveFile } from '../sys/index-snapshot.ts'
import type { LandRequest } from './request.ts'

/** Where the landing goes: with files and index, or the ref alone. */
export interface RepositoryFacts {
  /** Root of the work tree that has the ref checked out; null = the ref alone moves. */
  readonly workTree: string | null
  readonly trustsExecutableBit: boolean
  readonly isSparse: boolean
  readonly config: ConfigValues
}

const OWN_KEYS =
  '^(core\\.(filemode|sparsecheckoutcone|sharedrepository|hookspath|splitindex)|index\\.sparse|hook\\..*\\.event)$'

/** All that a landing asks of the user's configuration, in one process. */
export const landingConfig = ({ repository }: LandRequest): Promise<ConfigValues> =>
  configValues(repository.door, `${OWN_KEYS}|${conversionKeys}`)

/**
 * Looks at the repository as a whole and refuses what no landing goes into. Reads only; one process, beside
 * the reading of the configuration.
 *
 * @throws GalleyError `checked-out-elsewhere`, `branch-moved`, `in-progress`, `unsupported-repository`.
 */
export async function repositoryFacts(
  request: LandRequest,
  configRead: Promise<ConfigValues>,
): Promise<RepositoryFacts> {
  const { repository } = request
  const [config, workTree] = await Promise.all([configRead, workTreeOf(request)])
  const isSparse = configBoolean(config, 'core.sparsecheckout', false)
  if (workTree === null) await refuseHeld(request)
  else {
    await refuseInProgress(repository.gitDir)
    if (isSparse) refuseSplitAndSparse(config)
  }
  return {
    workTree,
    trustsExecutableBit: configBoolean(config, 'core.filemode', true),
    isSparse,
    config,
  }
}

/** git 2.39 folds up an index that it is told to split, and cannot read it afterwards: the next command that refreshes it does. */
function refuseSplitAndSparse(config: ConfigValues): void {
  const isBoth = ['core.splitindex', 'index.sparse'].every((key) => configBoolean(config, key, false))
  if (!isBoth) return
  refuse(
    'unsupported-repository',
    'core.splitIndex and index.sparse are both on: git cannot read an index that it writes so',
    { keys: ['core.splitIndex', 'index.sparse'] },
    'Switch one of them off: `git config core.splitIndex false`.',
  )
}

/** @throws GalleyError `in-progress`; data: `{ operation, mark }`. */
export async function refuseInProgress(gitDir: string): Promise<void> {
  const found = await operationInProgress(gitDir)
  if (found === null) return
  const { operation, mark, end } = found
  const message = `the work tree is in the middle of a ${operation} (${mark} is there)`
  refuse('in-progress', message, { operation, mark }, `Finish it, or end it: ${end}.`)
}

async function refuseHeld({ repository, ref }: LandRequest): Promise<void> {
  const gitDir = await whereBranchIsHeld(repository.commonDir, ref)
  if (gitDir === null) return
  const code = gitDir === repository.gitDir ? 'in-progress' : 'checked-out-elsewhere'
  refuse(code, `${ref} is being rebased or bisected (see ${gitDir})`, { ref, gitDir })
}

async function workTreeOf({ repository, ref, before }: LandRequest): Promise<string | null> {
  const rows = await listWorktrees(repository.door)
  // The main work tree's path is only guessed by git where its git directory is not `<path>/.git`; that it is
  // first is certain.
  const isMain = repository.gitDir === repository.commonDir
  const here = isMain ? await mainRow(repository, rows[0]) : rows.find(isOwn(repository))
  if (ref === 'HEAD') refuseAttached(here?.branch ?? null)
  const isHere = ref === 'HEAD' || here?.branch === ref
  if (here !== undefined && isHere && repository.workTree !== null) {
    if (here.head === before) return repository.workTree
    refuse('branch-moved', `${ref} is at ${here.head ?? 'nothing'}, not at ${before ?? 'nothing'}`, {
      ref,
      expected: before,
      actual: here.head,
    })
  }
  const elsewhere = rows.find((row) => row !== here && row.branch === ref && !row.isBare)
  if (elsewhere === undefined) return null
  refuse('checked-out-elsewhere', `${ref} is checked out in ${elsewhere.path}`, {
    ref,
    workTree: elsewhere.path,
  })
}

const isOwn =
  ({ workTree }: Repository) =>
  (row: WorktreeRow): boolean =>
    resolveFile(row.path) === workTree

/** A bare repository whose work tree is named beside it (`GIT_WORK_TREE`, `core.worktree`) is listed as if it had none. */
async function mainRow(
  { door, workTree }: Repository,
  row: WorktreeRow | undefined,
): Promise<WorktreeRow | undefined> {
  if (row?.isBare !== true || workTree === null) return row
  const branch = await currentHead(door)
  const head = await refValue(door, branch ?? 'HEAD')
  return { path: workTree, head: head === null ? null : commitId(head), branch, isBare: false }
}

function refuseAttached(branch: string | null): void {
  if (branch !== null)
    refuse('branch-moved', `HEAD was detached and is on ${branch} now`, { ref: 'HEAD', actual: branch })
}

export const objectsDirectory = (commonDir: string): string => join(commonDir, 'objects')

import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { BASE, holdRow, type Row, rows } from './state-rows.ts'

/** As a home directory is kept: a repository that says it is bare, and a work tree that the environment names. */
function asDotfiles(repo: TestRepo): void {
  repo.git('config', 'core.bare', 'true')
  Object.assign(repo.env, { GIT_DIR: join(repo.dir, '.git'), GIT_WORK_TREE: repo.dir })
}

function asShared(repo: TestRepo): void {
  repo.git('config', 'core.sharedRepository', 'group')
}

/** A sparse checkout whose repository has lost every blob; its remote has them. */
function asPartial(repo: TestRepo): void {
  repo.git('sparse-checkout', 'set', 'dir')
  const [up, lean] = [join(repo.home, 'up'), join(repo.home, 'lean')]
  repo.git('clone', '-q', '--bare', '.', up)
  repo.git('-C', up, 'config', 'uploadpack.allowFilter', 'true')
  repo.git('-C', up, 'config', 'uploadpack.allowAnySHA1InWant', 'true')
  repo.git('clone', '-q', '--bare', '--filter=blob:none', `file://${up}`, lean)
  rmSync(join(repo.dir, '.git/objects'), { recursive: true })
  cpSync(join(lean, 'objects'), join(repo.dir, '.git/objects'), { recursive: true })
  repo.git('remote', 'add', 'origin', `file://${up}`)
  repo.git('config', 'core.repositoryFormatVersion', '1')
  repo.git('config', 'extensions.partialClone', 'origin')
  repo.git('config', 'remote.origin.promisor', 'true')
  repo.git('config', 'remote.origin.partialCloneFilter', 'blob:none')
  const missing = repo.git('rev-list', '--objects', '--all', '--missing=print')
  expect(missing).toContain('?')
}

/** In a sparse checkout git itself drops the flag of a file that is there, and a new directory is left out of the work tree. */
const isOtherWhereSparse = ({ name }: Row): boolean =>
  name.includes('skip-worktree') || name === 'a file that becomes a directory'

describe.each([
  ['a bare repository with a work tree beside it', asDotfiles],
  ['a shared repository', asShared],
  ['a partial clone with a sparse checkout', asPartial],
])('in %s', (_, become) => {
  const held = become === asPartial ? rows.filter((row) => !isOtherWhereSparse(row)) : rows
  test.concurrent.each(held)('$name', async (row) => {
    await using repo = makeRepo({ files: BASE })
    become(repo)
    await holdRow(repo, row)
  })
})

import { join } from 'node:path'
import { refuse } from '../model/error.ts'
import { type BlobId, blobId } from '../model/ids.ts'
import { type GitDoor, type GitResult, git } from './door.ts'
import { objectDirectories } from './object-directories.ts'
import type { Repository } from './open-repository.ts'

/** A path whose filter driver the user lets galley run. */
export interface FilteredFile {
  readonly repository: Repository
  readonly store: GitDoor
  readonly path: string
  readonly driver: string
}

/** How the user lets galley run a driver. */
export const allowHint = (driver: string): string =>
  `To let galley run it as git does: \`git config --global --add galley.allowFilter ${driver}\`.`

/**
 * The blob that git would store for a file behind a filter, written into the store. git runs the driver in the user's repository, as
 * `git add` would: what the driver itself keeps there (such as Git LFS its content) is there afterwards.
 *
 * @throws GalleyError `filter-failed`, with the driver's words.
 */
export async function cleanByFilter(file: FilteredFile, bytes: Uint8Array): Promise<BlobId> {
  const args = ['hash-object', '-w', '--stdin', `--path=${file.path}`]
  const result = await runFiltered(file, args, bytes)
  return blobId(result.stdout.toString('latin1').trim())
}

/** The bytes that git would write into the work tree for a blob behind a filter. */
export async function smudgeByFilter(file: FilteredFile, blob: string): Promise<Buffer> {
  return (await runFiltered(file, ['cat-file', '--filters', `--path=${file.path}`, blob])).stdout
}

async function runFiltered(
  { repository, store, path, driver }: FilteredFile,
  args: readonly string[],
  input?: Uint8Array,
): Promise<GitResult> {
  const env = {
    GIT_OBJECT_DIRECTORY: join(store.gitDir, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDirectories(join(repository.commonDir, 'objects')),
    GIT_LFS_SKIP_SMUDGE: repository.env['GIT_LFS_SKIP_SMUDGE'] ?? '0',
  }
  const call = { args, env, okCodes: [0, 1, 128], ...(input === undefined ? {} : { input }) }
  const result = await git(repository.door, call)
  const said = result.stderr.trim()
  // Where a filter is not required, git goes on with the bytes as they are: for a filter that encrypts, that is worse than to stop.
  const hasFailed = result.exitCode !== 0 || /external filter .* failed|cannot (?:run|fork)/.test(said)
  if (!hasFailed) return result
  return refuse('filter-failed', `the filter "${driver}" failed on ${path}: ${said.slice(0, 2000)}`, {
    path,
    driver,
    said: said.slice(0, 2000),
  })
}

import { isAbsolute, join, relative, resolve } from 'node:path'
import { type GitDoor, gitEnvironment, startGit } from '../git/door.ts'
import type { Repository } from '../git/open-repository.ts'
import { promisorAccess } from '../git/promisor.ts'
import { refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { randomName } from '../sys/clock.ts'
import { isDirectory, makePrivateDirectory } from '../sys/directories.ts'
import { readFileOrNull, writeOwnFile } from '../sys/small-files.ts'
import { moveDirectory, removeTree } from '../sys/trees.ts'
import { refuseForeignFolder } from './own-folder.ts'

/** galley's folder in a repository, and the private repository in it. */
export interface Store {
  /** `<common git directory>/galley`; all that galley leaves in a repository before a landing. */
  readonly galleyDir: string
  readonly door: GitDoor
}

/** Where galley's folder is, whether or not it exists. */
export const galleyDirectory = (repository: Repository): string => join(repository.commonDir, 'galley')

/**
 * Opens the private store, making it at first use.
 *
 * Leaves `<git dir>/galley/store.git`: a bare repository of the same object format whose alternate is the user's object
 * store. Nothing else in the user's repository changes. Costs nothing but some look-ups when it is there.
 *
 * @throws GalleyError `unsupported-repository`, where something else stands in the place of galley's folder; `io-error`.
 */
export async function openStore(repository: Repository): Promise<Store> {
  const galleyDir = galleyDirectory(repository)
  refuseForeignFolder(galleyDir)
  const gitDir = join(galleyDir, 'store.git')
  if (!(await isDirectory(gitDir))) await createStore(repository, galleyDir, gitDir)
  return { galleyDir, door: await storeDoor(repository, gitDir) }
}

/**
 * Opens the store only if it is there: for verbs that merely look.
 *
 * @throws GalleyError `unsupported-repository`, where something else stands in the place of galley's folder.
 */
export async function findStore(repository: Repository): Promise<Store | null> {
  const galleyDir = galleyDirectory(repository)
  refuseForeignFolder(galleyDir)
  const gitDir = join(galleyDir, 'store.git')
  return (await isDirectory(gitDir)) ? { galleyDir, door: await storeDoor(repository, gitDir) } : null
}

async function storeDoor(repository: Repository, gitDir: string): Promise<GitDoor> {
  const shallow = join(repository.commonDir, 'shallow')
  const isShallow = (await readFileOrNull(shallow)) !== null
  const promisor = await promisorAccess(repository)
  return {
    kind: 'store',
    gitDir,
    workTree: null,
    objectFormat: repository.objectFormat,
    inherited: repository.door.inherited,
    // The user's history may end at a shallow boundary; the store must see the same end.
    ...(isShallow ? { extraEnv: { GIT_SHALLOW_FILE: shallow } } : {}),
    ...(promisor === null ? {} : { promisor }),
  }
}

/** Made aside and moved into place, so that a killed start leaves no half a store and two at once leave one. */
async function createStore(repository: Repository, galleyDir: string, gitDir: string): Promise<void> {
  await makePrivateDirectory(galleyDir)
  const making = join(galleyDir, `store-${randomName()}`)
  try {
    await fillStore(repository, galleyDir, making)
    await moveDirectory(making, gitDir)
  } finally {
    // Still there only where it failed, or another one was first.
    await removeTree(making)
  }
}

async function fillStore(repository: Repository, galleyDir: string, making: string): Promise<void> {
  const result = await startGit(
    ['init', '--quiet', '--bare', '--template=', `--object-format=${repository.objectFormat}`, making],
    {
      cwd: galleyDir,
      env: gitEnvironment({ kind: 'store', inherited: repository.door.inherited }),
      timeoutMs: limits.gitTimeoutMs,
    },
  )
  if (result.exitCode !== 0) {
    refuse('io-error', `the private store could not be made in ${galleyDir}`, {
      said: result.stderr.toString('utf8'),
    })
  }
  await allowTreeConfigs(making)
  await makePrivateDirectory(join(making, 'objects', 'info'))
  await writeOwnFile(
    join(making, 'objects', 'info', 'alternates'),
    `${alternatePath(repository, making)}\n`,
    'alternates.tmp',
  )
}

/**
 * Lets every scratch tree have settings of its own, as the first `git sparse-checkout` in one would: several that are made at once would
 * write the store's configuration then, beside each other and beside checks after which it is put back.
 */
async function allowTreeConfigs(store: string): Promise<void> {
  const file = join(store, 'config')
  const text = (await readFileOrNull(file))?.toString('utf8') ?? ''
  const bare = /^\tbare = true\n/m
  if (!bare.test(text)) return
  const config = `${text.replace(bare, '')}[extensions]\n\tworktreeConfig = true\n`
  await writeOwnFile(join(store, 'config.worktree'), '[core]\n\tbare = true\n', 'config.worktree.tmp')
  await writeOwnFile(file, config, 'config.tmp')
}

/**
 * The user's object directory, relative to the store's, so that a moved repository keeps working. A name that holds a
 * line break or starts with a quote would be read as something else.
 */
function alternatePath(repository: Repository, store: string): string {
  const path = relative(join(store, 'objects'), join(repository.commonDir, 'objects'))
  const usable = isAbsolute(path) ? resolve(path) : path
  if (/[\n\r]|^["#]/.test(usable)) {
    refuse('unsupported-repository', 'the path of the git directory holds a line break', {
      path: repository.commonDir,
    })
  }
  return usable
}

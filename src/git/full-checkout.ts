import { simpleGit } from 'simple-git'
import { GalleyError } from '../model/error.ts'
import type { CommitId } from '../model/ids.ts'
import { type GitDoor, gitEnvironment } from './door.ts'

export interface CheckoutProgress {
  readonly stage: string
  /** 0 to 100. */
  readonly percent: number
}

/**
 * Checks a commit out in full in a scratch tree of the store: seconds in a large repository, so it tells how far it is and can be
 * stopped.
 *
 * `door` must be a scratch tree's: this is the one call that may overwrite files of a work tree without asking, and it asserts so.
 *
 * @throws GalleyError `io-error`, with git's words.
 */
export async function checkOutFully(
  door: GitDoor,
  commit: CommitId,
  options: { readonly onProgress?: (progress: CheckoutProgress) => void; readonly signal?: AbortSignal } = {},
): Promise<void> {
  if (door.kind !== 'store' || door.workTree === null)
    throw new Error('BUG: a full checkout outside a scratch tree')
  const env = gitEnvironment(door)
  const git = simpleGit({
    baseDir: door.workTree,
    // The library strips every GIT_* that is not named here; these are the door's own.
    allowEnvironment: Object.keys(env).filter((name) => name.startsWith('GIT_')),
    // Each of these settings of the door switches something off, or names a configuration that is empty.
    unsafe: {
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeDiffExternal: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeHooksPath: true,
      allowUnsafePager: true,
      allowUnsafeProtocolOverride: true,
    },
    maxConcurrentProcesses: 1,
    // Without this, an exit code other than 0 with nothing on stderr would pass for success.
    errors: (error, result) =>
      error ?? (result.exitCode === 0 ? undefined : Buffer.from(`exit code ${result.exitCode}`)),
    ...(options.onProgress
      ? {
          progress: ({ stage, progress }: { readonly stage: string; readonly progress: number }) =>
            options.onProgress?.({ stage, percent: progress }),
        }
      : {}),
    ...(options.signal ? { abort: options.signal } : {}),
  })
  await git
    .env(env)
    .raw(['checkout', '--progress', '--force', '--detach', commit])
    .catch((cause: unknown) => {
      const said = cause instanceof Error ? cause.message : String(cause)
      throw new GalleyError(
        {
          code: 'io-error',
          message: `the scratch tree could not be checked out: ${said.trim()}`,
          data: { commit },
        },
        { cause },
      )
    })
}

import { limits } from '../model/limits.ts'
import { git, gitEnvironment, gitFailure, startGit } from './door.ts'
import type { Repository } from './open-repository.ts'

/** Settings by which a remote is reached and a commit is made, as the user's repository has them. */
const SETTINGS =
  /^(?:user\.|credential\.|http\.|ssh\.|core\.(?:sshcommand|gitproxy|askpass)$|protocol\.|commit\.gpgsign$|gpg\.|galley\.)/

/**
 * Makes a bare repository of galley's own to land in: on one branch, with one remote, and the settings by which the user reaches that. Its
 * objects come from there.
 */
export async function makeLander(
  { door }: Repository,
  directory: string,
  {
    branch,
    url,
    config,
  }: { readonly branch: string; readonly url: string; readonly config: ReadonlyMap<string, string> },
): Promise<void> {
  const args = [
    'init',
    '--quiet',
    '--bare',
    `--object-format=${door.objectFormat}`,
    '--template=',
    '--end-of-options',
    directory,
  ]
  const result = await startGit(args, {
    cwd: door.gitDir,
    env: gitEnvironment({ kind: 'user', inherited: door.inherited }),
    timeoutMs: limits.gitTimeoutMs,
  })
  if (result.exitCode !== 0)
    throw gitFailure(args, {
      ...result,
      exitCode: result.exitCode ?? -1,
      stderr: result.stderr.toString('utf8'),
    })
  const lander = { ...door, gitDir: directory, workTree: null }
  await git(lander, { args: ['symbolic-ref', 'HEAD', branch] })
  const wanted = [...config].filter(([key]) => SETTINGS.test(key.toLowerCase()))
  for (const [key, value] of [...wanted, ['remote.origin.url', url] as const])
    await git(lander, { args: ['config', key, value] })
}

import { isAbsolute, join } from 'node:path'
import { errorCode } from '../model/errno.ts'
import { refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { run } from '../sys/process.ts'
import { git } from './door.ts'
import type { Repository } from './open-repository.ts'

/**
 * Runs the user's `pre-push` hook, if there is one, as `git push` does: the remote and its URL as arguments, the branch on its input. A push by
 * galley runs in its own store, where that hook is not; a branch of the user's does not leave without it.
 *
 * @throws GalleyError `hook-refused`, with what the hook said.
 */
export async function runPrePush(
  repository: Repository,
  push: {
    readonly remote: string
    readonly url: string
    /** `<local ref> <local id> <remote ref> <remote id>` */
    readonly line: string
    readonly env: Readonly<Record<string, string>>
  },
): Promise<void> {
  const asked = await git(repository.door, {
    args: ['rev-parse', '--git-path', 'hooks/pre-push'],
    withHooks: true,
  })
  const said = asked.stdout.toString('utf8').replace(/\n$/, () => '')
  const cwd = repository.workTree ?? repository.gitDir
  const hook = isAbsolute(said) ? said : join(cwd, said)
  const result = await run({
    file: hook,
    args: [push.remote, push.url],
    cwd,
    env: push.env,
    input: `${push.line}\n`,
    timeoutMs: limits.checkDefaultTimeoutMs,
    outputMaxBytes: limits.checkOutputMaxBytes,
    ownGroup: true,
  }).catch((error: unknown) => {
    // No hook, or one that is not executable: git runs none then.
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'EACCES') return null
    throw error
  })
  if (result === null || result.exitCode === 0) return
  const words = `${result.stdout.toString('utf8')}${result.stderr.toString('utf8')}`.trim().slice(0, 2000)
  refuse('hook-refused', `the pre-push hook ended with exit code ${result.exitCode ?? 'none'}: ${words}`, {
    hook: 'pre-push',
    said: words,
  })
}

import { GalleyError } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { type GitDoor, type GitResult, git, gitEnvironment } from './door.ts'
import type { Repository } from './open-repository.ts'
import { askingVariables } from './sign-commit.ts'

export interface TransportOptions {
  readonly onProgress?: (progress: { readonly stage: string; readonly percent: number }) => void
  readonly signal?: AbortSignal
  /** Somebody sits at the terminal, so that git may ask there for a name or a password. */
  readonly mayAsk?: boolean
}

/** The way to one remote: git in the store, with what of the user's configuration and environment reaches a remote. */
export interface Transport {
  readonly url: string
  /** Runs `git <args>`; exit codes other than 0 and 1 throw. */
  readonly run: (args: readonly string[]) => Promise<GitResult>
}

/**
 * Settings by which git reaches and proves itself to a remote. `url.*` is not among them: the URL has been rewritten already. Nor
 * is `protocol.ext`: it runs whatever the URL says.
 */
const SETTINGS =
  '^(credential\\..*|http\\..*|ssh\\.variant|core\\.(sshcommand|gitproxy|askpass)|protocol\\..*)$'

/** As with the settings, from the environment. */
const VARIABLES =
  /^(?:GIT_SSH|GIT_SSH_COMMAND|GIT_SSH_VARIANT|GIT_ASKPASS|GIT_PROXY_COMMAND|GIT_SSL_[A-Z_]+|GIT_HTTP_[A-Z_]+|SSH_ASKPASS_REQUIRE|SSL_CERT_FILE|SSL_CERT_DIR|KRB5CCNAME|(?:https?|ftp|all|no)_proxy|(?:HTTPS|ALL|NO)_PROXY)$/

/**
 * Opens the way to a remote.
 *
 * The store's git sees nothing of the user's configuration on any other way. Here it must: their credential helper, SSH command and proxy
 * are how a remote lets them in. They run as they would for `git push` and `git fetch` of the same remote, which the user's word for
 * this verb stands for, and at no other time. Nothing else of their configuration is passed, and no hook runs.
 *
 * @param extra - Settings beside them, such as fsck for what is fetched.
 */
export async function openTransport(
  repository: Repository,
  store: GitDoor,
  url: string,
  extra: readonly (readonly [key: string, value: string])[],
  options: TransportOptions,
): Promise<Transport> {
  const settings = [...(await transportSettings(repository.door)), ...extra]
  const env = {
    ...addSettings(gitEnvironment(store), settings),
    ...askingVariables(repository.env),
    ...transportVariables(repository.env),
    ...(options.mayAsk === true ? { GIT_TERMINAL_PROMPT: '1' } : {}),
    // Named by the environment, so that the directory it runs in stays the user's: a URL may be a path relative to that.
    GIT_DIR: store.gitDir,
  }
  const cwd = repository.workTree ?? repository.gitDir
  return { url, run: (args) => runPorcelain(cwd, env, args, options) }
}

/** What of the caller's environment reaches a remote. */
export function transportVariables(env: Repository['env']): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && VARIABLES.test(name)) passed[name] = value
  return passed
}

/** In the order of the files: a helper that is named twice is asked twice, and an empty one drops those before. */
export async function transportSettings(door: GitDoor): Promise<readonly (readonly [string, string])[]> {
  const result = await git(door, { args: ['config', '-z', '--get-regexp', SETTINGS], okCodes: [0, 1] })
  return result.stdout
    .toString('utf8')
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry): readonly [string, string] => {
      const end = entry.indexOf('\n')
      return end === -1 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)]
    })
    .filter(([key]) => !key.toLowerCase().startsWith('protocol.ext.'))
}

/** Settings behind those that the environment carries already; a later one stands. Never as arguments: some are secrets. */
function addSettings(
  env: Readonly<Record<string, string>>,
  settings: readonly (readonly [string, string])[],
): Record<string, string> {
  const first = Number(env['GIT_CONFIG_COUNT'] ?? 0)
  const added: Record<string, string> = { ...env, GIT_CONFIG_COUNT: String(first + settings.length) }
  settings.forEach(([key, value], i) => {
    added[`GIT_CONFIG_KEY_${first + i}`] = key
    added[`GIT_CONFIG_VALUE_${first + i}`] = value
  })
  return added
}

async function runPorcelain(
  cwd: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  options: TransportOptions,
): Promise<GitResult> {
  const { simpleGit } = await import('simple-git')
  let exitCode = 0
  let stderr = ''
  const porcelain = simpleGit({
    baseDir: cwd,
    allowEnvironment: Object.keys(env),
    // The library warns of settings that run a program. Each of these is the door's own, which switches something off, or the user's way
    // to the remote; none comes from the remote.
    unsafe: {
      allowUnsafeAskPass: true,
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeCredentialHelper: true,
      allowUnsafeDiffExternal: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeGitProxy: true,
      allowUnsafeHooksPath: true,
      allowUnsafePager: true,
      allowUnsafeProtocolOverride: true,
      allowUnsafeSshCommand: true,
    },
    maxConcurrentProcesses: 1,
    timeout: { block: limits.exchangeSilentMs },
    // By default the library takes what it has 50 ms after git's end, which under load is not all that git said.
    completion: { onClose: true, onExit: false },
    // What a refused push says stands on its output; the caller reads it there.
    errors: (error, result) => {
      exitCode = result.exitCode
      stderr = Buffer.concat(result.stdErr).toString('utf8')
      if (result.exitCode === 0 || result.exitCode === 1) return undefined
      return error ?? Buffer.from(`exit code ${result.exitCode}`)
    },
    ...(options.onProgress ? { progress: reportTo(options.onProgress) } : {}),
    ...(options.signal ? { abort: options.signal } : {}),
  })
  const stdout = await porcelain
    .env({ ...env })
    .raw([...args])
    .catch((cause: unknown) => {
      const said = cause instanceof Error ? cause.message.trim() : String(cause)
      throw new GalleyError(
        {
          code: 'io-error',
          message: `git ${args[0] ?? ''} did not get through: ${said.slice(0, 2000)}`,
          data: { said: said.slice(0, 2000) },
          hint: 'Try the same with git: `git ls-remote` of that remote shows whether it lets you in.',
        },
        { cause },
      )
    })
  return { exitCode, stdout: Buffer.from(stdout, 'utf8'), stderr }
}

const reportTo =
  (listener: NonNullable<TransportOptions['onProgress']>) =>
  ({ stage, progress }: { readonly stage: string; readonly progress: number }) =>
    listener({ stage, percent: progress })

import { join } from 'node:path'
import { GalleyError, refuse } from '../model/error.ts'
import type { ObjectFormat } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { isDirectory } from '../sys/directories.ts'
import { type RunResult, run } from '../sys/process.ts'
import { codeOfWords, isBadIndex } from './git-words.ts'

/**
 * One repository as git is to see it: every call names it explicitly, with an environment built from nothing.
 *
 * Two kinds are in use: the user's repository, and galley's private store (`.git/galley/store.git`), which never sees
 * the user's configuration.
 */
export interface GitDoor {
  readonly kind: 'user' | 'store'
  readonly gitDir: string
  /** null for a bare repository and for the store. */
  readonly workTree: string | null
  readonly objectFormat: ObjectFormat
  /** The variables of the caller's environment that git may see (see `inheritedVariables`). */
  readonly inherited: Readonly<Record<string, string>>
  /** Added for every call through this door, such as `GIT_SHALLOW_FILE`. */
  readonly extraEnv?: Readonly<Record<string, string>>
  /** Of the store of a partial clone: the way to objects that it lacks. Without it nothing is fetched. */
  readonly promisor?: PromisorAccess
}

/** What git needs for fetching missing objects from the user's promisor remotes. */
export interface PromisorAccess {
  readonly settings: readonly (readonly [key: string, value: string])[]
  readonly env: Readonly<Record<string, string>>
}

export interface GitCall {
  readonly args: readonly string[]
  readonly input?: Uint8Array | string
  /** Exit codes that are answers, not failures. Default: 0 alone. */
  readonly okCodes?: readonly number[]
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly cwd?: string
  /** Lets the repository's own hooks run: only the ref transaction of a landing asks for it. */
  readonly withHooks?: boolean
}

export interface GitResult {
  readonly exitCode: number
  readonly stdout: Buffer
  readonly stderr: string
}

/**
 * What git is told whatever the repository's configuration says, with the reason for each.
 */
const OVERRIDES: readonly (readonly [key: string, value: string])[] = [
  ['core.fsmonitor', 'false'], // runs a program of the repository's choice, and may lie about what changed
  ['core.hooksPath', '/dev/null'], // hooks run only where a landing asks for them
  ['core.pager', 'cat'],
  ['core.protectHFS', 'true'], // a path must be refused on every system or on none
  ['core.protectNTFS', 'true'],
  ['diff.external', ''],
  ['gc.auto', '0'], // own calls never start a collection of the user's objects
  ['maintenance.auto', 'false'],
  ['protocol.ext.allow', 'never'],
  ['safe.bareRepository', 'explicit'], // a bare repository hidden in the tree is not discovered
  ['submodule.recurse', 'false'],
  ['core.quotePath', 'true'],
]

/**
 * How a caller names another repository than the one it stands in (`git --git-dir=… galley`). They count for finding the repository,
 * and for nothing after it.
 */
export function namedRepository(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const named: Record<string, string> = {}
  for (const name of [
    'GIT_DIR',
    'GIT_WORK_TREE',
    'GIT_CEILING_DIRECTORIES',
    'GIT_DISCOVERY_ACROSS_FILESYSTEM',
  ] as const) {
    const value = env[name]
    if (value !== undefined && value !== '') named[name] = value
  }
  return named
}

/** Variables that may pass from the caller's environment to git. Everything else, every GIT_* above all, stays out. */
const INHERITED = [
  'PATH',
  'HOME',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'TMPDIR',
  'USER',
  'LOGNAME',
  'SSH_AUTH_SOCK',
  'GNUPGHOME',
  'SYSTEMROOT',
  'USERPROFILE',
  'APPDATA',
  // The user's own choice of configuration files and of who they are; none of these names a repository.
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'EMAIL',
  // Whatever git starts (a hook, a filter, a signing program) is as much an agent's as what called galley.
  'GALLEY_AGENT',
  'GALLEY_RUN',
] as const

export function inheritedVariables(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const name of INHERITED) {
    const value = env[name]
    if (value !== undefined) passed[name] = value
  }
  return passed
}

/** The whole environment of one git process behind this door. */
export function gitEnvironment(
  door: Pick<GitDoor, 'kind' | 'inherited' | 'extraEnv' | 'promisor'> & { readonly workTree?: string | null },
  options: { readonly withHooks?: boolean } = {},
): Record<string, string> {
  const env: Record<string, string> = {
    ...door.inherited,
    LC_ALL: 'C', // messages are never parsed, but they are shown: one language in reports
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0', // reading must not take the user's index lock
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_REPLACE_OBJECTS: '1', // a replace ref can show the reviewer other bytes than those that land
    GIT_NO_LAZY_FETCH: door.promisor === undefined ? '1' : '0',
    GIT_LFS_SKIP_SMUDGE: '1',
  }
  if (door.kind === 'store') {
    env['GIT_CONFIG_GLOBAL'] = '/dev/null'
    env['GIT_CONFIG_SYSTEM'] = '/dev/null'
    env['GIT_CONFIG_NOSYSTEM'] = '1'
    // A tree in which others' code has run: what git may start there is theirs.
    if (typeof door.workTree === 'string') env['GALLEY_AGENT'] = 'tree'
  }
  const own = options.withHooks ? OVERRIDES.filter(([key]) => key !== 'core.hooksPath') : OVERRIDES
  // What galley says of its own stands last, over the user's way to a remote.
  const overrides = [...(door.promisor?.settings ?? []), ...own]
  env['GIT_CONFIG_COUNT'] = String(overrides.length)
  overrides.forEach(([key, value], i) => {
    env[`GIT_CONFIG_KEY_${i}`] = key
    env[`GIT_CONFIG_VALUE_${i}`] = value
  })
  return { ...env, ...door.promisor?.env, ...door.extraEnv }
}

/**
 * Names an index that is not there: commands that load the index without needing it (`diff-tree`, `check-attr`) would
 * otherwise cost O(repository).
 */
export const withoutIndex = (door: Pick<GitDoor, 'gitDir'>): Readonly<Record<string, string>> => ({
  GIT_INDEX_FILE: join(door.gitDir, 'galley', 'no-index'),
})

/** The arguments that name the repository, to stand before the command. */
export function repositoryArguments(door: GitDoor): readonly string[] {
  return door.workTree === null
    ? [`--git-dir=${door.gitDir}`]
    : [`--git-dir=${door.gitDir}`, `--work-tree=${door.workTree}`]
}

/**
 * Runs one git command to its end.
 *
 * @throws GalleyError `git-too-old`, if there is no git to run; `io-error`, if it ran too long or said too much; `unsupported-repository`,
 * if it cannot read the configuration; as `gitFailure`, if the exit code is not among `okCodes`.
 */
export async function git(door: GitDoor, call: GitCall): Promise<GitResult> {
  const env = { ...gitEnvironment(door, { withHooks: call.withHooks === true }), ...call.env }
  const result = await startGit([...repositoryArguments(door), ...call.args], {
    cwd: call.cwd ?? door.workTree ?? door.gitDir,
    env,
    ...(call.input === undefined ? {} : { input: call.input }),
    timeoutMs: call.timeoutMs ?? limits.gitTimeoutMs,
  })
  const answer = {
    exitCode: result.exitCode ?? -1,
    stdout: result.stdout,
    stderr: `${result.stderr.toString('utf8')}${result.signal === null ? '' : `ended by ${result.signal}`}`,
  }
  if ((call.okCodes ?? [0]).includes(answer.exitCode)) return answer
  throw gitFailure(call.args, answer)
}

const INDEX_HINT =
  'git cannot read its own index. Move that file away (`git rev-parse --git-path index` names it); `git reset` then makes one of HEAD, without what was staged.'

/** The error for an exit code that nobody expected, with git's own words as data. */
export function gitFailure(args: readonly string[], result: GitResult): GalleyError {
  const said = result.stderr.trim().slice(0, 2000)
  return new GalleyError({
    code: codeOfWords(said, result.exitCode),
    message: `git ${args.find((arg, i) => !arg.startsWith('-') && args[i - 1] !== '-c') ?? ''} ended with exit code ${result.exitCode}: ${said || '(no message)'}`,
    data: { args: args.slice(0, 20), exitCode: result.exitCode, stderr: said },
    ...(isBadIndex(said) ? { hint: INDEX_HINT } : {}),
  })
}

/** Starts git without a door: only for finding the repository in the first place. */
export async function startGit(
  args: readonly string[],
  options: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly input?: Uint8Array | string
    readonly timeoutMs: number
  },
): Promise<RunResult> {
  const result = await run({
    file: 'git',
    args,
    cwd: options.cwd,
    env: options.env,
    ...(options.input === undefined ? {} : { input: options.input }),
    timeoutMs: options.timeoutMs,
    outputMaxBytes: limits.gitOutputMaxBytes,
  }).catch(async (cause: unknown) => {
    if (!(await isDirectory(options.cwd)))
      refuse('not-a-repository', `${options.cwd} does not exist`, { directory: options.cwd })
    throw new GalleyError(
      {
        code: 'git-too-old',
        message: `git could not be started in ${options.cwd}`,
        data: { args: args.slice(0, 5) },
      },
      { cause },
    )
  })
  if (result.timedOut || result.outputTruncated) {
    const what = result.timedOut
      ? `did not end within ${options.timeoutMs} ms`
      : 'said more than can be taken'
    throw new GalleyError({
      code: 'io-error',
      message: `git ${args.join(' ').slice(0, 200)} ${what}`,
      data: {},
    })
  }
  return result
}

import { refuse } from '../model/error.ts'
import type { ObjectFormat } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { type GitDoor, gitEnvironment, inheritedVariables, namedRepository, startGit } from './door.ts'
import { isBadConfiguration } from './git-words.ts'
import { HEAD_QUESTION, type HeadPlace, headAnswer } from './refs.ts'

/** The user's repository, as found from a directory. */
export interface Repository {
  /** Root of the work tree, real path; null for a bare repository. */
  readonly workTree: string | null
  /** The git directory of this work tree (`.git`, or `.git/worktrees/<name>`). */
  readonly gitDir: string
  /** The git directory that all work trees share; galley's folder is in it. */
  readonly commonDir: string
  /** Where in the work tree it was opened: empty at the root, else `src/`, with `/` at its end. */
  readonly prefix: string
  readonly objectFormat: ObjectFormat
  readonly door: GitDoor
  /** HEAD as it was when the repository was opened; null = that was not told. */
  readonly headThen: HeadPlace | null
  /** The caller's environment, for agents' variables and the user's cache directory. Read, never passed on whole. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Finds the repository that holds `directory`. Costs one git process.
 *
 * @throws GalleyError `not-a-repository`, `dubious-ownership`, `git-too-old`.
 */
export async function openRepository(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Repository> {
  const inherited = inheritedVariables(env)
  const asked = [
    '--git-dir',
    '--git-common-dir',
    '--is-bare-repository',
    '--show-object-format',
    '--show-prefix',
    '--show-toplevel',
    ...HEAD_QUESTION,
  ]
  const ask = (where: readonly string[]) =>
    startGit([...where, 'rev-parse', '--path-format=absolute', ...asked], {
      cwd: directory,
      env: { ...gitEnvironment({ kind: 'user', inherited }), ...namedRepository(env) },
      timeoutMs: limits.gitTimeoutMs,
    })
  const found = await ask([])
  // A bare repository is not discovered (see `safe.bareRepository`), only used when it is the very directory that was named.
  const isBare = found.exitCode !== 0 && found.stderr.includes('cannot use bare repository')
  const result = isBare ? await ask(['--git-dir=.']) : found
  const stderr = result.stderr.toString('utf8')
  const [gitDir, commonDir, bare, format, prefix, top, ...rest] = result.stdout.toString('utf8').split('\n')
  if (!gitDir || !commonDir || !format) refuseRepository(directory, stderr, env)
  if (format !== 'sha1' && format !== 'sha256') {
    refuse(
      'unsupported-repository',
      `${gitDir} uses the object format ${format}; sha1 and sha256 are known`,
      { format },
    )
  }
  const workTree = top ? top : null
  if (bare !== 'true' && (workTree === null || isBare)) {
    refuse('not-a-repository', `${directory} is inside a git directory, not inside a work tree`, {
      directory,
      gitDir,
    })
  }
  const door: GitDoor = { kind: 'user', gitDir, workTree, objectFormat: format, inherited }
  return {
    workTree,
    gitDir,
    commonDir,
    prefix: prefix ?? '',
    objectFormat: format,
    door,
    env,
    headThen: headAnswer(rest),
  }
}

function refuseRepository(directory: string, stderr: string, env: Repository['env']): never {
  if (stderr.includes('dubious ownership')) {
    refuse('dubious-ownership', `git refuses the repository at ${directory}: another user owns it`, {
      directory,
    })
  }
  if (isBadConfiguration(stderr)) {
    refuse(
      'unsupported-repository',
      `git cannot read the configuration of the repository at ${directory}`,
      { directory, stderr },
      'See what `git status` says there.',
    )
  }
  if (stderr.includes('unknown repository extension') || stderr.includes('repo version')) {
    refuse('unsupported-repository', `git cannot read the repository at ${directory}`, { directory, stderr })
  }
  if (stderr.includes('is not a git command') || stderr.includes('--path-format')) {
    refuse('git-too-old', 'this git does not know `rev-parse --path-format`; 2.39 or newer is needed', {})
  }
  const named = ['GIT_DIR', 'GIT_WORK_TREE'].filter((name) => (env[name] ?? '') !== '')
  const said = stderr.trim().slice(0, 400)
  if (named.length > 0)
    refuse(
      'not-a-repository',
      `${named.map((name) => `${name} is ${JSON.stringify(env[name]?.slice(0, 200))}`).join(' and ')}, and git finds no repository by that`,
      { directory, named, said },
      `Put right what ${named.join(' and ')} says, or unset it: \`unset ${named.join(' ')}\`.`,
    )
  refuse('not-a-repository', `${directory} is not inside a git repository`, { directory, said })
}

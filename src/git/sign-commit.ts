import { join } from 'node:path'
import { refuse } from '../model/error.ts'
import { type CommitId, commitId, type TreeId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import { readFileOrNull } from '../sys/small-files.ts'
import { withTemporaryDirectory, writeTemporary } from '../sys/temporary.ts'
import { personVariables } from './commit-tree.ts'
import type { GitConfig } from './config.ts'
import { type GitCall, type GitDoor, type GitResult, git } from './door.ts'
import { objectDirectories } from './object-directories.ts'
import type { Repository } from './open-repository.ts'

/** What a signing program may need to ask the user for a passphrase or a touch. */
const ASKING = [
  'GPG_TTY',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'SSH_ASKPASS',
] as const

/** The variables of the caller's environment by which a program may ask the user for a passphrase or a touch. */
export const askingVariables = (
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ASKING.flatMap((name) => {
      const value = env[name]
      return value === undefined ? [] : [[name, value] as const]
    }),
  )

/**
 * Makes a signed commit as the user's configuration says (`gpg.format`, `user.signingKey`, …), by git itself.
 *
 * The one call in which a program of the user's configuration runs before a landing: `commit.gpgSign` asks for it. The commit is
 * written into the store, not into the user's repository.
 *
 * @throws GalleyError `no-identity`, with the signing program's words, when it does not sign.
 */
export async function signCommit(
  repository: Repository,
  store: GitDoor,
  config: GitConfig,
  tree: TreeId,
  facts: CommitFacts,
): Promise<CommitId> {
  const attempt = (call: Partial<GitCall> = {}) => commitSigned(repository, store, tree, facts, call)
  const first = await attempt()
  const result = isWordless(first) ? await withSignersWords(config, attempt) : first
  if (result.exitCode === 0) return commitId(result.stdout.toString('latin1').trim())
  const said = result.stderr.trim()
  refuse(
    'no-identity',
    `commits are to be signed here, and the signing program did not sign: ${said.slice(0, 400) || '(it said nothing)'}`,
    { said },
    'See `git help config`, commit.gpgSign and user.signingKey.',
  )
}

interface CommitFacts {
  readonly base: CommitId | null
  readonly author: Person
  readonly committer: Person
  readonly message: string
}

const commitSigned = (
  repository: Repository,
  store: GitDoor,
  tree: TreeId,
  { base, author, committer, message }: CommitFacts,
  { args = [], env = {} }: Partial<GitCall>,
): Promise<GitResult> =>
  git(repository.door, {
    args: [...args, 'commit-tree', '-S', tree, ...(base ? ['-p', base] : []), '-F', '-'],
    input: message,
    env: {
      ...askingVariables(repository.env),
      ...personVariables(author, committer),
      GIT_OBJECT_DIRECTORY: join(store.gitDir, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDirectories(join(repository.commonDir, 'objects')),
      ...env,
    },
    okCodes: [0, 1, 128],
  })

/** git older than 2.41 keeps what gpg and gpgsm say to itself. */
const isWordless = ({ exitCode, stderr }: GitResult): boolean =>
  exitCode !== 0 && /^error: gpg failed to sign the data\n(?:fatal: .*)?$/.test(`${stderr.trim()}\n`)

const TAKES_DOWN = `#!/bin/sh
"$GALLEY_SIGNER" "$@" 2>"$GALLEY_SIGNER_SAID"
ended=$?
cat "$GALLEY_SIGNER_SAID" >&2
exit $ended
`

/** Runs the signing program once more, between git and which a script takes down its words; where it signs now, that is the commit. */
async function withSignersWords(
  config: GitConfig,
  attempt: (call: Partial<GitCall>) => Promise<GitResult>,
): Promise<GitResult> {
  const format = config.get('gpg.format') === 'x509' ? 'x509' : 'openpgp'
  const ofFormat = config.get(`gpg.${format}.program`)
  const program = format === 'x509' ? (ofFormat ?? 'gpgsm') : (ofFormat ?? config.get('gpg.program') ?? 'gpg')
  return withTemporaryDirectory(async (directory) => {
    const words = join(directory, 'words')
    const script = await writeTemporary(directory, 'signer', TAKES_DOWN, 0o700)
    const result = await attempt({
      args: ['-c', `gpg.${format}.program=${script}`],
      env: { GALLEY_SIGNER: program, GALLEY_SIGNER_SAID: words },
    })
    const said = (await readFileOrNull(words))?.toString('utf8') ?? ''
    return { ...result, stderr: said.trim() === '' ? result.stderr : said }
  })
}

import { join } from 'node:path'
import { refuse } from '../model/error.ts'
import { type CommitId, commitId, type TreeId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import { personVariables } from './commit-tree.ts'
import { type GitDoor, git } from './door.ts'
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
  tree: TreeId,
  facts: {
    readonly base: CommitId | null
    readonly author: Person
    readonly committer: Person
    readonly message: string
  },
): Promise<CommitId> {
  const result = await git(repository.door, {
    args: ['commit-tree', '-S', tree, ...(facts.base ? ['-p', facts.base] : []), '-F', '-'],
    input: facts.message,
    env: {
      ...askingVariables(repository.env),
      ...personVariables(facts.author, facts.committer),
      GIT_OBJECT_DIRECTORY: join(store.gitDir, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repository.commonDir, 'objects'),
    },
    okCodes: [0, 1, 128],
  })
  if (result.exitCode === 0) return commitId(result.stdout.toString('latin1').trim())
  refuse(
    'no-identity',
    'commits are to be signed here, and the signing program did not sign',
    { said: result.stderr.trim() },
    'See `git help config`, commit.gpgSign and user.signingKey.',
  )
}

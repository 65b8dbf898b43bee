import { join } from 'node:path'
import { refuse } from '../model/error.ts'
import { type CommitId, type TagId, tagId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { Person } from '../model/person.ts'
import { withTemporaryDirectory } from '../sys/temporary.ts'
import { personVariables } from './commit-tree.ts'
import type { GitConfig } from './config.ts'
import { type GitDoor, git, gitEnvironment, startGit } from './door.ts'
import type { Repository } from './open-repository.ts'
import { askingVariables } from './sign-commit.ts'

/** What of the user's configuration says which key signs, and by which program. */
const SIGNING_KEYS = ['user.signingkey', 'gpg.ssh.program', 'gpg.ssh.defaultkeycommand'] as const

/**
 * Makes an annotated tag object signed with the user's SSH key, by `git tag --sign` itself, so that whatever git takes for
 * `user.signingKey` works here and plain `git verify-tag` verifies it.
 *
 * git makes a tag only under a name; that name stands in a repository that is thrown away, and the object in the store. Leaves
 * the object and no ref. A program of the user's configuration runs, as for every tag that the user signs.
 *
 * @param request.name - As in the tag object; a ref name's tail.
 * @param request.body - Ends with a line feed; taken as it is.
 * @throws GalleyError `no-identity`, with the signing program's words, when it does not sign.
 */
export async function signTag(
  repository: Repository,
  store: GitDoor,
  config: GitConfig,
  request: {
    readonly name: string
    readonly target: CommitId
    readonly body: string
    readonly tagger: Person
  },
): Promise<TagId> {
  return withTemporaryDirectory(async (directory) => {
    const door: GitDoor = {
      ...store,
      gitDir: join(directory, 'tag.git'),
      extraEnv: { ...store.extraEnv, GIT_OBJECT_DIRECTORY: join(store.gitDir, 'objects') },
    }
    await makeRepository(door, directory)
    const settings = SIGNING_KEYS.flatMap((key) => {
      const value = config.get(key)
      return value === undefined ? [] : ['-c', `${key}=${value}`]
    })
    const args = ['-c', 'gpg.format=ssh', ...settings, 'tag', '--sign', '--cleanup=verbatim', '--file=-']
    const signed = await git(door, {
      args: [...args, request.name, request.target],
      input: request.body,
      env: { ...askingVariables(repository.env), ...personVariables(request.tagger, request.tagger) },
      // A key's path may be relative: git takes it from the top of the work tree.
      cwd: repository.workTree ?? repository.gitDir,
      okCodes: [0, 1, 128],
    })
    if (signed.exitCode !== 0) refuseUnsigned(signed.stderr.trim())
    const made = await git(door, { args: ['rev-parse', '--verify', `refs/tags/${request.name}`] })
    const tag = tagId(made.stdout.toString('latin1').trim())
    // git 2.39 makes a tag without a signature, and ends with 0, when ssh-keygen does not find the key.
    const text = await git(door, { args: ['cat-file', 'tag', tag] })
    if (!text.stdout.includes('-----BEGIN SSH SIGNATURE-----')) refuseUnsigned(signed.stderr.trim())
    return tag
  })
}

async function makeRepository(door: GitDoor, directory: string): Promise<void> {
  const args = ['init', '--quiet', '--bare', '--template=', `--object-format=${door.objectFormat}`]
  const made = await startGit([...args, door.gitDir], {
    cwd: directory,
    env: gitEnvironment({ kind: 'store', inherited: door.inherited }),
    timeoutMs: limits.gitTimeoutMs,
  })
  if (made.exitCode === 0) return
  refuse('io-error', `a passing repository could not be made in ${directory}`, {
    said: made.stderr.toString('utf8'),
  })
}

function refuseUnsigned(said: string): never {
  const isMissing = said.includes('cannot run') || said.includes('cannot exec')
  refuse(
    'no-identity',
    isMissing
      ? 'approvals are to be signed here, and the signing program (ssh-keygen) is not installed'
      : `approvals are to be signed here, and the signing program did not sign: ${said.slice(0, 400)}`,
    { said },
    isMissing
      ? 'Install OpenSSH (the package openssh-client), or name a program in gpg.ssh.program.'
      : 'Set user.signingKey to an SSH key: `git config --global user.signingKey ~/.ssh/id_ed25519.pub`.',
  )
}

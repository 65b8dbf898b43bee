import { refuse } from '../model/error.ts'
import type { Person } from '../model/person.ts'
import { configEntries } from './config-snapshot.ts'
import { type GitDoor, git } from './door.ts'

/** The configuration of a repository as git sees it, keys in lower case except for the middle part. */
export type GitConfig = ReadonlyMap<string, string>

/** The whole configuration, see `configEntries`. A key given several times keeps its last value, as git does. */
export async function readConfig(door: GitDoor): Promise<GitConfig> {
  return new Map((await configEntries(door)).map(({ key, value }) => [key, value]))
}

export const isTrue = (value: string | undefined): boolean =>
  value !== undefined && ['true', 'yes', 'on', '1'].includes(value.toLowerCase())

/**
 * Who the user is, by git's own rules (configuration and the usual variables). No process beyond the configuration's, where both name
 * and address are plain.
 *
 * @throws GalleyError `no-identity`.
 */
export async function readIdentity(door: GitDoor): Promise<Pick<Person, 'name' | 'email'>> {
  return plainIdentity(door.inherited, await readConfig(door)) ?? (await askIdentity(door))
}

/** Exported for its table of cases: null = only git knows (it makes one up, cuts it, or refuses). */
export function plainIdentity(
  env: GitDoor['inherited'],
  config: GitConfig,
): Pick<Person, 'name' | 'email'> | null {
  const chosen = (part: 'name' | 'email') =>
    env[`GIT_COMMITTER_${part.toUpperCase()}`] ??
    config.get(`committer.${part}`) ??
    config.get(`user.${part}`)
  const [name, email] = [chosen('name'), chosen('email')]
  return isPlain(name) && isPlain(email) ? { name, email } : null
}

/** Git takes some signs away at both ends, `<`, `>` and line ends everywhere. */
const isPlain = (text: string | undefined): text is string =>
  text !== undefined && /^[\p{L}\p{N}](?:[^\p{Cc}<>\ufffd]*[\p{L}\p{N})])?$/u.test(text)

async function askIdentity(door: GitDoor): Promise<Pick<Person, 'name' | 'email'>> {
  const result = await git(door, { args: ['var', 'GIT_COMMITTER_IDENT'], okCodes: [0, 128] })
  const found = /^(?<name>.*) <(?<email>.*)> \d+ [+-]\d{4}$/.exec(
    result.stdout.toString('utf8').trim(),
  )?.groups
  if (result.exitCode !== 0 || !found?.['name']) {
    refuse('no-identity', 'git does not know who you are, so that no commit can be made', {
      said: result.stderr.trim(),
    })
  }
  return { name: found['name'], email: found['email'] ?? '' }
}

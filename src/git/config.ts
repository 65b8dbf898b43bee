import { refuse } from '../model/error.ts'
import type { Person } from '../model/person.ts'
import { type GitDoor, git } from './door.ts'

/** The configuration of a repository as git sees it, keys in lower case except for the middle part. */
export type GitConfig = ReadonlyMap<string, string>

/** Reads the whole configuration with one process. A key given several times keeps its last value, as git does. */
export async function readConfig(door: GitDoor): Promise<GitConfig> {
  const result = await git(door, { args: ['config', '--list', '--includes', '-z'] })
  const config = new Map<string, string>()
  for (const entry of result.stdout.toString('utf8').split('\0')) {
    if (entry === '') continue
    const end = entry.indexOf('\n')
    // A key without a value (`[core] bare`) means true.
    config.set(end === -1 ? entry : entry.slice(0, end), end === -1 ? 'true' : entry.slice(end + 1))
  }
  return config
}

export const isTrue = (value: string | undefined): boolean =>
  value !== undefined && ['true', 'yes', 'on', '1'].includes(value.toLowerCase())

/**
 * Who the user is, by git's own rules (configuration and the usual variables).
 *
 * @throws GalleyError `no-identity`.
 */
export async function readIdentity(door: GitDoor): Promise<Person> {
  const result = await git(door, { args: ['var', 'GIT_COMMITTER_IDENT'], okCodes: [0, 128] })
  const found = /^(?<name>.*) <(?<email>.*)> (?<date>\d+ [+-]\d{4})$/.exec(
    result.stdout.toString('utf8').trim(),
  )?.groups
  if (result.exitCode !== 0 || !found?.['name']) {
    refuse('no-identity', 'git does not know who you are, so that no commit can be made', {
      said: result.stderr.trim(),
    })
  }
  return { name: found['name'], email: found['email'] ?? '', date: found['date'] ?? '' }
}

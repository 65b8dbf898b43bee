import { type GitDoor, git } from './door.ts'

/** Settings that the user made for themselves or that the machine has: not the repository's own, which an agent can write. */
export type OwnSettings = ReadonlyMap<string, string>

/**
 * Reads the settings of the user's and the system's configuration whose key matches `pattern` (a POSIX regular expression over the
 * lower-case key). What `.git/config` says of them is left out.
 */
export async function readOwnSettings(door: GitDoor, pattern: string): Promise<OwnSettings> {
  const args = ['config', '--show-scope', '-z', '--get-regexp', pattern]
  const result = await git(door, { args, okCodes: [0, 1] })
  const fields = result.stdout.toString('utf8').split('\0')
  const settings = new Map<string, string>()
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (fields[i] !== 'global' && fields[i] !== 'system') continue
    const entry = fields[i + 1] ?? ''
    const end = entry.indexOf('\n')
    if (end !== -1) settings.set(entry.slice(0, end), entry.slice(end + 1))
  }
  return settings
}

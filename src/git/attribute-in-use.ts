import { type GitDoor, git } from './door.ts'

/** Whether a tracked path has this value of an attribute. One process, which reads the index; a value that no pathspec can name is in use. */
export async function isAttributeInUse(door: GitDoor, attribute: string, value: string): Promise<boolean> {
  if (door.workTree === null) return false
  if (!/^[\w.-]+$/.test(value)) return true
  const result = await git(door, {
    args: ['ls-files', '-z', '--', `:(attr:${attribute}=${value})`],
    env: { GIT_LITERAL_PATHSPECS: '0' },
  })
  return result.stdout.length > 0
}

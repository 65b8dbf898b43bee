import { type FileMode, type Manifest, manifestOf, type Transition } from '../model/manifest.ts'
import { type GitDoor, git, withoutIndex } from './door.ts'

/**
 * Every path that differs between two trees (or commits), as transitions: no rename detection, no filters.
 *
 * The cost follows the difference, not the repository.
 */
export async function diffTrees(door: GitDoor, from: string, to: string): Promise<Manifest> {
  const result = await git(door, {
    args: ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff', from, to],
    env: withoutIndex(door),
  })
  const fields = result.stdout.toString('utf8').split('\0')
  const transitions: Transition[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode, newMode, oldBlob, newBlob] = (fields[i] ?? '').slice(1).split(' ')
    transitions.push({
      path: fields[i + 1] ?? '',
      oldMode: oldMode as FileMode,
      oldBlob: oldBlob ?? '',
      newMode: newMode as FileMode,
      newBlob: newBlob ?? '',
    })
  }
  return manifestOf(transitions)
}

/** Whether a name may stand for another: bytes that are not UTF-8 read as U+FFFD. */
export const isUncertainName = (path: string): boolean => path.includes('\uFFFD')

/** Pairs of paths that git takes for a rename between two trees: new path to old path. */
export async function findRenames(
  door: GitDoor,
  from: string,
  to: string,
): Promise<ReadonlyMap<string, string>> {
  const result = await git(door, {
    args: [
      'diff-tree',
      '-r',
      '-z',
      '--name-status',
      '--find-renames',
      '--diff-filter=R',
      '--no-ext-diff',
      from,
      to,
    ],
    env: withoutIndex(door),
  })
  const fields = result.stdout.toString('utf8').split('\0')
  const renames = new Map<string, string>()
  for (let i = 0; i + 2 < fields.length; i += 3) renames.set(fields[i + 2] ?? '', fields[i + 1] ?? '')
  return renames
}

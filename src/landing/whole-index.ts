import type { GitDoor } from '../git/door.ts'
import { type IndexForm, type IndexView, viewIndex } from '../git/index-file.ts'
import { unfoldIndexFile } from '../git/index-update.ts'
import { refuse } from '../model/error.ts'
import { linkOrCopy, snapshotFile } from '../sys/index-snapshot.ts'

export interface IndexReading {
  /** Changes whenever the index does. */
  readonly identity: string
  /** Of the file as it is; what was read is whole in any case. */
  readonly form: IndexForm
  readonly view: IndexView
}

/**
 * Reads the index entries of the given paths, and those below the given directories, without git where the index is one plain file.
 *
 * @param spare - A name for a file of our own, used where a split or sparse index has to be unfolded first.
 * @throws GalleyError `unsupported-repository`, for an index of an unknown version.
 */
export async function readWholeIndex(
  door: GitDoor,
  indexFile: string,
  spare: string,
  paths: readonly string[],
  directories: readonly string[],
): Promise<IndexReading> {
  const read = (file: string) => readView(door, file, paths, directories)
  const { identity, view } = read(indexFile)
  if (view.form === 'whole' || !linkOrCopy(indexFile, spare)) return { identity, form: view.form, view }
  await unfoldIndexFile(door, spare)
  return { identity, form: view.form, view: read(spare).view }
}

function readView(door: GitDoor, file: string, paths: readonly string[], directories: readonly string[]) {
  const { bytes, identity } = snapshotFile(file)
  if (bytes === null)
    return {
      identity,
      view: { entries: new Map(), beneath: new Map(), unmerged: null, form: 'whole' } as const,
    }
  const view = viewIndex(bytes, door.objectFormat, paths, directories)
  return {
    identity,
    view:
      view ??
      refuse('unsupported-repository', 'the index has a form that is not known (versions 2 to 4 are)', {}),
  }
}

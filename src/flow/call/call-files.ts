import { blobIdOf } from '../../git/blob-id.ts'
import type { LandRequest } from '../../landing/land-commit.ts'
import { blobId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { ResolvedFile } from '../../model/resolution.ts'
import type { StartEntry } from '../../store/sessions.ts'
import { readWorkTreeFile } from '../../sys/work-tree-file.ts'
import type { ChangeView } from '../change-view.ts'
import type { World } from '../world.ts'

type CallFile = StartEntry['files'][number]

/** The working files of a call, before and after it, by the blob ids of their bytes. */
export async function callFiles(world: World, files: readonly ResolvedFile[]): Promise<readonly CallFile[]> {
  const format = world.repository.objectFormat
  return Promise.all(
    files.map(async ({ path, before, after }) => ({
      path,
      before: before.kind === 'file' ? before.blob : null,
      after: after.kind === 'file' ? await blobIdOf(after.bytes, format) : null,
    })),
  )
}

/** What stands at a path now: a blob id, null for nothing, or `other` for what is no regular file, or too large a one. */
async function standing(world: World, path: string): Promise<string | null> {
  const root = world.repository.workTree
  if (root === null) return 'other'
  const file = await readWorkTreeFile(root, path, limits.fileMaxBytes)
  if (file.kind === 'absent' || file.kind === 'blocked') return null
  return file.kind === 'file' ? blobIdOf(file.bytes, world.repository.objectFormat) : 'other'
}

/** Whether the files of a call are as before it, as after it, or neither. */
export async function compareCallFiles(
  world: World,
  files: readonly CallFile[],
): Promise<'before' | 'after' | 'neither'> {
  const now = await Promise.all(files.map(async (file) => ({ file, is: await standing(world, file.path) })))
  if (now.every(({ file, is }) => is === file.before)) return 'before'
  return now.every(({ file, is }) => is === file.after) ? 'after' : 'neither'
}

/** The files of a call as an approval of Mino's is bound to them: as they stood when it was checked, to the byte. */
export function boundFiles(files: readonly ResolvedFile[]): NonNullable<LandRequest['bound']> {
  return new Map(
    files.map(({ path, before }) => [
      path,
      before.kind === 'file' ? { mode: before.executable ? '100755' : '100644', id: before.blob } : null,
    ]),
  )
}

/** The same files as a check has made them: those are what lands. */
export const rewrittenFiles = (
  asked: readonly CallFile[],
  change: Pick<ChangeView, 'files'>,
): readonly CallFile[] => {
  const landed = new Map(change.files.map((file) => [file.path, file]))
  return asked.map((file) => {
    const found = landed.get(file.path)
    // What the check put back to what it was is no part of the change any more.
    const after =
      found === undefined ? file.before : found.newMode === '000000' ? null : blobId(found.newBlob)
    return { ...file, after }
  })
}

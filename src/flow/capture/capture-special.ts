import { submoduleHead } from '../../git/submodule-head.ts'
import { refuse } from '../../model/error.ts'
import type { FileMode } from '../../model/manifest.ts'
import { quote } from '../../policy/quote.ts'
import { keepBytes } from '../../store/keep-objects.ts'
import type { WorkTreeFile } from '../../sys/work-tree-file.ts'
import { sideBytes } from '../pair-files.ts'
import type { World } from '../world.ts'
import type { WantedPath } from './capture-paths.ts'

/** As the tree holds it. Of a submodule, `blob` is its commit. */
export interface CapturedSide {
  readonly mode: Exclude<FileMode, '000000'>
  readonly blob: string
  readonly bytes: Uint8Array
  /** The blob is in the store, or in the user's objects, already. */
  readonly isStored: boolean
}

/** What a capture has to know to read a link or a submodule. */
export interface SpecialReading {
  readonly world: World
  readonly staged: boolean
  readonly isSparse: boolean
  /** core.symlinks: false = a link stands as a file that holds its target. */
  readonly hasSymlinks: boolean
}

export const isSpecial = (mode: string): boolean => mode === '120000' || mode === '160000'

/**
 * The new side of a path that is a symbolic link or a submodule; null = it is neither, but a file or nothing.
 *
 * @throws GalleyError `overlaps-uncommitted`, where what is staged is not what stands there.
 */
export async function specialSide(
  reading: SpecialReading,
  wanted: WantedPath,
  file: WorkTreeFile,
): Promise<CapturedSide | null> {
  const { path, staged } = wanted
  if (reading.staged) {
    if (staged === null || !isSpecial(staged.mode)) return null
    refuseOther(reading, path, staged, linkStanding(reading, wanted, file), file)
    const bytes = await sideBytes(await reading.world.reader(), staged.mode, staged.blob)
    if (bytes === null)
      refuse('stale', `the blob ${staged.blob} of ${path} is not in the repository`, { path })
    const mode = staged.mode === '160000' ? staged.mode : '120000'
    return { mode, blob: staged.blob, bytes, isStored: true }
  }
  const target = linkStanding(reading, wanted, file)
  if (target !== null) {
    const blob = await keepBytes(await reading.world.store(), target)
    return { mode: '120000', blob, bytes: target, isStored: true }
  }
  if (wanted.now !== '160000' || file.kind !== 'directory') return null
  const head = await submoduleHead(reading.world.repository.door, path)
  if (head === null) return null
  const bytes = Buffer.from(`Subproject commit ${head}\n`)
  return { mode: '160000', blob: head, bytes, isStored: true }
}

/** The target of the link that stands at the path; null = none does. */
function linkStanding({ hasSymlinks }: SpecialReading, { now }: WantedPath, file: WorkTreeFile) {
  if (file.kind === 'symlink') return file.target
  return !hasSymlinks && now === '120000' && file.kind === 'file' ? file.bytes : null
}

/** Landing brings the index entry along and leaves what stands there: so it must be what is staged, or a submodule, which stays as it is. */
function refuseOther(
  { isSparse }: SpecialReading,
  path: string,
  staged: { readonly mode: string; readonly blob: string },
  target: Buffer | null,
  file: WorkTreeFile,
): void {
  const isThere =
    staged.mode === '160000' ? file.kind === 'directory' || file.kind === 'absent' : target !== null
  if (isThere || (isSparse && file.kind === 'absent')) return
  const what = staged.mode === '160000' ? 'a submodule' : 'a symbolic link'
  const message = `capture ${quote(path)}: ${what} is staged, and something else stands in the work tree`
  refuse('overlaps-uncommitted', message, { path })
}

import type { FileChange } from '../git/fast-import.ts'
import type { Manifest, Transition } from '../model/manifest.ts'

/** Where a path's step leads, as a change that takes its bytes from the store: to a file, a link, a submodule's commit, or to nothing. */
export function storedChange({
  path,
  newMode,
  newBlob,
}: Transition): Exclude<FileChange, { readonly kind: 'bytes' }> {
  return newMode === '000000'
    ? { kind: 'delete', path }
    : { kind: 'blob', path, mode: newMode, blob: newBlob }
}

export const storedChanges = (manifest: Manifest): readonly FileChange[] => manifest.map(storedChange)

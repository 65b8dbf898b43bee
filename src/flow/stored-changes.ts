import type { FileChange } from '../git/fast-import.ts'
import { invariant } from '../model/error.ts'
import type { Manifest, Transition } from '../model/manifest.ts'

/** Where a path's step leads, as a change that takes its bytes from the store: to a regular file, or to none. */
export function storedChange({
  path,
  newMode,
  newBlob,
}: Transition): Exclude<FileChange, { readonly kind: 'bytes' }> {
  if (newMode === '000000') return { kind: 'delete', path }
  invariant(newMode === '100644' || newMode === '100755', 'a change makes regular files')
  return { kind: 'blob', path, mode: newMode, blob: newBlob }
}

export const storedChanges = (manifest: Manifest): readonly FileChange[] => manifest.map(storedChange)

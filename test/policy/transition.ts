import { zeroId } from '../../src/model/ids.ts'
import type { FileMode, Transition } from '../../src/model/manifest.ts'

/** A transition with made-up blobs, for tests that only look at path and modes. */
export const transition = (
  path: string,
  oldMode: FileMode = '100644',
  newMode: FileMode = '100644',
): Transition => ({
  path,
  oldMode,
  oldBlob: oldMode === '000000' ? zeroId('sha1') : 'a'.repeat(40),
  newMode,
  newBlob: newMode === '000000' ? zeroId('sha1') : 'b'.repeat(40),
})

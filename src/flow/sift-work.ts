import { diffTrees } from '../git/diff-tree.ts'
import type { ObjectReader } from '../git/objects.ts'
import { GalleyError } from '../model/error.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import type { TreeId } from '../model/ids.ts'
import type { Manifest, Transition } from '../model/manifest.ts'
import { checkPath } from '../policy/paths.ts'
import { quote } from '../policy/quote.ts'
import { coveredBy } from '../store/covered-paths.ts'
import type { Store } from '../store/open-store.ts'
import type { World } from './world.ts'

/** What a command changed, told apart: what becomes the change, and what is left out of it. */
export interface Sifted {
  readonly manifest: Manifest
  /** New things that no change can hold, each with the reason as a sentence. */
  readonly leftOut: ReadonlyMap<string, string>
}

/**
 * Sifts the difference between two trees. New symbolic links, submodules, names that may not be used, files that are too large, and
 * whatever was brought into the tree are left out.
 *
 * @throws GalleyError `symlink`, `submodule`, `too-large`, where a tracked file became one: leaving that out would leave half a change.
 */
export async function siftWork(
  world: World,
  store: Store,
  trees: { readonly from: string; readonly to: TreeId },
  options: { readonly brought: readonly string[]; readonly fileMaxBytes: number },
): Promise<Sifted> {
  const all = await diffTrees(store.door, trees.from, trees.to)
  const reader = await world.reader()
  const isBrought = coveredBy(options.brought)
  const leftOut = new Map<string, string>()
  const manifest: Transition[] = []
  for (const transition of all) {
    const { path, oldMode } = transition
    const isNew = oldMode === '000000'
    if (isNew && isBrought(path)) {
      leftOut.set(path, `${quote(path)} was left out: it was brought into the tree, not made there`)
      continue
    }
    const fault = await faultOf(reader, transition, options.fileMaxBytes)
    if (fault === null) manifest.push(transition)
    else if (isNew) leftOut.set(path, `${quote(path)} was left out: ${fault.why}`)
    else {
      const message = `${quote(path)} cannot be part of a change: ${fault.why}`
      throw new GalleyError({ code: fault.code, message, data: { path } })
    }
  }
  return { manifest, leftOut }
}

async function faultOf(
  reader: ObjectReader,
  { path, oldMode, newMode, newBlob }: Transition,
  fileMaxBytes: number,
): Promise<{ readonly code: ErrorCode; readonly why: string } | null> {
  if (newMode === '120000') return { code: 'symlink', why: 'it is a symbolic link' }
  if (newMode === '160000') return { code: 'submodule', why: 'it is a repository of its own' }
  if (path.includes('\ufffd')) return { code: 'path-invalid', why: 'its name is not UTF-8' }
  const invalid = oldMode === '000000' ? checkPath(path) : null
  if (invalid !== null) return { code: invalid.code, why: invalid.message }
  if (newMode === '000000') return null
  const size = (await reader.info(newBlob))?.size ?? 0
  return size > fileMaxBytes
    ? { code: 'too-large', why: `it has ${size} bytes; ${fileMaxBytes} are allowed` }
    : null
}

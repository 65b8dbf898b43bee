import { diffTrees } from '../git/diff-tree.ts'
import { emptyTree } from '../git/fast-import.ts'
import type { ObjectReader } from '../git/objects.ts'
import { GalleyError } from '../model/error.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import type { TreeId } from '../model/ids.ts'
import { type Manifest, manifestOf, type Transition } from '../model/manifest.ts'
import { checkPath } from '../policy/paths.ts'
import { quote } from '../policy/quote.ts'
import { coveredBy } from '../store/covered-paths.ts'
import type { Store } from '../store/open-store.ts'
import { linksOut } from './judge-links.ts'
import type { World } from './world.ts'

/** What a command changed, told apart: what becomes the change, and what is left out of it. */
export interface Sifted {
  readonly manifest: Manifest
  /** What no change can hold, each with the reason as a sentence. Its paths stay as they were. */
  readonly leftOut: ReadonlyMap<string, string>
}

interface Fault {
  readonly code: ErrorCode
  readonly why: string
}

/**
 * Sifts the difference between two trees. Links out of the repository, names that may not be used, new files that are too large, and
 * whatever was brought into the tree are left out; a file that was moved to such a place stays where it was.
 *
 * @throws GalleyError `too-large`, where a tracked file became so: leaving that out would leave half a change.
 */
export async function siftWork(
  world: World,
  store: Store,
  trees: { readonly from: TreeId | null; readonly to: TreeId },
  options: { readonly brought: readonly string[]; readonly fileMaxBytes: number },
): Promise<Sifted> {
  const all = await diffTrees(store.door, trees.from ?? emptyTree(store.door.objectFormat), trees.to)
  const reader = await world.reader()
  const out = await linksOut({ reader, tree: trees.from, manifest: all })
  const links = new Map(out.map(({ path, message }) => [path, message]))
  const isBrought = coveredBy(options.brought)
  const leftOut = new Map<string, string>()
  const manifest: Transition[] = []
  for (const transition of all) {
    const { path, oldMode } = transition
    const isNew = oldMode === '000000'
    const link = links.get(path)
    const fault = await faultOf(reader, transition, options.fileMaxBytes)
    if (isNew && isBrought(path))
      leftOut.set(path, `${quote(path)} was left out: it was brought into the tree, not made there`)
    else if (link !== undefined) leftOut.set(path, `${quote(path)} was left out: ${link}`)
    else if (fault === null) manifest.push(transition)
    else if (isNew) leftOut.set(path, `${quote(path)} was left out: ${fault.why}`)
    else {
      const message = `${quote(path)} cannot be part of a change: ${fault.why}`
      throw new GalleyError({ code: fault.code, message, data: { path } })
    }
  }
  return { manifest: keepMoved(all, manifest, leftOut), leftOut }
}

/** Where the new place of what was moved is left out, the old one stays: a change holds both or neither. */
function keepMoved(all: Manifest, taken: readonly Transition[], leftOut: Map<string, string>): Manifest {
  const lost = all.filter((t) => leftOut.has(t.path) && t.newMode !== '000000')
  const kept = [...taken]
  for (const { path, newBlob, newMode } of lost) {
    const isKind = (mode: string) => mode.slice(0, 3) === newMode.slice(0, 3)
    const isElsewhere = kept.some((t) => t.oldMode === '000000' && t.newBlob === newBlob)
    const at = kept.findIndex((t) => t.newMode === '000000' && t.oldBlob === newBlob && isKind(t.oldMode))
    const origin = kept[at]
    if (isElsewhere || origin === undefined) continue
    kept.splice(at, 1)
    leftOut.set(
      origin.path,
      `${quote(origin.path)} stays: it was moved to ${quote(path)}, which was left out`,
    )
  }
  return manifestOf(kept)
}

async function faultOf(
  reader: ObjectReader,
  { path, oldMode, newMode, newBlob }: Transition,
  fileMaxBytes: number,
): Promise<Fault | null> {
  if (path.includes('\ufffd')) return { code: 'path-invalid', why: 'its name is not UTF-8' }
  const invalid = oldMode === '000000' ? checkPath(path) : null
  if (invalid !== null) return { code: invalid.code, why: invalid.message }
  if (newMode === '000000' || newMode === '160000') return null
  const size = (await reader.info(newBlob))?.size ?? 0
  return size > fileMaxBytes
    ? { code: 'too-large', why: `it has ${size} bytes; ${fileMaxBytes} are allowed` }
    : null
}

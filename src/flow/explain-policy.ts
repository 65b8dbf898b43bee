import { lookUpPath } from '../git/objects.ts'
import { GalleyError } from '../model/error.ts'
import type { FileMode } from '../model/manifest.ts'
import { type AskedChange, explainPath, type PathExplanation } from '../policy/explain-path.ts'
import { checkPlace } from '../policy/paths.ts'
import { protectedHere } from './protected-here.ts'
import { readPolicy } from './read-policy.ts'
import type { World } from './world.ts'

export type ExplainRequest = Pick<AskedChange, 'path' | 'lines' | 'tier' | 'permissionMode' | 'checks'> & {
  readonly deletes?: boolean
}

/**
 * Says who decides on a change to a path, by the policy of HEAD and what this clone adds to it, and which part of it says so. Writes nothing.
 *
 * @throws GalleyError `path-invalid`.
 */
export async function explainPolicy(
  world: World,
  request: ExplainRequest,
): Promise<PathExplanation & { readonly path: string; readonly exists: boolean }> {
  const { path } = request
  const invalid = checkPlace(path)
  if (invalid !== null) throw new GalleyError(invalid)
  const { tip } = await world.head()
  const reader = await world.reader()
  const tree = tip === null ? null : await reader.commitTree(tip)
  const { policy } = await readPolicy(world, tree)
  const found = await lookUpPath(reader, tree, path)
  const oldMode: FileMode = found.kind === 'file' ? found.entry.mode : '000000'
  const newMode: FileMode = request.deletes === true ? '000000' : oldMode === '000000' ? '100644' : oldMode
  const explained = explainPath(policy, { ...request, oldMode, newMode })
  const exists = oldMode !== '000000'
  if (explained.decision !== 'rule') return { ...explained, path, exists }
  const [here] = await protectedHere(world, [{ path, oldMode, newMode, oldBlob: '', newBlob: '' }])
  if (here === undefined) return { ...explained, path, exists }
  return {
    ...explained,
    path,
    exists,
    decision: 'person',
    by: 'galley: what this clone adds',
    why: here.reason,
  }
}

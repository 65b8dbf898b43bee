import type { ObjectReader } from '../git/objects.ts'
import { treeId } from '../model/ids.ts'
import { ownObjects } from './keep-objects.ts'
import type { Store } from './open-store.ts'

/**
 * All objects that lie in the store itself and that some commits lead to by way of such objects: the walk ends where the user's history
 * begins, whether or not that is there still.
 */
export async function ownReachable(
  store: Store,
  reader: ObjectReader,
  commits: readonly string[],
): Promise<ReadonlySet<string>> {
  const own = await ownObjects(store)
  const found = new Set<string>()
  const left: { readonly id: string; readonly kind: 'commit' | 'tree' | 'blob' }[] = []
  const add = (id: string, kind: 'commit' | 'tree' | 'blob') => {
    if (found.has(id) || !own.has(id)) return
    found.add(id)
    if (kind !== 'blob') left.push({ id, kind })
  }
  for (const id of commits) if ((await reader.info(id))?.type === 'commit') add(id, 'commit')
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next.kind === 'tree') {
      for (const { id, mode } of await reader.tree(treeId(next.id)))
        if (mode !== '160000') add(id, mode === '040000' ? 'tree' : 'blob')
      continue
    }
    const header = (await reader.contents(next.id))?.bytes.toString('latin1').split('\n\n')[0] ?? ''
    for (const [, kind, id] of header.matchAll(/^(tree|parent) ([0-9a-f]+)$/gm))
      add(id ?? '', kind === 'tree' ? 'tree' : 'commit')
  }
  return found
}

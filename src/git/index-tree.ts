/** The tree that git has cached in an index (its extension `TREE`): one node for each directory, parents first. */
export interface CachedTree {
  readonly from: number
  readonly to: number
  readonly nodes: readonly TreeNode[]
}

/** Where one node lies in the bytes. Its children follow it. */
interface TreeNode {
  readonly parent: number
  readonly nameAt: number
  /** Of the name's bytes, as latin1: only compared. */
  readonly name: string
  /** The numbers and the id, or only the numbers where nothing is known. */
  readonly factsAt: number
  readonly end: number
  readonly subtrees: string
  readonly isKnown: boolean
}

const SPACE = 0x20
const LF = 0x0a
const MINUS = 0x2d

/** Looks through the extension's bytes. Null when they are not as they should be: then nothing of it is kept. */
export function scanCachedTree(
  bytes: Buffer,
  { from, to }: { readonly from: number; readonly to: number },
  idBytes: number,
): CachedTree | null {
  const nodes: TreeNode[] = []
  // The nodes that still expect children, and how many.
  const open: { readonly node: number; left: number }[] = []
  for (let at = from; at < to; ) {
    while (open.length > 0 && open[open.length - 1]?.left === 0) open.pop()
    const above = open[open.length - 1]
    if (above === undefined && nodes.length > 0) return null
    if (above !== undefined) above.left--
    let nameEnd = at
    while (bytes[nameEnd] !== 0 && nameEnd < to) nameEnd++
    let space = nameEnd
    while (bytes[space] !== SPACE && space < to) space++
    let lineEnd = space
    while (bytes[lineEnd] !== LF && lineEnd < to) lineEnd++
    const isKnown = bytes[nameEnd + 1] !== MINUS
    const end = lineEnd + 1 + (isKnown ? idBytes : 0)
    if (end > to) return null
    const subtrees = bytes.toString('latin1', space + 1, lineEnd)
    nodes.push({
      parent: above?.node ?? -1,
      nameAt: at,
      name: bytes.toString('latin1', at, nameEnd),
      factsAt: nameEnd + 1,
      end,
      subtrees,
      isKnown,
    })
    const left = Number(subtrees)
    if (left > 0) open.push({ node: nodes.length - 1, left })
    at = end
  }
  return { from, to, nodes }
}

/** The extension again, with the directories of some paths marked as unknown; what git knew of the others still holds. */
export function withUnknown(bytes: Buffer, tree: CachedTree, paths: readonly string[]): readonly Buffer[] {
  const unknown = unknownNodes(tree, paths)
  const parts: Buffer[] = []
  let from = tree.from
  for (const [i, node] of tree.nodes.entries()) {
    if (!node.isKnown || !unknown.has(i)) continue
    parts.push(bytes.subarray(from, node.factsAt), Buffer.from(`-1 ${node.subtrees}\n`, 'latin1'))
    from = node.end
  }
  // Copied: the place that it is written to overlaps the one that it is read from.
  const body = Buffer.concat([...parts, bytes.subarray(from, tree.to)])
  const head = Buffer.from('TREE\0\0\0\0', 'latin1')
  head.writeUInt32BE(body.length, 4)
  return [head, body]
}

function unknownNodes(tree: CachedTree, paths: readonly string[]): ReadonlySet<number> {
  const directories = new Set<string>()
  for (const path of paths) {
    const name = Buffer.from(path, 'utf8').toString('latin1')
    for (let end = name.lastIndexOf('/'); end !== -1; end = name.lastIndexOf('/', end - 1))
      directories.add(name.slice(0, end))
  }
  const unknown = new Set<number>([0])
  const pathOf = new Map<number, string>([[0, '']])
  for (const [i, { parent, name }] of tree.nodes.entries()) {
    const above = pathOf.get(parent)
    // A directory below one that is known is known too.
    if (above === undefined) continue
    const path = above === '' ? name : `${above}/${name}`
    if (!directories.has(path)) continue
    unknown.add(i)
    pathOf.set(i, path)
  }
  return unknown
}

import { parseCommit } from '../git/commit.ts'
import { lookUpPath, type ObjectReader } from '../git/objects.ts'
import type { Change } from '../model/change.ts'
import type { TreeId } from '../model/ids.ts'
import type { Manifest, Transition } from '../model/manifest.ts'
import type { Failure } from '../model/resolution.ts'
import { isDotGit } from '../policy/paths.ts'
import { quote } from '../policy/quote.ts'
import { refuseBatch } from './refuse-batch.ts'

export interface LinkFacts {
  readonly reader: ObjectReader
  /** The manifest's old side. */
  readonly tree: TreeId | null
  readonly manifest: Manifest
  /** Trees of commits that an undo takes back, and of their parents: links that lead out in one of them may come back. */
  readonly restores?: readonly TreeId[]
}

/** Longer targets exist on no system (PATH_MAX of Linux). */
const TARGET_MAX_BYTES = 4_095
/** As many links in a row as Linux follows. */
const HOPS_MAX = 40

/**
 * Refuses links that would lead out of the repository, or into a `.git`, where nothing did so before.
 *
 * @throws GalleyError `symlink` for the first such link; the refusal names all of them.
 */
export async function refuseLinksOut(facts: LinkFacts): Promise<void> {
  const found = await linksOut(facts)
  if (found.length > 0) refuseBatch(found.map((one) => ({ ...one, item: 0 })))
}

/** Every link of the new side that leads out, unless the old side held a link out at its path, or the same one out elsewhere. */
export async function linksOut(facts: LinkFacts): Promise<readonly Omit<Failure, 'item'>[]> {
  const failures: Omit<Failure, 'item'>[] = []
  for (const transition of facts.manifest) {
    if (transition.newMode !== '120000') continue
    const why = await wayOut(facts, transition)
    if (why === null || (await ledOutBefore(facts, transition))) continue
    const { path } = transition
    failures.push({
      code: 'symlink',
      message: `the symbolic link ${quote(path)} ${why}`,
      data: { path },
      path,
      hint: 'Let it point to a path inside of the repository.',
    })
  }
  return failures
}

/** The side of a change that links are followed through: new entries, and the tree for all others. */
type Entries = (path: string) => Promise<{ readonly mode: string; readonly id: string } | null>

function newSide({ reader, tree, manifest }: LinkFacts): Entries {
  const byPath = new Map(manifest.map((t) => [t.path, { mode: t.newMode, id: t.newBlob }]))
  return async (path) => byPath.get(path) ?? entryIn(reader, tree, path)
}

async function entryIn(reader: ObjectReader, tree: TreeId | null, path: string) {
  const found = await lookUpPath(reader, tree, path)
  return found.kind === 'file' ? found.entry : null
}

async function wayOut(facts: LinkFacts, { path, newBlob }: Transition): Promise<string | null> {
  const target = await targetOf(facts.reader, newBlob)
  if (target === null) return null
  if (target.length === 0 || target.length > TARGET_MAX_BYTES || target.includes(0))
    return 'has no target that a link can have'
  return follow(newSide(facts), facts.reader, path, target)
}

const targetOf = async (reader: ObjectReader, blob: string): Promise<Buffer | null> =>
  (await reader.contents(blob))?.bytes ?? null

/** Walks where a link leads, through links of the same side; null = it stays inside. */
async function follow(
  entries: Entries,
  reader: ObjectReader,
  path: string,
  target: Buffer,
): Promise<string | null> {
  const shown = `leads to ${quote(target.toString('utf8'))}`
  const at = path.split('/').slice(0, -1)
  const ahead = partsOf(target)
  if (ahead === null) return `${shown}, out of the repository`
  for (let hops = 0; ahead.length > 0; ) {
    const part = ahead.shift() ?? ''
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (at.pop() === undefined) return `${shown}, out of the repository`
      continue
    }
    if (isDotGit(part)) return `${shown}, into a git directory`
    at.push(part)
    const entry = await entries(at.join('/'))
    if (entry?.mode !== '120000') continue
    const next = await targetOf(reader, entry.id)
    if (next === null || ++hops > HOPS_MAX) return null
    const more = partsOf(next)
    if (more === null) return `${shown}, through a link out of the repository`
    at.pop()
    ahead.unshift(...more)
  }
  return null
}

/** null = an absolute target. */
function partsOf(target: Buffer): string[] | null {
  const text = target.toString('utf8')
  return text.startsWith('/') ? null : text.split('/')
}

/** Whether a link led out on the old side, at the path or moved from elsewhere; or an undo brings back what a commit held. */
async function ledOutBefore(facts: LinkFacts, { path, newBlob }: Transition): Promise<boolean> {
  const { reader, tree, manifest, restores = [] } = facts
  for (const before of restores) {
    const entry = await entryIn(reader, before, path)
    if (entry?.mode === '120000' && entry.id === newBlob) return true
  }
  const entries: Entries = (at) => entryIn(reader, tree, at)
  for (const old of manifest) {
    if (old.oldMode !== '120000' || (old.path !== path && old.oldBlob !== newBlob)) continue
    const target = await targetOf(reader, old.oldBlob)
    if (target !== null && (await follow(entries, reader, old.path, target)) !== null) return true
  }
  return false
}

/** The trees whose links an undo or a redo may bring back: of the commits that it names, and of what was before them. */
export async function treesRestored(
  reader: ObjectReader,
  change: Pick<Change, 'undoes' | 'undoesPartly' | 'redoes'>,
): Promise<readonly TreeId[]> {
  const trees: TreeId[] = []
  for (const commit of [...change.undoes, ...change.undoesPartly, ...change.redoes]) {
    if ((await reader.info(commit)) === null) continue
    const { tree, parents } = await parseCommit(reader, commit)
    trees.push(tree)
    for (const parent of parents)
      if ((await reader.info(parent)) !== null) trees.push(await reader.commitTree(parent))
  }
  return trees
}

/** Whether a manifest makes or turns any symbolic link. */
export const makesLinks = (manifest: Manifest): boolean => manifest.some((t) => t.newMode === '120000')

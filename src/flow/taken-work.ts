import { takenText } from '../editing/taken-lines.ts'
import { cleanBytes } from '../git/convert.ts'
import type { RevisionFile } from '../model/change.ts'
import type { Remark } from '../model/resolution.ts'
import { keepBytes } from '../store/keep-objects.ts'
import type { PathState } from './read-files.ts'
import { encodeText } from './text-encoding.ts'
import type { World } from './world.ts'

/** What a revision says of a file whose uncommitted work it takes along. */
export interface TakenWork {
  readonly file: Pick<RevisionFile, 'taken'>
  readonly remark: Remark
}

/** The file in the base, as the tree has it, and as the change makes it, as the work tree has it; null = absent. */
interface TakenSides {
  readonly base: Uint8Array | null
  readonly next: Uint8Array | null
}

/**
 * Describes the uncommitted work in one file that a change takes along. Keeps the working file's bytes in the store, so that a landing can
 * tell what was added to them since.
 *
 */
export async function takenWork(
  world: World,
  state: PathState,
  item: number,
  sides: TakenSides,
): Promise<TakenWork> {
  const { path, current } = state
  const remark = {
    kind: 'takes-uncommitted',
    item,
    path,
    text: await takenLines(world, state, sides),
  } as const
  if (current.kind !== 'file') return { file: { taken: null }, remark }
  const { encoding } = state
  const bytes = encoding === null ? current.bytes : await encodeText(world, path, encoding, current.bytes)
  await keepBytes(await world.store(), bytes)
  const mode = current.executable ? '100755' : '100644'
  return { file: { taken: { mode, id: current.blob } }, remark }
}

/** Says in words what a change takes along of the uncommitted work in one file. Leaves nothing behind. */
export async function takenLines(world: World, state: PathState, sides: TakenSides): Promise<string> {
  const { current } = state
  const inTree = (bytes: Uint8Array | null) => (bytes === null ? null : treeForm(world, state, bytes))
  const mine = current.kind === 'file' ? current.bytes : null
  return takenText({ base: sides.base, mine: await inTree(mine), next: await inTree(sides.next) })
}

async function treeForm(world: World, state: PathState, bytes: Uint8Array): Promise<Uint8Array> {
  const { conversion, encoding, path } = state
  if (encoding?.inTree === 'same') return encodeText(world, path, encoding, bytes)
  if (conversion?.kind !== 'converted') return bytes
  // The text is UTF-8 already.
  const hints = { conversion: { ...conversion, encoding: null }, base: state.base?.blob ?? null }
  const blob = await cleanBytes(world.repository, (await world.store()).door, path, bytes, hints)
  return (await (await world.reader()).contents(blob))?.bytes ?? bytes
}

import { join } from 'node:path'
import { sha256Hex } from '../../git/blob-id.ts'
import { listRefs, type RefRow } from '../../git/refs.ts'
import { clearForeignRefs, foreignRefs } from '../../store/left-work.ts'
import type { Store } from '../../store/open-store.ts'
import { slotNames } from '../../store/pool.ts'
import { readSlotState, slotOf } from '../../store/pool-slot.ts'
import { isThere, readQuickly, replaceQuickly } from '../../sys/quick-files.ts'
import { removeTree } from '../../sys/trees.ts'
import type { World } from '../world.ts'
import type { Marks, RunWork } from './run-work.ts'

/** Looks at what a run is not to change. One process. */
export async function takeMarks(world: World, store: Store): Promise<Marks> {
  return { storeConfig: readQuickly(storeConfigFile(store)), user: await userMarks(world) }
}

/** What a repository may hold that would change what the next run sees or starts. The store has none of it. */
const OUTSIDE_THE_TREE = ['hooks', 'info/attributes', 'info/grafts', 'info/sparse-checkout'] as const

const storeConfigFile = (store: Store): string => join(store.door.gitDir, 'config')

async function userMarks(world: World): Promise<ReadonlyMap<string, string>> {
  const { door, gitDir, commonDir } = world.repository
  const refs = await listRefs(door, 'refs/')
  const marks = new Map(refs.map((row) => [row.ref, row.object]))
  for (const file of [join(gitDir, 'HEAD'), join(commonDir, 'config')])
    marks.set(file, sha256Hex(readQuickly(file) ?? ''))
  return marks
}

/**
 * Puts the store back to what it was beside the run's own tree: its configuration, and refs that are none of galley's. While another run
 * is going on nothing is touched, since it may be that one's.
 *
 * @returns What happened, as sentences, and the refs under which something was kept.
 */
export async function tidyAfter(
  work: RunWork,
  marks: Marks,
  head: Parameters<typeof clearForeignRefs>[3],
): Promise<{ readonly remarks: readonly string[]; readonly kept: readonly string[] }> {
  const { world, store, id } = work
  const remarks = await movedRemarks(world, marks)
  if (await anotherRuns(work)) return { remarks, kept: [] }
  const config = storeConfigFile(store)
  const now = readQuickly(config)
  if (marks.storeConfig !== null && now?.equals(marks.storeConfig) !== true) {
    await replaceQuickly(config, marks.storeConfig)
    remarks.push('the command changed the configuration of its repository, which was put back')
  }
  for (const path of OUTSIDE_THE_TREE) {
    if (!isThere(join(store.door.gitDir, path))) continue
    await removeTree(join(store.door.gitDir, path))
    remarks.push(`the command made ${path} in its repository, which was removed`)
  }
  const rows: readonly RefRow[] = await foreignRefs(store)
  return { remarks, kept: await clearForeignRefs(store, id, rows, head) }
}

async function anotherRuns({ world, store, tree }: RunWork): Promise<boolean> {
  for (const name of await slotNames(world.repository)) {
    if (name === tree.slot.name) continue
    if ((await readSlotState(slotOf(world.repository, store, name)))?.phase === 'run') return true
  }
  return false
}

/** The user may have been at work meanwhile, so this is no fault; but it is to be known. */
async function movedRemarks(world: World, marks: Marks): Promise<string[]> {
  const now = await userMarks(world)
  const names = new Set([...marks.user.keys(), ...now.keys()])
  const moved = [...names].filter((name) => marks.user.get(name) !== now.get(name))
  if (moved.length === 0) return []
  const shown = moved.slice(0, 5).join(', ')
  return [`while the command ran, your repository changed: ${shown}${moved.length > 5 ? ', …' : ''}`]
}

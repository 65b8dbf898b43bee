import type { ErrorCode } from '../model/error-codes.ts'
import type { FileMode } from '../model/manifest.ts'
import type { Failure, Remark, ResolvedFile } from '../model/resolution.ts'
import { quote } from '../policy/quote.ts'
import { mergeBytes } from '../store/merge-bytes.ts'
import type { PathState } from './read-files.ts'
import { takenLines } from './taken-work.ts'
import type { World } from './world.ts'

/** What a revision is built from: files as the engine made them of the working files, and what those were. */
export interface BuildRequest {
  readonly resolved: readonly ResolvedFile[]
  readonly states: ReadonlyMap<string, PathState>
  /** Takes uncommitted work in the edited files into the change. */
  readonly includeUncommitted: boolean
  /** The item that names a path, for failures. */
  readonly itemOf: (path: string) => number
}

/** A path, and the other one that its file was moved or copied from. */
export interface Places {
  readonly state: PathState
  readonly source: PathState | undefined
}

/** The result's bytes as the work tree would hold them if nothing else were uncommitted there, nor where they were copied from. */
export async function carryToBase(
  world: World,
  request: BuildRequest,
  resolved: ResolvedFile,
  { state, source }: Places,
): Promise<{ readonly bytes: Uint8Array } | Failure> {
  if (resolved.after.kind !== 'file') throw new Error('BUG: a deletion is not carried')
  let { bytes } = resolved.after
  if (request.includeUncommitted) return { bytes }
  for (const from of [...(resolved.madeFrom?.holdsText === true ? [source] : []), state]) {
    if (from === undefined || !from.uncommitted) continue
    const carried = await carryFrom(world, from, bytes)
    if (typeof carried === 'string') return overlap(request, resolved.path, carried, from.path)
    bytes = carried
  }
  return { bytes }
}

/** What was made of a working file, as if it had been made of the committed one; or why that cannot be. */
async function carryFrom(world: World, from: PathState, after: Uint8Array): Promise<Uint8Array | string> {
  const base = await baseBytes(world, from)
  if (from.current.kind === 'absent' || base === null) return 'it is deleted in the work tree'
  if (from.conversion !== null || from.encoding !== null) return 'its line endings or encoding are converted'
  const versions = { mine: base, base: from.current.bytes, theirs: after }
  const merged = await mergeBytes(await world.store(), versions)
  return merged.kind === 'clean' ? merged.bytes : 'the edit touches lines that are not committed'
}

/**
 * What is said where a copy is of a file that holds uncommitted work: that the work goes along, or that it does not. Of a moved file, its
 * old name says it, unless that was filled again.
 */
export async function copiedRemarks(
  world: World,
  request: BuildRequest,
  resolved: ResolvedFile,
  source: PathState | undefined,
): Promise<readonly Remark[]> {
  const { path, renamedFrom, madeFrom } = resolved
  if (source === undefined || !source.uncommitted || madeFrom?.holdsText !== true) return []
  const about = { item: request.itemOf(path), path }
  const made = `is made from ${quote(source.path)}`
  if (!request.includeUncommitted)
    return [
      { ...about, kind: 'carried', text: `${made} as it is committed, without the uncommitted work there` },
    ]
  if (renamedFrom === source.path && isGone(request, source.path)) return []
  const next = resolved.after.kind === 'file' ? resolved.after.bytes : null
  const text = await takenLines(world, source, { base: await baseBytes(world, source), next })
  return [{ ...about, kind: 'takes-uncommitted', text: `${made} and ${text}` }]
}

const isGone = ({ resolved }: BuildRequest, path: string): boolean =>
  resolved.some((one) => one.path === path && one.after.kind === 'absent')

/** The mode in the tree: the committed one where the change does not change it. */
export function modeOf(
  resolved: ResolvedFile,
  { state, source }: Places,
  includeUncommitted: boolean,
): FileMode {
  const { before, after } = resolved
  if (after.kind !== 'file') throw new Error('BUG: a deletion has no mode')
  if (!includeUncommitted || resolved.madeFrom?.holdsText === false) {
    // A mode that nobody has committed stays out of a copy as well.
    const origin =
      source === undefined ? { file: before, base: state.base } : { file: source.current, base: source.base }
    const isUnchanged = origin.file.kind === 'file' && origin.file.executable === after.executable
    if (isUnchanged && origin.base !== null) return origin.base.mode
  }
  return after.executable ? '100755' : '100644'
}

/** The file in the base, as the tree has it; null = absent. */
export async function baseBytes(world: World, state: PathState): Promise<Uint8Array | null> {
  if (state.base === null) return null
  const isTree = state.conversion === null && state.encoding === null
  if (!state.uncommitted && isTree && state.current.kind === 'file') return state.current.bytes
  return (await (await world.reader()).contents(state.base.blob))?.bytes ?? null
}

/** A failure of the item that names the path first. */
export const failureOf = (
  code: ErrorCode,
  request: BuildRequest,
  path: string,
  message: string,
): Failure => ({
  code,
  message,
  data: { path },
  item: request.itemOf(path),
  path,
})

/** `overlaps-uncommitted`: what the edit needs is work that nobody has committed. */
export const overlap = (request: BuildRequest, path: string, why: string, holder = path): Failure => ({
  ...failureOf('overlaps-uncommitted', request, path, `${holder} holds uncommitted work: ${why}`),
  hint: request.includeUncommitted
    ? 'Commit that work first.'
    : 'Commit that work first; or propose the batch again with `--include-uncommitted`, which takes it into the change.',
})

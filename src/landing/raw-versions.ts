import { type PathConversion, pathConversions } from '../git/attributes.ts'
import type { ConfigValues } from '../git/config-values.ts'
import { cleanBytes, smudgeBlob } from '../git/convert.ts'
import type { WorkingSides } from '../model/change.ts'
import { GalleyError } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import type { Transition } from '../model/manifest.ts'
import { blobHash, readStanding } from '../sys/file-key.ts'
import type { Problem, Version } from './decide-path.ts'
import type { LandRequest } from './request.ts'

/** A path's two sides as the work tree has them. */
export interface RawVersions {
  readonly base: Version | null
  readonly next: Version | null
  /** Where the next version's bytes are. */
  readonly nextBytes:
    | { readonly kind: 'blob'; readonly id: string }
    | { readonly kind: 'bytes'; readonly bytes: Buffer }
    | null
  readonly baseBytes:
    | { readonly kind: 'blob'; readonly id: string }
    | { readonly kind: 'bytes'; readonly bytes: Buffer }
    | null
  readonly problem: Problem | null
}

const ABSENT = '000000'

export const baseVersion = (t: Transition): Version | null =>
  t.oldMode === ABSENT ? null : { mode: t.oldMode, id: t.oldBlob }
export const nextVersion = (t: Transition): Version | null =>
  t.newMode === ABSENT ? null : { mode: t.newMode, id: t.newBlob }

/**
 * Finds what the working files of the manifest hold before and after, in bytes: as the request says, or by
 * git's own conversion for paths that it leaves out. One process beside the reading of the configuration; one
 * or two more for each path that is really converted.
 */
export async function rawVersions(
  request: LandRequest,
  configRead: Promise<ConfigValues>,
): Promise<ReadonlyMap<string, RawVersions>> {
  const open = request.manifest.filter((t) => !request.working.has(t.path)).map((t) => t.path)
  const conversions = await pathConversions(request.repository, open, configRead)
  const versions = new Map<string, RawVersions>()
  for (const transition of request.manifest) {
    const { path } = transition
    const stated = request.working.get(path)
    const conversion = conversions.get(path)
    if (stated !== undefined) versions.set(path, asStated(transition, stated))
    else if (conversion === undefined) versions.set(path, asStated(transition, { old: null, new: null }))
    else versions.set(path, await converted(request, transition, conversion))
  }
  return versions
}

function asStated(t: Transition, working: WorkingSides): RawVersions {
  const base = rawSide(baseVersion(t), working.old, working.mode)
  const next = rawSide(nextVersion(t), working.new, working.mode)
  return { base, next, baseBytes: blobSource(base), nextBytes: blobSource(next), problem: null }
}

const rawSide = (version: Version | null, raw: string | null, mode?: string): Version | null =>
  version === null ? null : { mode: mode ?? version.mode, id: raw ?? version.id }

const blobSource = (version: Version | null) =>
  version === null ? null : ({ kind: 'blob', id: version.id } as const)

async function converted(
  request: LandRequest,
  t: Transition,
  conversion: PathConversion,
): Promise<RawVersions> {
  if (conversion.kind === 'filtered') {
    const message = `${t.path} passes through the filter driver "${conversion.driver}", which galley does not run`
    return { ...asStated(t, { old: null, new: null }), problem: { code: 'filtered', path: t.path, message } }
  }
  const smudged = async (version: Version | null) => {
    if (version === null || !version.mode.startsWith('100')) return null
    return smudgeBlob(request.repository, request.store, t.path, version.id, { conversion })
  }
  const [old, next] = [await smudged(baseVersion(t)), await smudged(nextVersion(t))]
  const hash = request.repository.objectFormat
  const asBase = await standingAsBase(request, t, conversion, old)
  const rawOld = rawSide(baseVersion(t), asBase === null ? null : blobHash(asBase, hash))
  const rawNext = rawSide(nextVersion(t), next === null ? null : blobHash(next, hash))
  return {
    base: rawOld,
    next: rawNext,
    baseBytes: asBase === null ? blobSource(rawOld) : { kind: 'bytes', bytes: asBase },
    nextBytes: next === null ? blobSource(rawNext) : { kind: 'bytes', bytes: next },
    problem: null,
  }
}

/**
 * The bytes that stand for the version before in the work tree. A checkout is not the only form of it: an `ident` of an earlier checkout,
 * or line endings that git would store alike, are no work of the user's, and git calls such a file unchanged.
 */
async function standingAsBase(
  { repository, store }: LandRequest,
  t: Transition,
  conversion: PathConversion,
  checkedOut: Buffer | null,
): Promise<Buffer | null> {
  if (checkedOut === null || repository.workTree === null) return checkedOut
  const bytes = readStanding(repository.workTree, t.path, limits.fileMaxBytes)
  if (bytes === null || bytes.equals(checkedOut)) return checkedOut
  const hints = { conversion, base: t.oldBlob }
  return (await cleanedOrNull(() => cleanBytes(repository, store, t.path, bytes, hints))) === t.oldBlob
    ? bytes
    : checkedOut
}

/** null = git could not store the bytes there: they are certainly other than the version before. */
async function cleanedOrNull(clean: () => Promise<string>): Promise<string | null> {
  try {
    return await clean()
  } catch (error) {
    if (error instanceof GalleyError && error.code === 'not-utf8') return null
    throw error
  }
}

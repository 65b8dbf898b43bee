import { type PathConversion, pathConversions } from '../../git/attributes.ts'
import { blobIdOf } from '../../git/blob-id.ts'
import { configBoolean, configValues } from '../../git/config-values.ts'
import { cleanBytes, smudgeBlob } from '../../git/convert.ts'
import type { WorkingSides } from '../../model/change.ts'
import { GalleyError, invariant, refuse } from '../../model/error.ts'
import type { ErrorCode } from '../../model/error-codes.ts'
import { quote } from '../../policy/quote.ts'
import { keepBytes } from '../../store/keep-objects.ts'
import { readWorkTreeFile, type WorkTreeFile } from '../../sys/work-tree-file.ts'
import { sideBytes } from '../pair-files.ts'
import type { World } from '../world.ts'
import type { GitEntry, WantedPath } from './capture-paths.ts'
import { type CapturedSide, isSpecial, type SpecialReading, specialSide } from './capture-special.ts'

/** One path of a capture: both sides as blobs, and what the working file holds. */
export interface CapturedFile {
  readonly path: string
  /** null = absent. */
  readonly before: CapturedSide | null
  readonly after: CapturedSide | null
  /** The working file's own bytes; null = it is absent. */
  readonly standing: Buffer | null
  /**
   * What the working file is before and after, where landing could not work that out; it leaves the file as it is where the second one
   * stands there.
   */
  readonly working: WorkingSides | null
}

interface Reading extends SpecialReading {
  readonly fileMaxBytes: number
  readonly trustsModes: boolean
  readonly conversions: ReadonlyMap<string, PathConversion>
}

/**
 * Reads every wanted path, on both sides. Paths that turn out to hold what HEAD holds are left out. Nothing of the user's changes;
 * converted bytes become blobs of the store.
 *
 * @throws GalleyError for the first path that cannot be captured, naming all of them in `data.paths`: `symlink` for one above
 * it, `submodule` for a repository of its own, `special-file`, `is-directory`, `exists`, `too-large`, `filtered`, `lfs-pointer`, `overlaps-uncommitted`.
 */
export async function readCaptured(
  world: World,
  wanted: readonly WantedPath[],
  options: { readonly staged: boolean; readonly fileMaxBytes: number },
): Promise<readonly CapturedFile[]> {
  const values = await configValues(world.repository.door, '^core\\.(filemode|sparsecheckout|symlinks)$')
  const reading: Reading = {
    world,
    ...options,
    trustsModes: configBoolean(values, 'core.filemode', true),
    isSparse: configBoolean(values, 'core.sparsecheckout', false),
    hasSymlinks: configBoolean(values, 'core.symlinks', true),
    conversions: await pathConversions(
      world.repository,
      wanted.map((w) => w.path),
    ),
  }
  const files: CapturedFile[] = []
  const problems: GalleyError[] = []
  for (const [i, one] of wanted.entries()) {
    world.progress(`capturing file ${i + 1} of ${wanted.length}`)
    const file = await readOne(reading, one).catch((error: unknown) => {
      if (!(error instanceof GalleyError)) throw error
      problems.push(error)
      return null
    })
    if (file !== null) files.push(file)
  }
  refuseAll(problems)
  return files
}

function refuseAll(problems: readonly GalleyError[]): void {
  const [first] = problems
  if (first === undefined) return
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  const paths = problems.map(({ code, message, data }) => ({ path: data['path'], code, message }))
  const hint = first.hint ?? 'Name the other paths to capture those alone.'
  refuse(first.code, `${first.message}${more}`, { ...first.data, paths }, hint)
}

/** null = it holds what HEAD holds. */
async function readOne(reading: Reading, wanted: WantedPath): Promise<CapturedFile | null> {
  const { path, base } = wanted
  const root = reading.world.repository.workTree
  invariant(root !== null, 'a capture has a work tree')
  const file = await readWorkTreeFile(root, path, reading.fileMaxBytes)
  const before = base === null ? null : await storedSide(reading, path, base)
  const special = await specialSide(reading, wanted, file)
  if (special !== null) {
    const isSame = before?.blob === special.blob && before.mode === special.mode
    return isSame ? null : { path, before, after: special, standing: null, working: null }
  }
  return isGone(wanted, file, reading.staged)
    ? goneFile(reading, path, before, file)
    : readRegular(reading, wanted, file, before)
}

/** Whether the change deletes the path. */
const isGone = ({ staged }: WantedPath, file: WorkTreeFile, isStaged: boolean): boolean =>
  isStaged ? staged === null : isAbsent(file)

/** Where a directory stands, or below a link or a file, nothing that git tracks stands any more. */
const isAbsent = (file: WorkTreeFile): boolean =>
  ['absent', 'blocked', 'directory'].includes(file.kind) || (file.kind === 'symlink' && file.target === null)

function goneFile(
  { staged, conversions }: Reading,
  path: string,
  before: CapturedSide | null,
  file: WorkTreeFile,
): CapturedFile | null {
  if (before === null) return null
  // Removed from the index alone, it is the user's to keep.
  const isKept = staged && !isAbsent(file)
  // A deletion needs no filter's word for what its blob would be as a file.
  const isFiltered = conversions.get(path)?.kind === 'filtered'
  const working: WorkingSides | null = isKept
    ? { old: null, new: null, stays: true }
    : isFiltered
      ? { old: null, new: null }
      : null
  return { path, before, after: null, standing: null, working }
}

async function readRegular(
  reading: Reading,
  { path, staged }: Pick<WantedPath, 'path' | 'staged'>,
  file: WorkTreeFile,
  before: CapturedSide | null,
): Promise<CapturedFile | null> {
  const standing = standingBytes(path, file, reading.fileMaxBytes)
  const conversion = reading.conversions.get(path) ?? null
  if (conversion?.kind === 'filtered') {
    const code: ErrorCode = conversion.driver === 'lfs' ? 'lfs-pointer' : 'filtered'
    cannot(code, path, `it passes through the filter "${conversion.driver}"`, { driver: conversion.driver })
  }
  const after = reading.staged
    ? staged === null
      ? null
      : await storedSide(reading, path, staged)
    : await workingSide(reading, path, file, before, conversion)
  if (before?.blob === after?.blob && before?.mode === after?.mode) return null
  if (reading.staged && standing === null && !reading.isSparse)
    cannot('overlaps-uncommitted', path, 'it is staged, and deleted in the work tree')
  const ids = await workingIds(reading, { path, before, after, standing, conversion })
  const mode = after === null ? null : ownMode(reading, file, after)
  const working = mode === null ? ids : { ...(ids ?? { old: null, new: null }), mode }
  return { path, before, after, standing, working }
}

/** The file's bytes, or null where it is absent. */
function standingBytes(path: string, file: WorkTreeFile, fileMaxBytes: number): Buffer | null {
  switch (file.kind) {
    case 'file':
      return file.bytes
    case 'absent':
      return null
    case 'symlink':
      return cannot(
        'symlink',
        path,
        file.at === path
          ? 'a symbolic link stands there'
          : `the symbolic link ${quote(file.at)} stands above it`,
        { link: file.at },
      )
    case 'directory':
      return cannot('is-directory', path, 'a directory stands there, which landing would have to remove')
    case 'blocked':
      return cannot('exists', path, `the file ${quote(file.by)} stands where its directory was`)
    case 'nested':
      return cannot('submodule', path, `it lies in ${quote(file.repository)}, a repository of its own`)
    case 'special':
      return cannot('special-file', path, 'it is not a regular file')
    case 'too-large':
      return cannot('too-large', path, `it has ${file.size} bytes; ${fileMaxBytes} are allowed`, {
        size: file.size,
      })
  }
}

async function storedSide({ world }: Reading, path: string, entry: GitEntry): Promise<CapturedSide> {
  const { mode, blob } = entry
  invariant(mode !== '000000', 'an entry is there')
  const bytes = await sideBytes(await world.reader(), mode, blob)
  if (bytes === null) refuse('stale', `the blob ${blob} of ${path} is not in the repository`, { path })
  return { mode, blob, bytes, isStored: true }
}

async function workingSide(
  reading: Reading,
  path: string,
  file: WorkTreeFile,
  before: CapturedSide | null,
  conversion: PathConversion | null,
): Promise<CapturedSide | null> {
  if (file.kind !== 'file') return null
  const { world } = reading
  const isExecutable = reading.trustsModes ? file.executable : before?.mode === '100755'
  const mode = isExecutable ? '100755' : '100644'
  if (conversion === null) {
    const blob = await blobIdOf(file.bytes, world.repository.objectFormat)
    return { mode, blob, bytes: file.bytes, isStored: false }
  }
  const hints = { conversion, base: regularBlob(before) }
  const blob = await cleanBytes(world.repository, (await world.store()).door, path, file.bytes, hints)
  const cleaned = await (await world.reader()).contents(blob)
  return { mode, blob, bytes: cleaned?.bytes ?? file.bytes, isStored: true }
}

/** The blob that a file was made of; a link's target or a submodule's commit says nothing about line endings. */
const regularBlob = (side: CapturedSide | null): string | null =>
  side === null || isSpecial(side.mode) ? null : side.blob

/** The working file's mode, where it is not the one that is staged; null = it is, or says nothing. */
function ownMode(reading: Reading, file: WorkTreeFile, after: CapturedSide): CapturedSide['mode'] | null {
  if (!reading.staged || !reading.trustsModes || file.kind !== 'file') return null
  const mode = file.executable ? '100755' : '100644'
  return mode === after.mode ? null : mode
}

interface WorkingFacts {
  readonly path: string
  readonly before: CapturedSide | null
  readonly after: CapturedSide | null
  readonly standing: Buffer | null
  readonly conversion: PathConversion | null
}

/**
 * What landing is to find and leave in the work tree. A file that holds more than what is captured stays as it is; a converted one is
 * told by its own bytes, since converting the blob back may give others.
 */
async function workingIds(reading: Reading, facts: WorkingFacts): Promise<WorkingSides | null> {
  const { before, after, standing, conversion, path } = facts
  if (standing === null || after === null) return null
  const { world } = reading
  const format = world.repository.objectFormat
  if (reading.staged && !(await isSameContent(reading, facts, standing, after)))
    return keepAsItIs(world, standing)
  if (conversion === null) return null
  const store = await world.store()
  const now = await keepBytes(store, standing)
  if (before === null || isSpecial(before.mode)) return { old: null, new: now }
  const smudged = await smudgeBlob(world.repository, store.door, path, before.blob, { conversion })
  const old = await keepBytes(store, smudged)
  invariant(old === (await blobIdOf(smudged, format)), 'the store keeps bytes as they are')
  return { old, new: now }
}

async function isSameContent(
  { world }: Reading,
  { path, before, conversion }: WorkingFacts,
  standing: Buffer,
  after: CapturedSide,
): Promise<boolean> {
  if (conversion === null) return (await blobIdOf(standing, world.repository.objectFormat)) === after.blob
  const hints = { conversion, base: regularBlob(before) }
  return (
    (await cleanBytes(world.repository, (await world.store()).door, path, standing, hints)) === after.blob
  )
}

/** Landing takes what stands there for both sides, and so has nothing to do to the file. */
export async function keepAsItIs(
  world: World,
  standing: Uint8Array,
): Promise<{ readonly old: string; readonly new: string }> {
  const id = await keepBytes(await world.store(), standing)
  return { old: id, new: id }
}

const cannot = (
  code: ErrorCode,
  path: string,
  why: string,
  data: Readonly<Record<string, unknown>> = {},
): never => refuse(code, `capture ${quote(path)}: ${why}`, { path, ...data })

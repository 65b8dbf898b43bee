import { join } from 'node:path'
import { refuse } from '../model/error.ts'
import { type BlobId, blobId } from '../model/ids.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { fileExists, writeOnce } from '../sys/small-files.ts'
import { type ConvertedPath, type PathConversion, pathConversions } from './attributes.ts'
import { sha256Hex } from './blob-id.ts'
import { configValues } from './config-values.ts'
import { type GitDoor, git, gitFailure } from './door.ts'
import { allowHint, cleanByFilter, smudgeByFilter } from './filter-driver.ts'
import type { Repository } from './open-repository.ts'

/** What may be known already, so that it is not asked again. */
export interface ConversionHints {
  /**
   * The path's conversion, as `pathConversions` gave it; null = none. Left out: it is looked up (two
   * processes).
   */
  readonly conversion?: PathConversion | null
  /**
   * The blob that the path has in the base (null = none). With `text=auto` or core.autocrlf git leaves line
   * endings alone where that blob has CRLF already; without this hint they are converted.
   */
  readonly base?: string | null
}

/**
 * Turns the bytes of a working file into the blob that git would store for it, and writes that into the
 * store.
 *
 * The conversion is done by git itself, behind the store's door and with the path's line-ending, encoding and
 * `ident` attributes alone: no program of the user's runs, but for a filter that they allow, which runs as in their own repository.
 *
 * @throws GalleyError `filtered`, when the path passes through a filter driver that is configured (Git LFS
 * included): only that program knows the blob. `not-utf8`, when the bytes are not in the path's
 * `working-tree-encoding`, or core.safecrlf forbids the conversion because it could not be undone.
 */
export async function cleanBytes(
  repository: Repository,
  store: GitDoor,
  path: string,
  bytes: Uint8Array,
  hints: ConversionHints = {},
): Promise<BlobId> {
  const conversion = await knownConversion(repository, path, hints)
  if (typeof conversion?.filter === 'string')
    return cleanByFilter({ repository, store, path, driver: conversion.filter }, bytes)
  const isPlain = conversion === null || !changesOnClean(conversion, bytes)
  if (isPlain) return hashInto(store, ['--no-filters'], bytes, path)
  const effective = await withoutKeptCrlf(store, conversion, hints.base ?? null)
  const safeCrlf = (await configValues(repository.door, '^core\\.safecrlf$')).get('core.safecrlf')
  const safety = safeCrlf === undefined ? [] : ['-c', `core.safecrlf=${safeCrlf}`]
  return hashInto(store, ['--path=f'], bytes, path, [
    ...(await attributeArguments(store, effective)),
    ...safety,
  ])
}

/**
 * The bytes that git would write into the work tree for a blob. Nothing is written but, once for each kind of
 * conversion, a small attributes file in the store.
 *
 * @throws GalleyError `filtered`, as `cleanBytes`; `stale`, when the blob is not there.
 */
export async function smudgeBlob(
  repository: Repository,
  store: GitDoor,
  path: string,
  blob: string,
  hints: ConversionHints = {},
): Promise<Buffer> {
  const conversion = await knownConversion(repository, path, hints)
  if (typeof conversion?.filter === 'string')
    return smudgeByFilter({ repository, store, path, driver: conversion.filter }, blob)
  const isPlain = conversion === null || !changesOnSmudge(conversion)
  const config = isPlain ? [] : await attributeArguments(store, conversion)
  const what = isPlain ? ['blob', blob] : ['--filters', '--path=f', blob]
  const call = { args: [...config, 'cat-file', ...what], okCodes: [0, 128] }
  const result = await git(store, call)
  if (result.exitCode === 0) return result.stdout
  if ((await git(store, { args: ['cat-file', '-e', blob], okCodes: [0, 1, 128] })).exitCode === 0)
    throw gitFailure(call.args, result)
  refuse('stale', `the blob ${blob} of ${path} is not in the repository any more`, { path, blob })
}

async function knownConversion(
  repository: Repository,
  path: string,
  hints: ConversionHints,
): Promise<ConvertedPath | null> {
  const conversion =
    hints.conversion === undefined
      ? ((await pathConversions(repository, [path])).get(path) ?? null)
      : hints.conversion
  if (conversion?.kind !== 'filtered') return conversion
  const { driver } = conversion
  refuse(
    'filtered',
    `${path} passes through the filter driver "${driver}", which galley does not run`,
    { path, driver },
    allowHint(driver),
  )
}

/** False only where it is certain that the blob is the very bytes. */
function changesOnClean(conversion: ConvertedPath, bytes: Uint8Array): boolean {
  if (conversion.encoding !== null) return true
  if (conversion.lineEndings.kind !== 'as-is' && bytes.includes(0x0d)) return true
  return conversion.ident && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('$Id')
}

function changesOnSmudge(conversion: ConvertedPath): boolean {
  const toCrlf = conversion.lineEndings.kind !== 'as-is' && conversion.lineEndings.toCrlf
  return toCrlf || conversion.ident || conversion.encoding !== null
}

/**
 * git asks the index whether the path has CRLF there already, and then leaves `auto` line endings as they
 * are. The store has no index, so the question is answered here. @see convert.c, has_crlf_in_index
 */
async function withoutKeptCrlf(
  store: GitDoor,
  conversion: ConvertedPath,
  base: string | null,
): Promise<ConvertedPath> {
  if (conversion.lineEndings.kind !== 'auto' || base === null) return conversion
  const { stdout } = await git(store, { args: ['cat-file', 'blob', base] })
  const hasCrlf = stdout.includes('\r\n') && !looksBinary(stdout)
  return hasCrlf ? { ...conversion, lineEndings: { kind: 'as-is' } } : conversion
}

/** @see convert.c, convert_is_binary: a lone CR, a NUL, or more than one unprintable byte in 128. */
function looksBinary(bytes: Buffer): boolean {
  let printable = 0
  let unprintable = 0
  for (const [i, byte] of bytes.entries()) {
    if (byte === 0 || (byte === 0x0d && bytes[i + 1] !== 0x0a)) return true
    if (byte === 0x0d || byte === 0x0a) continue
    if (byte === 127 || (byte < 32 && ![0x08, 0x09, 0x1b, 0x0c].includes(byte))) unprintable++
    else printable++
  }
  // A final Ctrl-Z is an end-of-file mark of DOS.
  if (bytes.at(-1) === 0x1a) unprintable--
  return printable >> 7 < unprintable
}

/**
 * Names an attributes file of the store that gives every path exactly this conversion. Each kind of
 * conversion has its own file, written once.
 */
async function attributeArguments(store: GitDoor, conversion: ConvertedPath): Promise<readonly string[]> {
  const { lineEndings, encoding, ident } = conversion
  const words = [
    lineEndings.kind === 'as-is' ? '-text' : lineEndings.kind === 'text' ? 'text' : 'text=auto',
    ...(lineEndings.kind === 'as-is' ? [] : [`eol=${lineEndings.toCrlf ? 'crlf' : 'lf'}`]),
    ident ? 'ident' : '-ident',
    ...(encoding === null ? [] : [`working-tree-encoding=${encoding}`]),
  ]
  const directory = join(store.gitDir, 'conversions')
  const file = join(directory, sha256Hex(words.join(' ')).slice(0, 32))
  if (!(await fileExists(file))) {
    await makePrivateDirectory(directory)
    await writeOnce(file, `* ${words.join(' ')}\n`)
  }
  return ['-c', `core.attributesFile=${file}`]
}

async function hashInto(
  store: GitDoor,
  how: readonly string[],
  bytes: Uint8Array,
  path: string,
  config: readonly string[] = [],
): Promise<BlobId> {
  const args = [...config, 'hash-object', '-w', '--stdin', ...how]
  const result = await git(store, { args, input: bytes, okCodes: [0, 128] })
  if (result.exitCode === 0) return blobId(result.stdout.toString('latin1').trim())
  if (how[0] === '--no-filters') throw gitFailure(args, result)
  refuse('not-utf8', `${path} cannot be converted for the repository: ${result.stderr.trim()}`, { path })
}

import { pathConversions } from '../git/attributes.ts'
import { blobIdOf } from '../git/blob-id.ts'
import { isTrue } from '../git/config.ts'
import { lookUpPath } from '../git/objects.ts'
import { GalleyError, refuse } from '../model/error.ts'
import { type BlobId, blobId, type TreeId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { FileMode } from '../model/manifest.ts'
import { judgePathForReading } from '../policy/judge.ts'
import { checkPlace } from '../policy/paths.ts'
import { keepSeen } from '../store/keep-objects.ts'
import { type ReadEntry, recordInSession } from '../store/sessions.ts'
import { readWorkTreeFile } from '../sys/work-tree-file.ts'
import { readPolicy } from './read-policy.ts'
import { decodeFile, isUtf8 } from './text-encoding.ts'
import type { World } from './world.ts'

export interface ReadRequest {
  readonly path: string
  /** 1-based, inclusive; default: the whole file. */
  readonly from?: number
  readonly to?: number
  /** Records the read in this session's journal. */
  readonly session?: string
  readonly maxBytes?: number
  /** Shows fewer lines than were asked for where they have more bytes than this; at least one line is shown. */
  readonly shownMaxBytes?: number
}

/** One file as an agent sees it (DESIGN.md section 15). */
export interface ReadFile {
  readonly path: string
  /** null = absent: a state that can be read and re-checked too. */
  readonly blob: string | null
  readonly mode: FileMode
  readonly totalLines: number
  readonly from: number
  readonly to: number
  /** In which encoding it stands, where `content` is its text all the same. */
  readonly encoding?: string
  /** null = the bytes are not UTF-8 text. */
  readonly content: string | null
  readonly base64?: string
  readonly eol: 'lf' | 'crlf' | 'mixed' | 'none'
  readonly finalNewline: boolean
  readonly bom: boolean
  readonly truncated: boolean
}

/**
 * Reads one file of the work tree, with its blob id. Writes nothing unless a session is named; then one journal line, and
 * the bytes in galley's own store, so that a later move of the file can be explained.
 *
 * @throws GalleyError `path-invalid`, `denied-path`, `not-found`, `is-directory`, `symlink`, `special-file`, `too-large`, `out-of-range`.
 */
export async function readFile(world: World, request: ReadRequest): Promise<ReadFile> {
  const { session, path } = request
  if (session !== undefined) await world.atWork()
  const file = await readFileBytes(world, request)
  const { bytes, blob, encoding } = file
  const shown = show(bytes, request)
  if (session !== undefined) {
    const all = shown.from <= 1 && shown.to >= shown.totalLines
    const entry = await readEntry(
      world,
      path,
      { blob, bytes },
      all ? null : { from: shown.from, to: shown.to },
    )
    await recordInSession(await world.store(), session, [entry])
  }
  return { path, blob, mode: file.executable ? '100755' : '100644', ...encoding, ...shown }
}

/** A file of the work tree as it stands. */
export interface FileBytes {
  /** Of a file whose encoding is declared, its text as UTF-8. */
  readonly bytes: Buffer
  readonly encoding?: { readonly encoding: string }
  readonly blob: BlobId
  readonly executable: boolean
  /** Number of names on disk. */
  readonly links: number
}

/**
 * Reads the bytes of one file of the work tree. Where a session is named and the file is absent, that is recorded; what
 * else was seen is the caller's to record, by {@link readEntry}.
 *
 * @throws GalleyError as `readFile`, but for `out-of-range`.
 */
export async function readFileBytes(
  world: World,
  request: Pick<ReadRequest, 'path' | 'session' | 'maxBytes'>,
): Promise<FileBytes> {
  const { path, session } = request
  const invalid = checkPlace(path)
  if (invalid !== null) throw new GalleyError(invalid)
  const root = world.repository.workTree
  if (root === null) refuse('unsupported-repository', 'a bare repository has no files to read', {})
  const head = await world.head()
  const tree = head.tip === null ? null : await (await world.reader()).commitTree(head.tip)
  const { policy } = await readPolicy(world, tree)
  const denied = judgePathForReading(policy, path)
  if (denied !== null) throw new GalleyError(denied)
  const file = await readWorkTreeFile(root, path, request.maxBytes ?? limits.fileMaxBytes)
  if (file.kind === 'absent' || file.kind === 'blocked') {
    const folded = await outsideCone(world, tree, path, request.maxBytes ?? limits.fileMaxBytes)
    if (folded !== null) return folded
    if (session !== undefined)
      await recordInSession(await world.store(), session, [await readEntry(world, path, null, null)])
    refuse('not-found', `${path} does not exist`, { path, blob: null }, 'Check the path.')
  }
  if (file.kind !== 'file') refuseKind(file, path)
  const blob = await blobIdOf(file.bytes, world.repository.objectFormat)
  return { ...file, ...(await textOf(world, path, file.bytes)), blob }
}

/** The text of a file that is no UTF-8 by itself, and whose encoding is declared. */
async function textOf(world: World, path: string, bytes: Buffer): Promise<Partial<FileBytes>> {
  if (isUtf8(bytes) && !bytes.includes(0)) return {}
  const conversion = (await pathConversions(world.repository, [path])).get(path) ?? null
  const decoded = await decodeFile(world, path, bytes, conversion).catch((error: unknown) => {
    // Other bytes than the attributes say are shown as they are.
    if (error instanceof GalleyError && error.code === 'not-utf8') return null
    throw error
  })
  return decoded === null ? {} : { bytes: decoded.text, encoding: { encoding: decoded.encoding.name } }
}

/** A file that a sparse checkout leaves out, as the commit has it; null = it is none. */
async function outsideCone(
  world: World,
  tree: TreeId | null,
  path: string,
  maxBytes: number,
): Promise<FileBytes | null> {
  if (!isTrue((await world.config()).get('core.sparsecheckout'))) return null
  const reader = await world.reader()
  const found = await lookUpPath(reader, tree, path)
  if (found.kind !== 'file' || !found.entry.mode.startsWith('100')) return null
  const size = (await reader.info(found.entry.id))?.size ?? 0
  if (size > maxBytes) refuseKind({ kind: 'too-large', size }, path)
  const contents = await reader.contents(found.entry.id)
  if (contents === null) return null
  const executable = found.entry.mode === '100755'
  return { bytes: contents.bytes, executable, links: 1, blob: blobId(found.entry.id) }
}

function refuseKind(
  file: Exclude<Awaited<ReturnType<typeof readWorkTreeFile>>, { kind: 'file' | 'absent' | 'blocked' }>,
  path: string,
): never {
  switch (file.kind) {
    case 'symlink':
      refuse('symlink', `${path} is, or goes through, the symbolic link ${file.at}`, { path, link: file.at })
      break
    case 'directory':
      refuse('is-directory', `${path} is a directory`, { path })
      break
    case 'special':
      refuse('special-file', `${path} is not a regular file`, { path })
      break
    case 'nested':
      refuse('submodule', `${path} lies in another repository, at ${file.repository}`, {
        path,
        submodule: file.repository,
      })
      break
    case 'too-large':
      refuse('too-large', `${path} has ${file.size} bytes, more than can be read`, { path, size: file.size })
  }
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf])

function show(bytes: Buffer, request: ReadRequest) {
  const bom = bytes.subarray(0, 3).equals(BOM)
  const starts = lineStarts(bytes)
  const totalLines = starts.length
  const from = request.from ?? 1
  const asked = Math.min(request.to ?? totalLines, totalLines)
  if (
    request.from !== undefined &&
    (from < 1 || from > Math.max(totalLines, 1) || (request.to !== undefined && request.to < from))
  ) {
    refuse(
      'out-of-range',
      `lines ${from} to ${request.to ?? 'the end'} were asked for; ${request.path} has ${totalLines}`,
      { totalLines },
    )
  }
  const begin = starts[from - 1] ?? 0
  const to = lastShown(bytes, starts, { from, to: asked, maxBytes: request.shownMaxBytes })
  const part = bytes.subarray(from === 1 && bom ? 3 : begin, starts[to] ?? bytes.length)
  const text = decode(part)
  return {
    totalLines,
    from,
    to,
    content: text,
    ...(text === null ? { base64: part.toString('base64') } : {}),
    eol: eolOf(bytes),
    finalNewline: bytes.length === 0 || bytes.at(-1) === 0x0a,
    bom,
    truncated: to < totalLines,
  }
}

/** The last line that has room; the first one has it in any case. */
function lastShown(
  bytes: Buffer,
  starts: readonly number[],
  {
    from,
    to,
    maxBytes = Number.POSITIVE_INFINITY,
  }: { from: number; to: number; maxBytes?: number | undefined },
): number {
  const begin = starts[from - 1] ?? 0
  let last = to
  while (last > from && (starts[last] ?? bytes.length) - begin > maxBytes) last--
  return last
}

function decode(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

/** Offset of each line's first byte. */
function lineStarts(bytes: Buffer): readonly number[] {
  if (bytes.length === 0) return []
  const starts = [0]
  for (let at = bytes.indexOf(0x0a); at !== -1 && at + 1 < bytes.length; at = bytes.indexOf(0x0a, at + 1))
    starts.push(at + 1)
  return starts
}

function eolOf(bytes: Buffer): ReadFile['eol'] {
  let crlf = 0
  let lf = 0
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) {
    if (at > 0 && bytes[at - 1] === 0x0d) crlf++
    else lf++
  }
  return crlf > 0 && lf > 0 ? 'mixed' : crlf > 0 ? 'crlf' : lf > 0 ? 'lf' : 'none'
}

/**
 * The journal's line for a read. Keeps the bytes in galley's own store.
 *
 * @param file - null = the file is absent.
 * @param lines - The lines shown; null = all.
 */
export async function readEntry(
  world: World,
  path: string,
  file: Pick<FileBytes, 'blob' | 'bytes'> | null,
  lines: ReadEntry['lines'],
): Promise<ReadEntry> {
  if (file !== null) await keepSeen(await world.store(), await world.reader(), file.bytes)
  return { kind: 'read', at: world.now(), path, blob: file?.blob ?? null, lines, keepsLines: false }
}

import { blobIdOf } from '../git/blob-id.ts'
import { GalleyError, refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import type { FileMode } from '../model/manifest.ts'
import { judgePathForReading } from '../policy/judge.ts'
import { checkPath } from '../policy/paths.ts'
import { keepBytes, recordInSession } from '../store/sessions.ts'
import { readWorkTreeFile } from '../sys/work-tree-file.ts'
import { readPolicy } from './read-policy.ts'
import type { World } from './world.ts'

export interface ReadRequest {
  readonly path: string
  /** 1-based, inclusive; default: the whole file. */
  readonly from?: number
  readonly to?: number
  /** Records the read in this session's journal. */
  readonly session?: string
  readonly maxBytes?: number
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
  const invalid = checkPath(request.path)
  if (invalid !== null) throw new GalleyError(invalid)
  const root = world.repository.workTree
  if (root === null) refuse('unsupported-repository', 'a bare repository has no files to read', {})
  const head = await world.head()
  const tree = head.tip === null ? null : await (await world.reader()).commitTree(head.tip)
  const { policy } = await readPolicy(world, tree)
  const denied = judgePathForReading(policy, request.path)
  if (denied !== null) throw new GalleyError(denied)
  const maxBytes = request.maxBytes ?? limits.fileMaxBytes
  const file = await readWorkTreeFile(root, request.path, maxBytes)
  if (file.kind === 'absent' || file.kind === 'blocked') {
    if (request.session !== undefined) await record(world, request.session, request.path, null, null)
    refuse('not-found', `${request.path} does not exist`, { path: request.path, blob: null })
  }
  if (file.kind !== 'file') refuseKind(file, request.path)
  const shown = show(file.bytes, request)
  const blob = await blobIdOf(file.bytes, world.repository.objectFormat)
  if (request.session !== undefined) {
    const all = shown.from <= 1 && shown.to >= shown.totalLines
    await record(
      world,
      request.session,
      request.path,
      { blob, bytes: file.bytes },
      all ? null : { from: shown.from, to: shown.to },
    )
  }
  return { path: request.path, blob, mode: file.executable ? '100755' : '100644', ...shown }
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
  const to = Math.min(request.to ?? totalLines, totalLines)
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

async function record(
  world: World,
  session: string,
  path: string,
  file: { readonly blob: Awaited<ReturnType<typeof blobIdOf>>; readonly bytes: Uint8Array } | null,
  lines: { readonly from: number; readonly to: number } | null,
): Promise<void> {
  const store = await world.store()
  if (file !== null) await keepBytes(store, file.bytes)
  const entry = {
    kind: 'read',
    at: world.now(),
    path,
    blob: file?.blob ?? null,
    lines,
    keepsLines: false,
  } as const
  await recordInSession(store, session, [entry])
}

import { dirname, join } from 'node:path'
import { sha256Hex } from '../git/blob-id.ts'
import { absentAsNull } from '../model/errno.ts'
import { refuse } from '../model/error.ts'
import { makePrivateDirectory, removeDirectoryIfEmpty } from '../sys/directories.ts'
import { putScript, readScript, removeScript } from '../sys/hook-files.ts'
import { realPath } from '../sys/real-path.ts'
import { fileExists, readFileOrNull } from '../sys/small-files.ts'

/** A settings file of an agent's client. */
export interface ClientFile {
  readonly path: string
  /** In the work tree of a repository: whoever writes there may have put a link in its place, which is not followed. */
  readonly isProject: boolean
}

/** What it holds; null = there is none. */
export type ClientText = string | null

const SETTINGS_MAX_BYTES = 16 * 1024 * 1024
const NEW_FILE_MODE = 0o644

/**
 * Reads a client's settings.
 *
 * @throws GalleyError `symlink`, for a project's file behind a link; `special-file`, `too-large`, `not-utf8`.
 */
export async function readClientFile(file: ClientFile): Promise<ClientText> {
  const found = await readScript(await placeOf(file))
  if (found.kind === 'absent') return null
  if (found.kind === 'other')
    refuse('special-file', `${file.path} is not a regular file`, { path: file.path })
  if (found.bytes.length > SETTINGS_MAX_BYTES)
    refuse('too-large', `${file.path} has ${found.bytes.length} bytes`, { path: file.path })
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(found.bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    refuse('not-utf8', `${file.path} is not UTF-8`, { path: file.path })
  }
}

/** Where the file really is. People keep their own settings behind links, to a folder under version control. */
async function placeOf({ path, isProject }: ClientFile): Promise<string> {
  const real = await realPath(path).catch(absentAsNull)
  if (!isProject) return real ?? path
  const root = await realPath(dirname(path)).catch(absentAsNull)
  const found = await readScript(path)
  const isLink = found.kind === 'file' && found.target !== null
  if (isLink || root === null || root !== dirname(path))
    refuse(
      'symlink',
      `${path} is, or goes through, a symbolic link`,
      { path },
      'Put a plain file in its place.',
    )
  return path
}

/**
 * Writes a client's settings as a whole, and keeps what was there to be put back. A file that has changed since it was read is left alone.
 *
 * @param stateDirectory - Where galley keeps what it changed.
 * @throws GalleyError `stale-read`.
 */
export async function writeClientFile(
  file: ClientFile,
  { before, after }: { readonly before: ClientText; readonly after: string },
  stateDirectory: string,
): Promise<void> {
  await expectText(file, before)
  const place = await placeOf(file)
  const known = await readRecord(stateDirectory, file.path)
  // Written twice by galley: what was there before the first time is what there was.
  const isOwn = known !== null && known.after === textHash(before)
  const record: ClientRecord = isOwn
    ? { ...known, after: textHash(after) }
    : { path: file.path, before, after: textHash(after), madeDirectories: await missingAbove(place) }
  await makePrivateDirectory(stateDirectory)
  await putScript(recordPath(stateDirectory, file.path), JSON.stringify(record), 0o600)
  await put(place, after)
}

/**
 * Puts back what was there before galley wrote, to the byte, where nothing else has been written since.
 *
 * @returns false where something has: the file is as it was.
 */
export async function restoreClientFile(file: ClientFile, stateDirectory: string): Promise<boolean> {
  const record = await readRecord(stateDirectory, file.path)
  const now = await readClientFile(file)
  if (record === null || textHash(now) !== record.after) return false
  const place = await placeOf(file)
  if (record.before === null) {
    await removeScript(place)
    for (const directory of record.madeDirectories) removeDirectoryIfEmpty(directory)
  } else await put(place, record.before)
  await removeScript(recordPath(stateDirectory, file.path))
  return true
}

/** Writes a client's settings without a record of what was there: galley's own part is taken out of what others wrote. */
export async function rewriteClientFile(
  file: ClientFile,
  { before, after }: { readonly before: ClientText; readonly after: string },
  stateDirectory: string,
): Promise<void> {
  await expectText(file, before)
  await put(await placeOf(file), after)
  await removeScript(recordPath(stateDirectory, file.path))
}

async function expectText(file: ClientFile, before: ClientText): Promise<void> {
  if ((await readClientFile(file)) === before) return
  refuse('stale-read', `${file.path} has changed since it was read`, { path: file.path }, 'Run it again.')
}

async function put(place: string, text: string): Promise<void> {
  const found = await readScript(place)
  await putScript(place, text, found.kind === 'file' ? found.mode : NEW_FILE_MODE)
}

interface ClientRecord {
  readonly path: string
  readonly before: ClientText
  /** Of what galley wrote. */
  readonly after: string
  /** Innermost first. */
  readonly madeDirectories: readonly string[]
}

const textHash = (text: ClientText): string => sha256Hex(text ?? '\0')

const recordPath = (stateDirectory: string, path: string): string =>
  join(stateDirectory, `${sha256Hex(path).slice(0, 32)}.json`)

async function readRecord(stateDirectory: string, path: string): Promise<ClientRecord | null> {
  const bytes = await readFileOrNull(recordPath(stateDirectory, path))
  if (bytes === null) return null
  const record = JSON.parse(bytes.toString('utf8')) as ClientRecord
  return record.path === path ? record : null
}

async function missingAbove(place: string): Promise<readonly string[]> {
  const missing: string[] = []
  for (let at = dirname(place); !(await fileExists(at)); at = dirname(at)) missing.push(at)
  return missing
}

/** The first of these paths at which something stands; null = none. */
export async function firstThere(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) if (await fileExists(path)) return path
  return null
}

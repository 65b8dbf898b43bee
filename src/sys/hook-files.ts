import { randomUUID } from 'node:crypto'
import { link, lstat, open, readFile, readlink, rename, symlink, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { absentAsNull, errorCode } from '../model/errno.ts'
import { makeDirectories, syncDirectory } from './directories.ts'

/** What stands at a path, links not followed but read through. */
export type ScriptFile =
  | { readonly kind: 'absent' }
  | { readonly kind: 'other' }
  | {
      readonly kind: 'file'
      readonly bytes: Buffer
      /** Permission bits. */
      readonly mode: number
      /** Where the path is a symbolic link: what it says. */
      readonly target: string | null
    }

/** Reads a script; a link that leads nowhere has no bytes. */
export async function readScript(path: string): Promise<ScriptFile> {
  const found = await lstat(path).catch(absentAsNull)
  if (found === null) return { kind: 'absent' }
  if (found.isFile())
    return { kind: 'file', bytes: await readFile(path), mode: found.mode & 0o7777, target: null }
  if (!found.isSymbolicLink()) return { kind: 'other' }
  const target = await readlink(path)
  const bytes = (await readFile(path).catch(() => null)) ?? Buffer.alloc(0)
  return { kind: 'file', bytes, mode: 0o755, target }
}

/** Puts a script in place as a whole: at no moment is there none. Makes its directory. */
export async function putScript(path: string, bytes: Uint8Array | string, mode: number): Promise<void> {
  await makeDirectories(dirname(path))
  const passing = join(dirname(path), `.galley-${randomUUID()}`)
  const handle = await open(passing, 'wx', mode)
  try {
    await handle.writeFile(bytes)
    // The umask has been applied; the mode of a script that is rewritten must come out the same.
    await handle.chmod(mode)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(passing, path)
  await syncDirectory(dirname(path))
}

/**
 * Gives a script a second name, so that the first can be overwritten without a moment in which there is none. A relative link is
 * made to lead to the same place from there.
 */
export async function keepScript(path: string, kept: string): Promise<void> {
  await makeDirectories(dirname(kept))
  await unlink(kept).catch(ignoreMissing)
  const { kind, ...found } = await readScript(path)
  if (kind === 'file' && 'target' in found && found.target !== null) {
    await symlink(found.target.startsWith('/') ? found.target : `../${found.target}`, kept)
  } else await link(path, kept)
  await syncDirectory(dirname(kept))
}

/** Puts a kept script back to where it was, over what stands there. */
export async function restoreScript(kept: string, path: string): Promise<void> {
  const found = await readScript(kept)
  if (found.kind === 'file' && found.target !== null) {
    const passing = join(dirname(path), `.galley-${randomUUID()}`)
    await symlink(found.target.startsWith('/') ? found.target : found.target.slice('../'.length), passing)
    await rename(passing, path)
    await unlink(kept)
  } else await rename(kept, path)
  await syncDirectory(dirname(path))
}

export async function removeScript(path: string): Promise<void> {
  await unlink(path).catch(ignoreMissing)
}

function ignoreMissing(error: unknown): void {
  if (errorCode(error) !== 'ENOENT') throw error
}

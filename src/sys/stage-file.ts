import { lstatSync, statSync, symlinkSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { openParent } from './held-directory.ts'

/** What a new file will find where it goes. */
export interface Surroundings {
  readonly device: number
  /** Group that new files get there (the directory has its set-group-id bit); null = the process's own. */
  readonly group: number | null
  /** Parents that are missing, outermost first. */
  readonly missing: readonly string[]
}

/**
 * Looks at the deepest directory that exists on the way to `path`. Null when a link or a file stands among
 * the parents.
 */
export function surroundingsOf(root: string, path: string): Surroundings | null {
  let at = path
  const missing: string[] = []
  for (;;) {
    const parent = openParent(root, at, false)
    if (parent.kind === 'open') {
      const stat = statSync(parent.directory)
      parent.close()
      return { device: parent.device, group: (stat.mode & 0o2000) === 0 ? null : stat.gid, missing }
    }
    if (parent.kind !== 'missing') return null
    at = dirname(at)
    missing.unshift(at)
  }
}

export const deviceOf = (directory: string): number => statSync(directory).dev

/** What identifies a staged file later, when it has its place: other bytes would show in one of these. */
export interface StagedStat {
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
}

export interface NewFileAttributes {
  readonly executable: boolean
  /** Exact permission bits; null = those that the umask leaves. */
  readonly permissions: number | null
  /** Owner and group to give the file, where this account may; null = leave. */
  readonly owner: { readonly uid: number; readonly gid: number } | null
  readonly group: number | null
}

/**
 * Writes the bytes of one new file aside, with the attributes that it will have, and waits until the device
 * has them.
 */
export async function stageFile(
  file: string,
  bytes: Uint8Array | Iterable<Uint8Array>,
  attributes: NewFileAttributes,
): Promise<StagedStat> {
  const handle = await open(file, 'wx', attributes.executable ? 0o777 : 0o666)
  try {
    // Each call goes on where the one before ended.
    for (const piece of bytes instanceof Uint8Array ? [bytes] : bytes) await handle.writeFile(piece)
    await giveAttributes(handle, attributes)
    await handle.sync()
    const { ino, size, mtimeNs } = await handle.stat({ bigint: true })
    return { ino, size, mtimeNs }
  } finally {
    await handle.close()
  }
}

async function giveAttributes(handle: FileHandle, attributes: NewFileAttributes): Promise<void> {
  const now = await handle.stat()
  const uid = attributes.owner?.uid ?? now.uid
  const gid = attributes.owner?.gid ?? attributes.group ?? now.gid
  if (uid !== now.uid || gid !== now.gid) {
    await handle.chown(uid, gid).catch((error: NodeJS.ErrnoException) => {
      // Only the superuser may give a file away; anybody else's new file is their own, as after any save by
      // an editor.
      if (error.code !== 'EPERM') throw error
    })
  }
  // After chown, which takes set-id bits away.
  if (attributes.permissions !== null) await handle.chmod(attributes.permissions)
}

/** Makes a symbolic link aside. */
export function stageLink(file: string, target: Buffer): StagedStat {
  symlinkSync(target, file)
  const { ino, size, mtimeNs } = lstatSync(file, { bigint: true })
  return { ino, size, mtimeNs }
}

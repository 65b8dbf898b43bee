import { rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import { makeDirectories } from './directories.ts'

/** Writes a small file in zlib's form, and the directory it lies in. Mode 0600; not synced: for what is thrown away. */
export async function writeDeflated(file: string, bytes: Uint8Array): Promise<void> {
  await makeDirectories(dirname(file), 0o700)
  await writeFile(file, deflateSync(bytes), { mode: 0o600 })
}

/** Puts a file in zlib's form in its place as a whole, by way of `passing` on the same device. Mode 0400, not synced. */
export async function placeDeflated(
  file: string,
  parts: readonly Uint8Array[],
  passing: string,
): Promise<void> {
  const bytes = await promisify(deflate)(Buffer.concat(parts))
  for (const path of [passing, file]) await makeDirectories(dirname(path), 0o700)
  await writeFile(passing, bytes, { mode: 0o400 })
  await rename(passing, file)
}

/** Bytes in zlib's form, as quickly as may be: for what is read again at once. */
export const deflated = (bytes: Uint8Array): Buffer => deflateSync(bytes, { level: 1 })

import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { deflateSync } from 'node:zlib'
import { makeDirectories } from './directories.ts'

/** Writes a small file in zlib's form, and the directory it lies in. Mode 0600; not synced: for what is thrown away. */
export async function writeDeflated(file: string, bytes: Uint8Array): Promise<void> {
  await makeDirectories(dirname(file), 0o700)
  await writeFile(file, deflateSync(bytes), { mode: 0o600 })
}

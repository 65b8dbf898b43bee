import { createHash } from 'node:crypto'
import type { ObjectFormat } from '../model/ids.ts'

/** The blob id of bytes as they stand, in hex (git's own: SHA-1 or SHA-256 over a header and the bytes). */
export const blobOf = (bytes: Uint8Array, format: ObjectFormat): string =>
  createHash(format).update(`blob ${bytes.length}\0`).update(bytes).digest('hex')

import { createHash } from 'node:crypto'
import { type BlobId, blobId, type ObjectFormat } from '../model/ids.ts'

/**
 * The blob id of bytes as they stand: what `git hash-object --no-filters` prints.
 *
 * isomorphic-git's `hashBlob` for SHA-1 repositories (loaded at first use); node's own hash for SHA-256, which it does not know.
 */
export async function blobIdOf(bytes: Uint8Array, format: ObjectFormat): Promise<BlobId> {
  if (format === 'sha1') {
    const { hashBlob } = await import('./hash-blob.ts')
    const { oid } = await hashBlob({ object: bytes })
    return blobId(oid)
  }
  return blobId(createHash('sha256').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'))
}

/** Lower-case hex SHA-256, for digests and fingerprints that are ours and not git's. */
export const sha256Hex = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex')

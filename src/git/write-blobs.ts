import { type GitDoor, git } from './door.ts'

/** What is handed to git at once. */
const BATCH_MAX_BYTES = 64 * 1024 * 1024

/** Takes blobs one after the other and writes them many at a time. */
export interface BlobWriter {
  readonly add: (bytes: Uint8Array) => Promise<void>
  /** Only after this do all of them exist. */
  readonly finish: () => Promise<void>
}

/** Writes bytes into the store as they stand; the caller knows their ids. One process for each 64 MiB. */
export function openBlobWriter(door: GitDoor): BlobWriter {
  let parts: Uint8Array[] = []
  let size = 0
  const flush = async () => {
    if (parts.length === 0) return
    const input = Buffer.concat([...parts, Buffer.from('done\n')])
    parts = []
    size = 0
    await git(door, { args: ['fast-import', '--quiet', '--done'], input })
  }
  return {
    add: async (bytes) => {
      parts.push(Buffer.from(`blob\ndata ${bytes.length}\n`), bytes, Buffer.from('\n'))
      size += bytes.length
      if (size >= BATCH_MAX_BYTES) await flush()
    },
    finish: flush,
  }
}

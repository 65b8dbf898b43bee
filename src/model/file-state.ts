import type { BlobId } from './ids.ts'

/** What stands at a path, for the engine: bytes and the executable bit, or nothing. */
export type FileState = AbsentFile | RegularFile

export interface AbsentFile {
  readonly kind: 'absent'
}

export interface RegularFile {
  readonly kind: 'file'
  readonly bytes: Uint8Array
  readonly executable: boolean
  /** Blob id of `bytes` as they stand (no filter). */
  readonly blob: BlobId
}

export const absent: AbsentFile = { kind: 'absent' }

/** A read that a requester made: of the whole file, or of the lines shown (1-based, inclusive). */
export interface ReadRecord {
  readonly path: string
  /** null = the file was absent. */
  readonly blob: BlobId | null
  /** undefined = all lines were shown. */
  readonly lines?: readonly { readonly from: number; readonly to: number }[]
  /** The bytes that were read, where they are still at hand: lets a stale read be explained and carried over. */
  readonly bytes?: Uint8Array
}

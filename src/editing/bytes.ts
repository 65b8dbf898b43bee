/** The same memory as a Buffer, for its fast search and compare. Copies nothing. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && Buffer.compare(a, b) === 0

/** Whether the text has half of a surrogate pair, which UTF-8 cannot hold. */
export const hasLoneSurrogate = (text: string): boolean =>
  // Part of Node since version 20; TypeScript knows it from its es2024 library on.
  !(text as string & { isWellFormed(): boolean }).isWellFormed()

/** The text as UTF-8. The caller has checked that it has no lone surrogate. */
export const encode = (text: string): Buffer => Buffer.from(text, 'utf8')

/** Whether the bytes hold a NUL anywhere: such a file takes no text edits. */
export const hasNul = (bytes: Uint8Array): boolean => bytes.includes(0)

const LFS_POINTER = encode('version https://git-lfs.github.com/spec/v1')

/** Whether the bytes are a pointer that Git LFS keeps in place of the content. */
export const isLfsPointer = (bytes: Uint8Array): boolean =>
  bytes.length < 1024 && asBuffer(bytes).subarray(0, LFS_POINTER.length).equals(LFS_POINTER)

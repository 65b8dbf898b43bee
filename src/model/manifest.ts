/** Modes a manifest can hold: absent, file, executable, symbolic link, submodule. */
export type FileMode = '000000' | '100644' | '100755' | '120000' | '160000'

/** One path's step from old to new. A rename is a delete and an add. */
export interface Transition {
  readonly path: string
  readonly oldMode: FileMode
  /** All zeros where the mode is 000000. */
  readonly oldBlob: string
  readonly newMode: FileMode
  readonly newBlob: string
}

/** Sorted by the bytes of the paths; each path once. */
export type Manifest = readonly Transition[]

const encoder = new TextEncoder()

/** Orders paths as git's tree-wide lists do: by their UTF-8 bytes. */
export function comparePaths(a: string, b: string): number {
  const left = encoder.encode(a)
  const right = encoder.encode(b)
  const length = Math.min(left.length, right.length)
  for (let i = 0; i < length; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** Sorts transitions into a manifest. */
export const manifestOf = (transitions: readonly Transition[]): Manifest =>
  [...transitions].sort((a, b) => comparePaths(a.path, b.path))

/**
 * The bytes whose SHA-256 is the digest (DESIGN.md section 7): "galley-manifest 1", NUL, then one
 * NUL-terminated line for each path.
 */
export function manifestBytes(manifest: Manifest): Uint8Array {
  const lines = manifest.map((t) => `${t.oldMode} ${t.oldBlob} ${t.newMode} ${t.newBlob}\t${t.path}\0`)
  return encoder.encode(`galley-manifest 1\0${lines.join('')}`)
}

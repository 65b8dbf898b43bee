import type { FileMode } from '../model/manifest.ts'

/** One path's two sides, for drawing. A side that is null is absent. */
export interface DiffFile {
  readonly path: string
  /** The path it had, if the change renames it. */
  readonly renamedFrom?: string
  readonly before: DiffSide | null
  readonly after: DiffSide | null
}

export interface DiffSide {
  readonly mode: Exclude<FileMode, '000000'>
  readonly blob: string
  /** A link's bytes are its target; a submodule's are `Subproject commit <id>` and a line feed, as git draws them. */
  readonly bytes: Uint8Array
}

/** Whether a side holds a NUL: such a file has no lines to draw. (git looks no further than the first 8000 bytes.) */
export const isBinaryFile = (file: DiffFile): boolean =>
  [file.before, file.after].some((side) => side?.bytes.includes(0) ?? false)

/** A file that becomes a link (or the like) is drawn as git draws it: one that goes and one that comes. */
export function splitTypeChange(file: DiffFile): readonly DiffFile[] {
  const { before, after } = file
  if (before === null || after === null || typeOf(before) === typeOf(after)) return [file]
  return [
    { path: file.renamedFrom ?? file.path, before, after: null },
    { path: file.path, before: null, after },
  ]
}

const typeOf = (side: DiffSide): string => side.mode.slice(0, 3)

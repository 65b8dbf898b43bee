import { constants, copyFileSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Files and empty directories by their paths in a folder. */
export interface FolderContent {
  readonly directories: readonly string[]
  readonly files: ReadonlyMap<string, string | Uint8Array>
  /** Files that git is to find executable. */
  readonly programs: ReadonlyMap<string, string>
  /** Whole files to be copied, by their path in the folder. */
  readonly copies: ReadonlyMap<string, string>
}

/** Makes a folder that was not there, with all its content, at once. What is cut off in the middle must be made anew. */
export function makeFolder(folder: string, { directories, files, programs, copies }: FolderContent): void {
  mkdirSync(folder, { mode: 0o700 })
  const made = new Set([folder])
  const make = (directory: string) => {
    if (made.has(directory)) return
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    made.add(directory)
  }
  for (const directory of directories) make(join(folder, directory))
  const write = (path: string, text: string | Uint8Array, mode: number) => {
    const file = join(folder, path)
    make(dirname(file))
    writeFileSync(file, text, { flag: 'wx', mode })
  }
  for (const [path, text] of files) write(path, text, 0o600)
  for (const [path, text] of programs) write(path, text, 0o700)
  for (const [path, from] of copies) {
    make(dirname(join(folder, path)))
    copyFileSync(from, join(folder, path), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  }
}

/** Whether a path is a directory itself, and no link to one. */
export const isOwnDirectory = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Everything in a folder that is no directory, by its path from there. Follows no link. */
export function namesBelow(folder: string): readonly string[] {
  if (!isOwnDirectory(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? namesBelow(join(folder, entry.name)).map((name) => `${entry.name}/${name}`)
      : [entry.name],
  )
}

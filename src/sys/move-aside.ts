import { mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inParent } from './held-directory.ts'

/** Moves one file or link of a tree to the same path in a directory of galley's own, on the same device. Goes through no link. */
export async function moveIntoDirectory(root: string, path: string, directory: string): Promise<void> {
  const target = join(directory, path)
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  inParent(root, path, { makeMissing: false }, (parent) => renameSync(parent.file, target))
}

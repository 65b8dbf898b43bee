import { GalleyError, refuse } from '../../model/error.ts'
import { limits } from '../../model/limits.ts'
import { checkPlace } from '../../policy/paths.ts'
import { quote } from '../../policy/quote.ts'
import { readInTree, writeInTree } from '../../sys/tree-files.ts'

/**
 * The text of a file of an agent's tree, or null where there is none. Reads through no link and out of no `.git`.
 *
 * @throws GalleyError `outside-repository`, `denied-path`, `symlink` and the like for what is no file of the tree; `too-large`; `not-utf8`.
 */
export function readTreeText(root: string, path: string): string | null {
  refusePlace(path)
  const found = readInTree(root, path, limits.batchMaxBytes)
  if (found.kind === 'absent') return null
  if (found.kind === 'not-regular')
    refuse('special-file', `${quote(path)} is no regular file, or lies behind a link`, { path })
  if (found.kind === 'too-large')
    refuse('too-large', `${quote(path)} has ${found.size} bytes; ${limits.batchMaxBytes} are given at once`, {
      path,
      size: found.size,
    })
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(found.bytes)
  } catch {
    refuse('not-utf8', `${quote(path)} is not UTF-8`, { path })
  }
}

/** Writes the text of a file of an agent's tree, which keeps whether it can be executed; directories are made on the way. */
export function writeTreeText(root: string, path: string, text: string): void {
  refusePlace(path)
  const before = readInTree(root, path, limits.fileMaxBytes)
  if (before.kind === 'not-regular')
    refuse('special-file', `${quote(path)} is no regular file, or lies behind a link`, { path })
  const isExecutable = before.kind === 'read' && before.isExecutable
  const written = writeInTree(root, path, Buffer.from(text, 'utf8'), isExecutable)
  if (written.kind !== 'written')
    refuse('special-file', `${quote(path)} cannot be written: something else stands on the way`, { path })
}

function refusePlace(path: string): void {
  const fault = checkPlace(path)
  if (fault !== null) throw new GalleyError(fault)
}

import type { FileMode } from '../model/manifest.ts'
import { type GitDoor, git } from './door.ts'
import { withoutFilters } from './without-filters.ts'

/** A path at which the index, or the working file, may differ from a tree. */
export interface IndexDifference {
  /** null = its bytes are not UTF-8; `shown` says them for a message. */
  readonly path: string | null
  readonly shown: string
  readonly oldMode: FileMode
  readonly oldBlob: string
  readonly newMode: FileMode
  /** All zeros where git would have to look into the working file to know. */
  readonly newBlob: string
  readonly isUnmerged: boolean
}

/** Of a file that is to be added one day (`git add -N`) the index holds nothing yet. */
const STAGED = ['--cached', '--ita-invisible-in-index']

/**
 * Every tracked path that differs from `tree`: in the index alone (`where: "index"`), or in working files as their times and
 * sizes say. A path that is named may turn out to hold the same bytes; one that is not named does not differ.
 *
 * Loads the index, writes nothing, starts no filter driver, and looks into no submodule.
 */
export async function diffIndex(
  door: GitDoor,
  tree: string,
  where: 'index' | 'files',
): Promise<readonly IndexDifference[]> {
  const how = ['-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff', '--ignore-submodules=dirty']
  const cached = where === 'index' ? STAGED : []
  const [result, unmerged] = await Promise.all([
    withoutFilters(door).then((plain) => git(plain, { args: ['diff-index', ...how, ...cached, tree, '--'] })),
    // Of working files git says nothing but that they differ.
    where === 'files' ? git(door, { args: ['ls-files', '-z', '--unmerged'] }) : null,
  ])
  const marked = new Set(
    unmerged?.stdout
      .toString('utf8')
      .split('\0')
      .map((line) => line.slice(line.indexOf('\t') + 1)),
  )
  return parseRaw(result.stdout).map((d) => (marked.has(d.shown) ? { ...d, isUnmerged: true } : d))
}

/** What an index of a scratch tree, which anything may have written, holds otherwise than a commit; null when git cannot read it. */
export async function readStaged(
  door: GitDoor,
  indexFile: string,
  commit: string,
): Promise<readonly IndexDifference[] | null> {
  const how = ['-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff', ...STAGED]
  const env = { GIT_INDEX_FILE: indexFile }
  const result = await git(door, { args: ['diff-index', ...how, commit, '--'], env, okCodes: [0, 128, -1] })
  return result.exitCode === 0 ? parseRaw(result.stdout) : null
}

function parseRaw(output: Buffer): readonly IndexDifference[] {
  const found: IndexDifference[] = []
  for (let at = 0; at < output.length; ) {
    const head = output.indexOf(0, at)
    const end = output.indexOf(0, head + 1)
    const [oldMode, newMode, oldBlob, newBlob, status] = output.toString('latin1', at + 1, head).split(' ')
    const bytes = output.subarray(head + 1, end)
    found.push({
      path: utf8OrNull(bytes),
      shown: bytes.toString('utf8'),
      oldMode: oldMode as FileMode,
      oldBlob: oldBlob ?? '',
      newMode: newMode as FileMode,
      newBlob: newBlob ?? '',
      isUnmerged: status === 'U',
    })
    at = end + 1
  }
  return found
}

/** The text of a path, or null when its bytes are not UTF-8: such a name could not be told from another. */
export function utf8OrNull(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : null
}

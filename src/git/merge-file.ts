import { readFileOrNull } from '../sys/small-files.ts'
import { type GitDoor, git, gitFailure } from './door.ts'

/** Numbers of lines (from 1, inclusive) of the first file, where the two sides touch each other. */
export interface LineRange {
  readonly from: number
  readonly to: number
}

export type FileMerge =
  | { readonly kind: 'clean'; readonly bytes: Buffer }
  | { readonly kind: 'conflict'; readonly lines: readonly LineRange[] }
  | { readonly kind: 'binary' }

/** Long enough that no file has such a line by itself. */
const MARKER_SIZE = 41

/** Files with more lines than this are not searched for the places of conflicts. */
const SEARCHED_LINES_MAX = 100_000

/**
 * Merges by git what two sides made of one file, on bytes as they stand. `files` are existing files: mine,
 * base, theirs.
 *
 * Changes on neighbouring lines conflict, as in any merge by git.
 */
export async function mergeFiles(
  door: GitDoor,
  files: readonly [mine: string, base: string, theirs: string],
): Promise<FileMerge> {
  const args = [
    'merge-file',
    '-p',
    `--marker-size=${MARKER_SIZE}`,
    '-L',
    'mine',
    '-L',
    'base',
    '-L',
    'theirs',
    ...files,
  ]
  // Exit codes up to 127 count conflicts; 255 is an error, of which only "binary" is expected.
  const result = await git(door, { args, okCodes: Array.from({ length: 128 }, (_, i) => i).concat(255) })
  if (result.exitCode === 0) return { kind: 'clean', bytes: result.stdout }
  if (result.exitCode === 255 && !result.stderr.includes('binary')) throw gitFailure(args, result)
  if (result.exitCode === 255) return { kind: 'binary' }
  const mine = (await readFileOrNull(files[0])) ?? Buffer.alloc(0)
  const marks = { open: '<'.repeat(MARKER_SIZE), middle: '='.repeat(MARKER_SIZE) }
  return { kind: 'conflict', lines: locateConflicts(mine, result.stdout, marks) }
}

/**
 * The lines of the first side at which a merge with conflict markers shows conflicts.
 *
 * @param marks - How the lines begin that open a conflict and that end the first side's text in it.
 */
export const locateConflicts = (
  mine: Buffer,
  merged: Buffer,
  marks: { readonly open: string; readonly middle: string },
): readonly LineRange[] => locateBlocks(linesOf(mine), conflictBlocks(merged, marks))

const linesOf = (bytes: Buffer): readonly string[] => bytes.toString('latin1').split('\n')

/** The first side's text of every conflict, in order. */
function conflictBlocks(
  merged: Buffer,
  { open, middle }: { readonly open: string; readonly middle: string },
): readonly (readonly string[])[] {
  const blocks: (readonly string[])[] = []
  let block: string[] | null = null
  for (const line of linesOf(merged)) {
    if (line.startsWith(open)) block = []
    else if (block !== null && line.startsWith(middle)) {
      blocks.push(block)
      block = null
    } else block?.push(line)
  }
  return blocks
}

/**
 * Finds each block below the one before. The merged text has other line numbers: the other side's changes are
 * in it.
 */
function locateBlocks(
  lines: readonly string[],
  blocks: readonly (readonly string[])[],
): readonly LineRange[] {
  if (lines.length > SEARCHED_LINES_MAX) return []
  const ranges: LineRange[] = []
  let at = 0
  for (const block of blocks) {
    let start = at
    while (start < lines.length && !block.every((line, i) => lines[start + i] === line)) start++
    if (start >= lines.length) return ranges
    at = start + block.length
    // An empty block stands where the first side deleted lines.
    ranges.push({ from: start + 1, to: Math.max(start + 1, at) })
  }
  return ranges
}

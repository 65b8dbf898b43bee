import { oneLine } from './comment-text.ts'
import { type DiffFile, type DiffSide, isBinaryFile } from './diff-file.ts'

const KINDS: Readonly<Record<string, string>> = {
  '100644': 'a file',
  '100755': 'an executable file',
  '120000': 'a symbolic link',
  '160000': 'a submodule',
}

/**
 * What a change does to a file beside its lines, in sentences: made, deleted, renamed, executable, another kind, where a link points, which
 * commit a submodule is at, the sizes of what has no lines. Safe for a terminal, each on one line.
 */
export function fileWords(file: DiffFile): readonly string[] {
  const { path, renamedFrom, before, after } = file
  const words: string[] = []
  if (renamedFrom !== undefined) words.push(`renamed: ${oneLine(renamedFrom)} → ${oneLine(path)}`)
  if (before === null && after !== null) words.push(`new: ${kindOf(after)}`)
  if (after === null && before !== null) words.push(`deleted: ${kindOf(before)}`)
  if (before !== null && after !== null && before.mode !== after.mode) words.push(modeWords(before, after))
  for (const [side, when] of [
    [before, 'before'],
    [after, 'now'],
  ] as const) {
    if (side?.mode === '120000') words.push(`link ${when}: points to ${oneLine(text(side))}`)
    if (side?.mode === '160000') words.push(`submodule ${when}: commit ${side.blob}`)
  }
  if (isBinaryFile(file)) words.push(`binary: ${sizeOf(before)} → ${sizeOf(after)}`)
  else if (isEmptyFile(before, after)) words.push('an empty file')
  return words
}

const kindOf = ({ mode }: DiffSide): string => KINDS[mode] ?? mode

function modeWords(before: DiffSide, after: DiffSide): string {
  if (before.mode === '100644' && after.mode === '100755') return 'now executable (mode 100644 → 100755)'
  if (before.mode === '100755' && after.mode === '100644')
    return 'no longer executable (mode 100755 → 100644)'
  return `${kindOf(before)} becomes ${kindOf(after)} (mode ${before.mode} → ${after.mode})`
}

const text = ({ bytes }: DiffSide): string => new TextDecoder().decode(bytes)

const sizeOf = (side: DiffSide | null): string =>
  side === null ? 'none' : `${side.bytes.length} bytes, blob ${side.blob.slice(0, 12)}`

const isEmptyFile = (before: DiffSide | null, after: DiffSide | null): boolean =>
  (before?.bytes.length ?? 0) === 0 &&
  (after?.bytes.length ?? 0) === 0 &&
  (before ?? after)?.mode !== '160000'

import { type BlobId, blobId, isObjectId, isZeroId } from '../model/ids.ts'
import type { GitHeader } from './diff-header.ts'
import type { DiffHunk } from './diff-hunks.ts'
import { gitKind, gitNames, plainNames, stripOf } from './diff-names.ts'
import type { BinaryHunk } from './git-binary.ts'
import { fault, isFault, type ParseFault } from './parse-fault.ts'
import { binaryHint, type DiffSection } from './unified-diff-parse.ts'

/** One file of a diff, its lines understood: names stripped, contradictions refused. Names are byte strings. */
export interface FileChange {
  readonly line: number
  readonly kind: 'modify' | 'create' | 'delete' | 'rename' | 'copy'
  /** The name on the old side; of a created file the new one. */
  readonly old: string
  /** The name on the new side; of a deleted file the old one. */
  readonly new: string
  /** null = not said. */
  readonly oldMode: number | null
  readonly newMode: number | null
  /** Object ids of the index line, often abbreviated; null = not said, or all zeros. */
  readonly oldId: string | null
  readonly newId: string | null
  readonly hunks: readonly DiffHunk[]
  /** Towards the new side, and back. */
  readonly binary: { readonly forward: BinaryHunk; readonly reverse: BinaryHunk | null } | 'no-data' | null
}

/** Understands one section of a diff. */
export function changeOf(section: DiffSection, asked: number | undefined): FileChange | ParseFault {
  const { header, hunks, binary } = section
  const strip = stripOf(header, asked)
  if (isFault(strip)) return strip
  if (header.kind === 'git') return gitChange(section, header, strip)
  const names = plainNames(header, strip)
  if (isFault(names)) return names
  const kind = names.old === null ? 'create' : names.new === null ? 'delete' : 'modify'
  const both = { old: names.old ?? names.new ?? '', new: names.new ?? names.old ?? '' }
  const unsaid = { oldMode: null, newMode: null, oldId: null, newId: null }
  return checked({ line: header.line, kind, ...both, ...unsaid, hunks, binary })
}

function gitChange(section: DiffSection, header: GitHeader, strip: number): FileChange | ParseFault {
  const { hunks, binary } = section
  const kind = gitKind(header)
  if (kind === null) return fault(header.line, 'the lines of the header contradict one another')
  const names = gitNames(header, kind, strip)
  if (isFault(names)) return names
  if ((header.oldMode === undefined) !== (header.newMode === undefined)) {
    return fault(header.line, 'the header has only one of "old mode" and "new mode"')
  }
  const indexMode = header.index?.mode ?? null
  return checked({
    line: header.line,
    kind,
    old: names.old ?? names.new ?? '',
    new: names.new ?? names.old ?? '',
    oldMode: header.oldMode ?? header.deletedMode ?? indexMode,
    newMode: header.newMode ?? header.createdMode ?? indexMode,
    oldId: knownId(header.index?.old),
    newId: knownId(header.index?.new),
    hunks,
    binary,
  })
}

const knownId = (id: string | undefined): string | null => (id === undefined || isZeroId(id) ? null : id)

/** The blob that a full id names; null where it is abbreviated or not said. */
export const fullId = (id: string | null): BlobId | null =>
  id !== null && isObjectId(id) ? blobId(id) : null

/** Refuses what no file can be: a change without content, names that must differ and do not, sides that do not fit. */
function checked(change: FileChange): FileChange | ParseFault {
  const { line, kind, hunks, binary } = change
  if ((kind === 'rename' || kind === 'copy') && change.old === change.new) {
    return fault(line, `the ${kind} leads to where the file is`)
  }
  const [hunk] = hunks
  if (kind === 'create' && hunk !== undefined && (hunks.length > 1 || hunk.oldCount > 0)) {
    return fault(hunk.line, 'the file is new, and its hunks name old lines')
  }
  if (kind === 'delete' && hunk !== undefined && (hunks.length > 1 || hunk.newCount > 0)) {
    return fault(hunk.line, 'the file is deleted, and its hunks leave lines')
  }
  if (binary === 'no-data' && !(kind === 'delete' && fullId(change.oldId) !== null)) {
    return fault(line, 'the diff says only that binary files differ; it holds no data', { hint: binaryHint })
  }
  const isEmpty = hunks.length === 0 && binary === null && change.oldMode === change.newMode
  if (kind === 'modify' && isEmpty) return fault(line, 'the header is followed by no change of the file')
  return change
}

/** The change that takes this one back. */
export function reversed(change: FileChange): FileChange | ParseFault {
  const { line, kind, binary } = change
  const sides = {
    line,
    old: change.new,
    new: change.old,
    oldMode: change.newMode,
    newMode: change.oldMode,
    oldId: change.newId,
    newId: change.oldId,
    hunks: change.hunks.map(reversedHunk),
  }
  if (kind === 'copy') {
    // What the copy holds is known by its id alone; the hunks speak of the source.
    if (fullId(change.newId) === null) {
      return fault(line, 'taking a copy back needs the full id of the copy, to delete nothing else', {
        hint: 'Make the diff with `git diff --full-index`, or delete the file.',
      })
    }
    return { ...sides, new: sides.old, kind: 'delete', hunks: [], binary: 'no-data' }
  }
  const inverse = kind === 'create' ? 'delete' : kind === 'delete' ? 'create' : kind
  if (binary === null || binary === 'no-data') return checked({ ...sides, kind: inverse, binary })
  if (binary.reverse === null) return fault(line, 'the binary patch has no part for the way back')
  return checked({ ...sides, kind: inverse, binary: { forward: binary.reverse, reverse: binary.forward } })
}

function reversedHunk(hunk: DiffHunk): DiffHunk {
  const lines = hunk.lines.map((line) => {
    if (line.kind === 'context') return line
    return { ...line, kind: line.kind === 'add' ? ('remove' as const) : ('add' as const) }
  })
  const { line, oldStart, oldCount, newStart, newCount } = hunk
  return { line, oldStart: newStart, oldCount: newCount, newStart: oldStart, newCount: oldCount, lines }
}

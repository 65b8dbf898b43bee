import type { Edit, Hunk, HunkLine, HunksEdit, WriteEdit } from '../model/edit.ts'
import { type FileChange, fullId } from './diff-change.ts'
import type { DiffHunk } from './diff-hunks.ts'
import type { BinaryHunk } from './git-binary.ts'
import { fault, isFault, type ParseFault } from './parse-fault.ts'

type Place = Pick<Edit, 'item' | 'step' | 'path'>

/** Shortest object id that git itself takes for one; shorter ones are no evidence. */
const PREIMAGE_MIN_DIGITS = 7

const TYPE_BITS = 0o170000
const REGULAR = 0o100000
const SYMLINK = 0o120000
const GITLINK = 0o160000
const OWNER_EXECUTES = 0o100

/** Refuses a mode that is not a regular file's. */
export function modeFault(change: FileChange): ParseFault | null {
  const { line } = change
  for (const mode of [change.oldMode, change.newMode]) {
    const type = mode === null ? REGULAR : mode & TYPE_BITS
    if (type === SYMLINK) return fault(line, 'the file is a symbolic link (mode 120000)', { code: 'symlink' })
    if (type === GITLINK) return fault(line, 'the path is a submodule (mode 160000)', { code: 'submodule' })
    if (type !== REGULAR) return fault(line, `the mode ${mode?.toString(8)} is not of a file`)
  }
  return null
}

/** The edits of a file's content and mode, at one place: all but the rename or copy itself. */
export function contentEdits(change: FileChange, place: Place): readonly Edit[] | ParseFault {
  switch (change.kind) {
    case 'create':
      return createEdits(change, place)
    case 'delete':
      return deleteEdits(change, place)
    default: {
      const content = modifyEdits(change, place)
      return isFault(content) ? content : [...content, ...modeEdits(change, place)]
    }
  }
}

function createEdits(change: FileChange, place: Place): readonly Edit[] | ParseFault {
  const { binary, hunks, line } = change
  if (binary !== null && binary !== 'no-data' && binary.forward.method === 'delta') {
    return fault(line, 'the file is new, and its binary patch is a delta of an old one')
  }
  const isText = binary === null || binary === 'no-data'
  const content = isText ? contentOf(hunks[0]?.lines ?? []) : binary.forward.data
  const permission = change.newMode === null ? {} : { executable: isExecutable(change.newMode) }
  const edit: WriteEdit = { op: 'write', ...place, content, mode: 'create', isText, ...permission }
  return [edit]
}

function deleteEdits(change: FileChange, place: Place): readonly Edit[] | ParseFault {
  const { binary, hunks, line } = change
  if (binary === null) {
    return [{ op: 'delete', ...place, expectedContent: contentOf(hunks[0]?.lines ?? []) }]
  }
  const blob = fullId(change.oldId)
  if (blob === null) return needsFullId(line)
  if (binary !== 'no-data' && binary.forward.data.length > 0) {
    return fault(line, 'the file is deleted, and its binary patch leaves content')
  }
  return [{ op: 'delete', ...place, blob }]
}

function modifyEdits(change: FileChange, place: Place): readonly Edit[] | ParseFault {
  const { binary, hunks } = change
  if (binary === 'no-data') return []
  if (binary === null) return hunks.length === 0 ? [] : [hunksEdit(change, place)]
  const blob = fullId(change.oldId)
  if (blob === null) return needsFullId(change.line)
  return [binaryEdit(binary.forward, { ...place, blob })]
}

/** As in git: nothing else shows that a binary patch meets the file it was made from. */
const needsFullId = (line: number): ParseFault =>
  fault(line, 'a binary patch needs the full id of the old content on its "index" line', {
    hint: 'Make the diff with `git diff --binary`, or send the whole file with `write` and base64.',
  })

function binaryEdit(hunk: BinaryHunk, place: Place & Pick<Edit, 'blob'>): Edit {
  if (hunk.method === 'delta') return { op: 'delta', ...place, delta: hunk.data }
  return { op: 'write', ...place, content: hunk.data, mode: 'overwrite', isText: false }
}

function modeEdits({ oldMode, newMode }: FileChange, place: Place): readonly Edit[] {
  if (oldMode === null || newMode === null || isExecutable(oldMode) === isExecutable(newMode)) return []
  return [{ op: 'chmod', ...place, executable: isExecutable(newMode) }]
}

const isExecutable = (mode: number): boolean => (mode & OWNER_EXECUTES) !== 0

function hunksEdit({ hunks, oldId }: FileChange, place: Place): HunksEdit {
  const evidence = oldId !== null && oldId.length >= PREIMAGE_MIN_DIGITS ? { preimage: oldId } : {}
  const edit = {
    op: 'hunks',
    ...place,
    flavour: 'unified',
    hunks: hunks.map(modelHunk),
    ...evidence,
  } as const
  // Lines of a diff are bytes: git's own rule.
  return { ...edit, maxTier: 'exact' }
}

function modelHunk({ line, oldStart, lines }: DiffHunk): Hunk {
  return { anchors: [], oldStart, lines, endOfFile: false, sourceLine: line }
}

function contentOf(lines: readonly HunkLine[]): Uint8Array {
  const length = lines.reduce((sum, { text, unterminated }) => sum + text.length + (unterminated ? 0 : 1), 0)
  const content = new Uint8Array(length)
  let offset = 0
  for (const { text, unterminated } of lines) {
    content.set(text, offset)
    offset += text.length
    if (unterminated !== true) content[offset++] = 0x0a
  }
  return content
}

import type { DialectProfile } from '../model/dialect.ts'
import { type Edit, wordFor } from '../model/edit.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import type { FileState, ReadRecord, RegularFile } from '../model/file-state.ts'
import type { Failure } from '../model/resolution.ts'
import { quote } from '../policy/quote.ts'

export interface ProfileRequest {
  readonly edits: readonly Edit[]
  /** By item of the batch. */
  readonly profiles: readonly DialectProfile[]
  /** Files as they are before the batch. A path that is missing here counts as absent. */
  readonly files: ReadonlyMap<string, FileState>
  readonly reads: readonly ReadRecord[]
}

const textEdits: ReadonlySet<Edit['op']> = new Set<Edit['op']>([
  'replace',
  'lines',
  'insert',
  'append',
  'hunks',
  'cell',
])

const encoder = new TextEncoder()

/**
 * Judges existing files by the limits of the systems that ask to edit them: size, UTF-8, and a read before the edit.
 * What the engine and the path rules judge for all is not repeated here.
 *
 * Refuses `too-large`, `binary`, `not-utf8`, and `not-read` (an existing file for which neither the edit nor any read
 * names a blob). Whether a read still holds is the engine's to judge. One failure for each edit at most.
 */
export function profileFailures(request: ProfileRequest): readonly Failure[] {
  const readPaths = new Set(request.reads.map((read) => read.path))
  const faults = new Map<string, Fault | null>()
  const failures: Failure[] = []
  for (const edit of request.edits) {
    const profile = request.profiles[edit.item]
    const file = request.files.get(edit.path)
    if (profile === undefined || file === undefined || file.kind === 'absent') continue
    const found =
      sizeFault(file, profile) ??
      (needsUtf8(edit, profile) ? remembered(faults, edit.path, () => textFault(file)) : null) ??
      readFault(edit, profile, readPaths)
    if (found === null) continue
    const message = `${wordFor(edit)} of ${quote(edit.path)}: ${found.message}`
    failures.push({
      item: edit.item,
      path: edit.path,
      code: found.code,
      message,
      data: { ...found.data, blob: file.blob },
    })
  }
  return failures
}

interface Fault {
  readonly code: ErrorCode
  readonly message: string
  readonly data?: Readonly<Record<string, unknown>>
}

function sizeFault(file: RegularFile, profile: DialectProfile): Fault | null {
  const limit = profile.fileMaxBytes
  const bytes = file.bytes.length
  if (limit === undefined || bytes <= limit) return null
  return {
    code: 'too-large',
    message: `the file has ${bytes} bytes; this system edits up to ${limit}`,
    data: { bytes, limit },
  }
}

const needsUtf8 = (edit: Edit, { wholeFileUtf8 }: DialectProfile): boolean =>
  wholeFileUtf8 === 'every-edit' || (wholeFileUtf8 === 'text-edits' && textEdits.has(edit.op))

function textFault(file: RegularFile): Fault | null {
  if (file.bytes.includes(0)) return { code: 'binary', message: 'the file holds NUL bytes' }
  const decoded = new TextDecoder('utf-8', { ignoreBOM: true }).decode(file.bytes)
  if (Buffer.compare(encoder.encode(decoded), file.bytes) === 0) return null
  return { code: 'not-utf8', message: 'the file is not UTF-8 as a whole, which this system requires' }
}

function readFault(edit: Edit, profile: DialectProfile, readPaths: ReadonlySet<string>): Fault | null {
  if (!profile.needsRead || edit.blob !== undefined || readPaths.has(edit.path)) return null
  return {
    code: 'not-read',
    message: 'the file exists and was not read, which this system requires before any edit',
  }
}

function remembered(
  faults: Map<string, Fault | null>,
  path: string,
  judge: () => Fault | null,
): Fault | null {
  const known = faults.get(path)
  if (known !== undefined) return known
  const fault = judge()
  faults.set(path, fault)
  return fault
}

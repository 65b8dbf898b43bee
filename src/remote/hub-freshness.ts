import { isRecord, type Json } from './wire.ts'

/** What a host said of a file: the facts that the next edit by line numbers is held against. */
export interface FileFacts {
  readonly realPath: string
  readonly mtime: number | null
  readonly totalLines: number
}

/** What one agent knows of one host's files. */
export type KnownFiles = Map<string, Pick<FileFacts, 'mtime' | 'totalLines'>>

const STALE = { mtime: 0, totalLines: 0 } as const

/** The `file` block of an answer, or null where it is unusable. */
export function factsIn(result: Json): FileFacts | null {
  const file = result['file']
  if (!isRecord(file) || typeof file['realpath'] !== 'string' || file['realpath'].trim() === '') return null
  const lines = Number(file['total_lines'])
  if (!Number.isFinite(lines)) return null
  const mtime = typeof file['mtime'] === 'number' ? file['mtime'] : Number.parseFloat(String(file['mtime']))
  return {
    realPath: file['realpath'],
    mtime: Number.isFinite(mtime) ? mtime : null,
    totalLines: Math.max(0, Math.trunc(lines)),
  }
}

/** Whether edits by line numbers may go: null = yes. A host of galley's goes by the file's bytes besides. */
export function freshnessFault(
  known: KnownFiles,
  current: FileFacts | null,
): 'patch_need_read' | 'patch_stale_read' | null {
  const stored = current === null ? undefined : known.get(current.realPath)
  if (current === null || stored === undefined || stored.mtime === null) return 'patch_need_read'
  if (current.mtime === null) return null
  return stored.mtime === current.mtime ? null : 'patch_stale_read'
}

/** Takes note of what a successful operation leaves known. */
export function noteResult(
  known: KnownFiles,
  action: 'read' | 'write' | 'patch',
  args: Json,
  facts: FileFacts | null,
): void {
  if (facts === null) return
  const { realPath, mtime, totalLines } = facts
  if (action !== 'patch') {
    if (mtime !== null) known.set(realPath, { mtime, totalLines })
    return
  }
  const edits = args['edits']
  const keeps =
    Array.isArray(edits) &&
    edits.every(keepsLines) &&
    known.get(realPath)?.totalLines === totalLines &&
    mtime !== null
  known.set(realPath, keeps ? { mtime, totalLines } : STALE)
}

/** An edit that replaces as many lines as it brings. */
function keepsLines(edit: unknown): boolean {
  if (!isRecord(edit)) return false
  const { from, to, content } = edit
  if (
    !Number.isInteger(from) ||
    (from as number) < 1 ||
    !Number.isInteger(to) ||
    (to as number) < (from as number)
  )
    return false
  const text = typeof content === 'string' ? content : ''
  const lines = text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0)
  return (to as number) - (from as number) + 1 === lines
}

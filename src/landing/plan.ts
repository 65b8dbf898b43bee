import type { IndexChange } from '../git/index-update.ts'
import { refuse } from '../model/error.ts'
import type { FileKey } from '../store/landing-journal.ts'
import type { Standing, StandingFile } from '../sys/file-key.ts'
import {
  type Combination,
  decideFile,
  decideIndexEntry,
  type PathFacts,
  type Problem,
  refuseOtherFile,
} from './decide-path.ts'
import type { RawVersions } from './raw-versions.ts'

/** Where the bytes of a file to be written come from. */
export type ContentSource =
  /** A blob that the store can read. */
  | { readonly kind: 'blob'; readonly id: string }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** The working file itself: its mode alone changes. */
  | { readonly kind: 'standing' }

export interface PlannedFile {
  readonly kind: 'write' | 'create' | 'delete'
  readonly path: string
  /** What must stand there when the file is replaced. */
  readonly standing: Standing
  readonly old: FileKey | null
  readonly next: FileKey | null
  readonly content: ContentSource | null
  /** Permission bits of the new file; null = those that the umask leaves. */
  readonly permissions: number | null
  /** The file in whose place, or out of whose place, it comes: it keeps owner and group. */
  readonly origin: StandingFile | null
}

export interface PlannedEntry {
  readonly path: string
  readonly from: FileKey | null
  readonly to: FileKey | null
  readonly assumeUnchanged: boolean
  readonly skipWorktree: boolean
}

/** A three-way merge that has to be made before it is known whether the landing can be. */
export interface OpenMerge {
  readonly path: string
  readonly where: 'index' | 'file'
  readonly mode: string
  readonly mine: string
  readonly base: string
  readonly next: string
}

/** What is to become of every path, before the merges are made. Pure: made from facts, written to nothing. */
export interface Decisions {
  readonly problems: readonly Problem[]
  readonly files: readonly { readonly facts: PathFacts; readonly to: Combination }[]
  readonly entries: readonly { readonly facts: PathFacts; readonly to: Combination }[]
  readonly merges: readonly OpenMerge[]
}

/** Decides every path by itself. */
export function decidePaths(all: readonly PathFacts[], raw: ReadonlyMap<string, RawVersions>): Decisions {
  const problems: Problem[] = []
  const files: { facts: PathFacts; to: Combination }[] = []
  const entries: { facts: PathFacts; to: Combination }[] = []
  const merges: OpenMerge[] = []
  for (const facts of all) {
    const unreadable = refuseOtherFile(facts) ?? raw.get(facts.path)?.problem ?? null
    if (unreadable !== null) problems.push(unreadable)
    const file = unreadable === null ? decideFile(facts) : null
    const entry = unreadable === null ? decideIndexEntry(facts) : null
    for (const [where, decided, list] of [
      ['index', entry, entries],
      ['file', file, files],
    ] as const) {
      if (decided === null) continue
      if (decided.kind === 'problem') {
        problems.push(decided.problem)
        continue
      }
      list.push({ facts, to: decided })
      if (decided.kind === 'merge') merges.push({ path: facts.path, where, ...decided })
    }
  }
  return { problems, files, entries, merges }
}

/** What was merged, by place. */
export type MergedContent = ReadonlyMap<string, { readonly id: string; readonly bytes: Buffer }>

export const mergeKey = (merge: Pick<OpenMerge, 'path' | 'where'>): string => `${merge.where}:${merge.path}`

/** The step for the working file; null = it stays as it is. */
export function planFile(
  facts: PathFacts,
  to: Combination,
  raw: RawVersions | undefined,
  merged: MergedContent,
  moved: StandingFile | null,
): PlannedFile | null {
  const { path, standing } = facts
  const isThere = !facts.makesRoom && (standing.kind === 'file' || standing.kind === 'symlink')
  const old = isThere ? keyOf(standing) : null
  if (to.kind === 'keep' || to.kind === 'overlap') return null
  // A file that becomes a submodule makes way; the directory for it is made afterwards.
  if (to.kind === 'remove' || (to.kind === 'set' && to.to.mode === '160000'))
    return { kind: 'delete', path, standing, old, next: null, content: null, permissions: null, origin: null }
  const mode = to.kind === 'merge' ? to.mode : to.to.mode
  const result = to.kind === 'merge' ? merged.get(mergeKey({ path, where: 'file' })) : undefined
  const id = to.kind === 'set' ? to.to.id : (result?.id ?? '')
  const content = contentOf(facts, id, raw, result?.bytes)
  const origin = mode === '120000' ? null : isThere ? (standing.kind === 'file' ? standing : null) : moved
  const permissions = origin === null ? null : permissionsFor(facts, mode, origin)
  const kind = isThere ? 'write' : 'create'
  return { kind, path, standing, old, next: { mode, id }, content, permissions, origin }
}

function contentOf(
  facts: PathFacts,
  id: string,
  raw: RawVersions | undefined,
  merged: Buffer | undefined,
): ContentSource {
  if (merged !== undefined) return { kind: 'bytes', bytes: merged }
  if (facts.rawNext?.id === id && raw?.nextBytes) return raw.nextBytes
  return { kind: 'standing' }
}

function keyOf(standing: Standing): FileKey | null {
  if (standing.kind === 'symlink') return { mode: '120000', id: standing.id }
  return standing.kind === 'file'
    ? { mode: standing.executable ? '100755' : '100644', id: standing.id }
    : null
}

/** The bits that were there before, with the executable ones added where reading is allowed, or all taken away. */
function permissionsFor(facts: PathFacts, mode: string, origin: StandingFile): number {
  const wantsExecutable = mode === '100755'
  const says = facts.trustsExecutableBit || facts.base?.mode !== facts.next?.mode
  const { permissions } = origin
  if (!says || wantsExecutable === origin.executable) return permissions
  return wantsExecutable ? permissions | ((permissions & 0o444) >> 2) : permissions & ~0o111
}

/** The step for the index entry; null = it stays as it is. */
export function planEntry(facts: PathFacts, to: Combination, merged: MergedContent): PlannedEntry | null {
  const { path, index } = facts
  if (to.kind === 'keep' || to.kind === 'overlap') return null
  const from = index === null ? null : { mode: index.mode, id: index.id }
  const result = merged.get(mergeKey({ path, where: 'index' }))
  const target =
    to.kind === 'set' ? to.to : to.kind === 'merge' ? { mode: to.mode, id: result?.id ?? '' } : null
  const isLeftOut = facts.isOutsideCone && facts.standing.kind !== 'file' && facts.standing.kind !== 'symlink'
  return {
    path,
    from,
    to: target,
    assumeUnchanged: index?.assumeUnchanged === true,
    skipWorktree: target !== null && (isLeftOut || index?.skipWorktree === true),
  }
}

export const indexChangeOf = ({ path, to }: PlannedEntry): IndexChange =>
  to === null ? { kind: 'remove', path } : { kind: 'set', path, mode: to.mode, id: to.id }

/**
 * Refuses for everything that stands in the way, naming all of it.
 *
 * @throws GalleyError with the code of the first problem; data: `{ paths: [{ path, code, message, lines }]
 * }`.
 */
export function refuseProblems(problems: readonly Problem[]): void {
  const first = problems[0]
  if (first === undefined) return
  const others = problems.length - 1
  const more = others === 0 ? '' : ` (and ${others} more)`
  refuse(first.code, `${first.message}${linesText(first)}${more}`, { path: first.path, paths: problems })
}

function linesText({ lines }: Problem): string {
  if (lines === undefined || lines.length === 0) return ''
  const named = lines.slice(0, 10).map(({ from, to }) => (from === to ? String(from) : `${from} to ${to}`))
  return `: line ${named.join(', ')}`
}

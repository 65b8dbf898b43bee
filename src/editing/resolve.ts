import { type Edit, type Tier, wordFor } from '../model/edit.ts'
import type { FileState, ReadRecord } from '../model/file-state.ts'
import { limits } from '../model/limits.ts'
import { comparePaths } from '../model/manifest.ts'
import type { Failure, ItemResult, Remark, Resolution, ResolvedFile } from '../model/resolution.ts'
import { sameBytes } from './bytes.ts'
import { Draft, type DraftState } from './draft.ts'
import type { JudgeContext } from './judge-context.ts'
import { judgeStep } from './judge-step.ts'
import { Reads } from './reads.ts'
import { Work } from './work.ts'

export interface ResolveRequest {
  /** In the batch's order. */
  readonly edits: readonly Edit[]
  /** Every path named by an edit, targets of moves and copies included; a path that is missing counts as absent. */
  readonly files: ReadonlyMap<string, FileState>
  /** Evidence: what the batch names in `reads`, and what its session has read. */
  readonly reads: readonly ReadRecord[]
  /** What edits themselves name by `blob` and is not what the file is now, with its bytes: no evidence, but it explains a stale edit. */
  readonly named?: readonly ReadRecord[]
  readonly options: {
    readonly maxTier: Tier
    /** Apply a stale edit where its lines have moved to, instead of only suggesting it. */
    readonly carry: boolean
    readonly fileMaxBytes: number
  }
}

/**
 * Resolves a batch of edits against the files it names: bytes in, bytes out.
 *
 * Either every edit finds its one place and the resolution holds the files as they will be, or every edit that fails
 * is listed. Edits of one step see the files as they were before the step; steps apply in ascending order. Total: no
 * input makes it throw.
 *
 * @param work - What the searching may cost; says afterwards what it did cost.
 */
export function resolve(request: ResolveRequest, work = new Work(limits.searchMaxBytes)): Resolution {
  const draft = new Draft(request.files, work)
  const context: JudgeContext = { draft, reads: new Reads(request.reads, request.named), ...request.options }
  const failedPaths = new Set<string>()
  const verdicts = steps(request.edits).map((edits) => {
    const verdict = judgeStep(
      context,
      edits.filter((edit) => !failedPaths.has(edit.path)),
    )
    for (const path of verdict.failedPaths) failedPaths.add(path)
    return verdict
  })
  const failures: readonly Failure[] = verdicts.flatMap((verdict) => verdict.failures)
  const results: readonly ItemResult[] = verdicts.flatMap((verdict) => verdict.results)
  const remarks: readonly Remark[] = verdicts.flatMap((verdict) => verdict.remarks)
  if (failures.length > 0) return { kind: 'refused', failures: inOrder(failures) }
  const files = [...draft.paths()].sort(comparePaths).flatMap((path) => resolvedFile(draft, path))
  if (files.length === 0 && request.edits.length > 0)
    return { kind: 'refused', failures: unchanged(request.edits) }
  return { kind: 'resolved', files, results: inOrder(results), remarks: inOrder(remarks) }
}

function steps(edits: readonly Edit[]): readonly (readonly Edit[])[] {
  const groups = new Map<number, Edit[]>()
  for (const edit of edits) {
    const group = groups.get(edit.step)
    if (group === undefined) groups.set(edit.step, [edit])
    else group.push(edit)
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group)
}

const inOrder = <T extends { readonly item: number }>(entries: readonly T[]): readonly T[] =>
  [...entries].sort((a, b) => a.item - b.item)

function resolvedFile(draft: Draft, path: string): readonly ResolvedFile[] {
  const before = draft.before(path)
  const now = draft.at(path)
  if (isSame(before, now)) return []
  if (now.kind === 'absent') return [{ path, before, after: { kind: 'absent' }, tier: 'exact' }]
  const after = { kind: 'file', bytes: now.text.bytes, executable: now.executable } as const
  const renamed = now.identity === null || now.identity === path ? {} : { renamedFrom: now.identity }
  const { origin, isRewritten } = now
  const made =
    origin === null || origin === path ? {} : { madeFrom: { path: origin, holdsText: !isRewritten } }
  return [{ path, before, after, tier: now.tier, ...renamed, ...made }]
}

function isSame(before: FileState, now: DraftState): boolean {
  if (before.kind === 'absent' || now.kind === 'absent') return before.kind === now.kind
  return before.executable === now.executable && sameBytes(before.bytes, now.text.bytes)
}

const unchanged = (edits: readonly Edit[]): readonly Failure[] =>
  edits.map(({ item, path, op }) => ({
    code: 'no-change',
    message: `${wordFor({ op })} of ${path}: the batch leaves the file exactly as it is`,
    data: {},
    item,
    path,
  }))

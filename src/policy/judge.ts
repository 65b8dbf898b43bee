import type { Edit } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import type { Policy } from '../model/policy.ts'
import type { Failure } from '../model/resolution.ts'
import { denial, readOnly } from './judge-manifest.ts'
import { coveringMatcher } from './path-matcher.ts'

export { autoApproves } from './auto-approve.ts'
export { judgeManifest, judgeTransitions, protectedPaths, strictest } from './judge-manifest.ts'

/** Whether one of the globs matches the path, or a directory that it lies in, in any letter case. */
export const matchesAny = (patterns: readonly string[], path: string): boolean =>
  coveringMatcher(patterns)(path) !== null

/** Judges a path that someone wants to read: `denied-path`, or null. What may not be edited may not be read. */
export const judgePathForReading = (policy: Policy, path: string): Refusal | null =>
  denial(policy, path, 'read')

/**
 * Judges every path that edits name, `to` of moves and copies included. Edits of a policy that only allows reading
 * fail with `read-only`, edits of denied paths with `denied-path`; one failure for each path of each item.
 */
export function judgePaths(policy: Policy, edits: readonly Edit[]): readonly Failure[] {
  return edits.flatMap((edit) => {
    const paths = edit.op === 'move' || edit.op === 'copy' ? [edit.path, edit.to] : [edit.path]
    return paths.flatMap((path) => {
      const refusal = policy.mode === 'read-only' ? readOnly(path) : denial(policy, path, 'edit')
      return refusal === null ? [] : [{ ...refusal, item: edit.item, path }]
    })
  })
}

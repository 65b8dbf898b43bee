import type { Remark } from '../model/resolution.ts'

/** The paths whose uncommitted work a revision takes along: no rule and no client approves that, as with a protected path. */
export const pathsTaken = (remarks: readonly Remark[]): readonly string[] =>
  remarks.flatMap(({ kind, path }) => (kind === 'takes-uncommitted' ? [path] : []))

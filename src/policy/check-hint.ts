import type { CheckResult } from '../model/change.ts'

/** A shell's codes for a program that is not there, or may not be run. */
const NOT_STARTED = [126, 127]

/** What programs say where a package or a program is missing; none of it decides anything but the hint. */
const MISSING_WORDS =
  /not found|no such file or directory|cannot find (module|package)|no module named|is not installed|could not (find|resolve|load)|unable to resolve|missing (module|package|dependency)|ENOENT/i

/**
 * What to do about checks that failed: one that misses a program or a package, as hooks do that are started out of ignored folders, needs it in
 * its tree.
 */
export function checksHint(
  results: readonly Pick<CheckResult, 'name' | 'exitCode' | 'summary'>[],
): string | undefined {
  const found = results.find(
    ({ exitCode, summary }) => NOT_STARTED.includes(exitCode ?? 0) || MISSING_WORDS.test(summary),
  )
  return (
    found &&
    `${found.name} ran in a tree that holds what is committed: \`setup\` in the policy installs what it needs there, and a file .worktreeinclude names ignored files to be copied in. \`galley show <id>\` has its output.`
  )
}

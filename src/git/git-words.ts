import type { ErrorCode } from '../model/error-codes.ts'

/** The reasons that the system gives, as git prints them in the C locale. */
const REASON =
  /No space left on device|Disk quota exceeded|File too large|Read-only file system|Permission denied|Operation not permitted|Too many open files|Input\/output error|Not a directory|out of memory|cannot allocate memory|ended by SIG[A-Z]/i

/** With a full device git often gives no reason. */
const WITHOUT_REASON =
  /(?:could not|couldn't|unable to|failed to) (?:write|create|mkdir|fsync|close)|write error/i

/** A file that is there already is somebody's, such as a lock; a reason is the system's own, whatever else was in the way. */
const isSystemRefusal = (said: string): boolean =>
  REASON.test(said) || (WITHOUT_REASON.test(said) && !said.includes('File exists'))

/** Whether git said, in the C locale, that it cannot use the user's configuration. No command works then. */
export const isBadConfiguration = (said: string): boolean =>
  /^(?:fatal|error): (?:bad (?:\w+ )?config|failed to expand user dir)/m.test(said)

/** Whether git said that an object is gone which something refers to: the user's own collection may remove what no ref of theirs shows. */
const isMissingObject = (said: string): boolean =>
  /(?:unable to read|bad) (?:tree|blob|sha1|object)|missing (?:blob|tree|commit) |could not (?:read|parse) (?:tree|commit|object)/i.test(
    said,
  )

/** Whether git said that an object of a partial clone could not be had from its remote. */
export const isNotFetched = (said: string): boolean =>
  /could not fetch \S+ from promisor remote|lazy fetching disabled/.test(said)

/** Whether git said that its index holds something that it cannot read. */
export const isBadIndex = (said: string): boolean =>
  /index file (?:corrupt|smaller than expected|open failed)|bad index|bad signature 0x|bad index version|unknown index (?:entry|extension)|unordered stage entries|malformed name field/i.test(
    said,
  )

/** Whether git said that another process holds a lock. */
const isLocked = (said: string): boolean => /\.lock': File exists|cannot lock ref/.test(said)

/**
 * The code for a git command that failed, by what it printed: its exit code does not tell. `internal` where galley asked for what git does
 * not know; whatever else git refuses lies in the repository or the machine, and git's own words say it.
 */
export function codeOfWords(said: string, exitCode: number): ErrorCode {
  if (exitCode === USAGE || /^usage: git /m.test(said)) return 'internal'
  if (isBadConfiguration(said)) return 'unsupported-repository'
  if (isNotFetched(said)) return 'not-fetched'
  if (isMissingObject(said)) return 'stale'
  if (isSystemRefusal(said)) return 'io-error'
  return isLocked(said) ? 'locked' : 'git-failed'
}

/** git's exit code for a command line that it cannot read. */
const USAGE = 129

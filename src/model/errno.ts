import { GalleyError } from './error.ts'

/** The system's own name of what failed, such as `ENOENT`; empty for an error that has none. */
export const errorCode = (error: unknown): string =>
  String((error as { readonly code?: unknown } | null)?.code ?? '')

/** Whether nothing is at a path: no such name, or something above it that is no directory. */
export const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCode(error))

/** For `catch`: null where nothing is at the path; any other error is thrown on. */
export function absentAsNull(error: unknown): null {
  if (isAbsent(error)) return null
  throw error
}

/** What only a fault of galley's own makes the system answer. Everything else that it refuses has its reason on the machine. */
const FAULTS = new Set(['EBADF', 'EFAULT', 'EINVAL', 'ENOTSOCK', 'EALREADY'])

/** Refusals of the system that it may give without being asked anything, as node words them. */
const WITHOUT_CALL = new Set(['ERR_FS_FILE_TOO_LARGE'])

/**
 * The system's own refusal under its public code, `io-error`; any other error as it is. What git made of such a refusal has that code
 * already (`git/git-words.ts`).
 *
 * @param during - What failed by it, as a sentence. Given where others may take away what was there a moment ago: whatever the system
 * says of a call is its refusal then.
 */
export function asSystemRefusal(error: unknown, during?: string): unknown {
  if (error instanceof GalleyError || !(error instanceof Error)) return error
  const errno = errorCode(error)
  const { syscall, path } = error as Error & { readonly syscall?: unknown; readonly path?: unknown }
  const isCall = syscall !== undefined && /^E[A-Z0-9]+$/.test(errno)
  const isRefusal = WITHOUT_CALL.has(errno) || (isCall && (during !== undefined || !FAULTS.has(errno)))
  if (!isRefusal) return error
  const message =
    during === undefined
      ? error.message
      : `${during}: ${String(syscall)}${path === undefined ? '' : ` ${String(path)}`} failed with ${errno}`
  return new GalleyError({ code: 'io-error', message, data: { errno, syscall, path } }, { cause: error })
}

/** Whether an error came in the middle of something, as opposed to a refusal with everything as it was. */
export const cameMidway = (error: unknown): boolean =>
  !(error instanceof GalleyError) || ['io-error', 'git-failed', 'internal'].includes(error.code)

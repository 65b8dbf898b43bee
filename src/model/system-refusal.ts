import { GalleyError } from './error.ts'

/** What the system answers when it cannot or must not do something, as opposed to what a fault of galley's own would cause. */
const SYSTEM_CODES = new Set([
  'EACCES',
  'EPERM',
  'ENOSPC',
  'EROFS',
  'EMFILE',
  'ENFILE',
  'EIO',
  'EDQUOT',
  'ENAMETOOLONG',
  'ELOOP',
  'EXDEV',
])

/** The system's own refusal under its public code, `io-error`; any other error as it is. */
export function asSystemRefusal(error: unknown): unknown {
  if (error instanceof GalleyError || !(error instanceof Error)) return error
  const { code, syscall, path } = error as Error & { code?: unknown; syscall?: unknown; path?: unknown }
  if (typeof code !== 'string' || !SYSTEM_CODES.has(code)) return error
  return new GalleyError(
    { code: 'io-error', message: error.message, data: { errno: code, syscall, path } },
    { cause: error },
  )
}

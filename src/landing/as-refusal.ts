import { GalleyError } from '../model/error.ts'

/** What git says when the system refused it something; its exit code does not tell. */
const SYSTEM_SAYS =
  /No space left on device|Read-only file system|Permission denied|Disk quota exceeded|Input\/output error|Too many open files/

/**
 * The system's own refusals (no space, no permission, …), to us or to git, under their public code; anything
 * else as it is.
 */
export function asRefusal(error: unknown, what: string): unknown {
  if (error instanceof GalleyError) return asSystemRefusal(error, what)
  const { code, syscall, path } = (error ?? {}) as NodeJS.ErrnoException
  if (code === undefined || syscall === undefined) return error
  const message = `${what}: ${syscall}${path === undefined ? '' : ` ${path}`} failed with ${code}`
  return new GalleyError(
    { code: 'io-error', message, data: { errno: code, syscall, path } },
    { cause: error },
  )
}

function asSystemRefusal(error: GalleyError, what: string): GalleyError {
  const said = error.code === 'internal' ? String(error.data['stderr'] ?? '') : ''
  const reason = SYSTEM_SAYS.exec(said)?.[0]
  if (reason === undefined) return error
  return new GalleyError(
    { code: 'io-error', message: `${what}: ${reason}: ${said}`, data: { said } },
    { cause: error },
  )
}

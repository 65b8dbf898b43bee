import { createHash, timingSafeEqual } from 'node:crypto'

const COOKIE = 'galley_review'

/** Who may speak with the server of the page: whoever brought the one-time token, from a page of this very address. */
export interface PageAccess {
  /** The session's cookie for the token, which is used up by it; null = it is wrong, or used. */
  readonly redeem: (token: string) => string | null
  readonly isKnown: (cookieHeader: string | undefined) => boolean
}

/** One token, one session; both die with the process. */
export function openAccess(token: string, newSession: () => string): PageAccess {
  let isUsed = false
  let session: string | null = null
  return {
    redeem: (given) => {
      if (isUsed || !isSame(given, token)) return null
      isUsed = true
      session = newSession()
      return `${COOKIE}=${session}; Path=/; HttpOnly; SameSite=Strict`
    },
    isKnown: (header = '') => {
      const given = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]+)`).exec(header)?.[1]
      return session !== null && given !== undefined && isSame(given, session)
    },
  }
}

/** Compared by their hashes: in the same time, whatever their lengths. */
function isSame(given: string, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given), hash(expected))
}

/**
 * What a browser may do with the page: run its own script, and nothing else. No text of a change can become markup: the page is not allowed
 * to make any.
 */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

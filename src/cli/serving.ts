import { usageError } from './errors.ts'
import type { CliContext } from './verb.ts'

const TOKEN_MIN_CHARACTERS = 16

/** A port of the command line; 0 = any that is free. @throws GalleyError `usage`. */
export function portOf(given: unknown, option: string): number {
  const port = Number(given ?? 0)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw usageError(`${option} is a number up to 65535`)
  return port
}

/**
 * The token of a server: that of a variable, which is not shown, or a new one, which is.
 *
 * @throws GalleyError `usage`, for one that is too short or has blanks.
 */
export function tokenOf(
  variable: string,
  { env, clock }: Pick<CliContext, 'env' | 'clock'>,
): { readonly token: string; readonly shown: string } {
  const given = env[variable]
  if (given !== undefined && (given.length < TOKEN_MIN_CHARACTERS || /\s/.test(given)))
    throw usageError(`${variable} has ${TOKEN_MIN_CHARACTERS} characters or more, and no blanks`)
  const token = given ?? Buffer.from(clock.random(24)).toString('base64url')
  return { token, shown: given === undefined ? token : `(that of ${variable})` }
}

/** Until somebody ends the process. */
export const untilEnded = (): Promise<void> =>
  new Promise((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done())
  })

import { homedir } from 'node:os'

/** The user's home: `HOME`, or what the system knows of the account. */
export const homeDirectory = (env: Readonly<Record<string, string | undefined>>): string =>
  env['HOME'] || homedir()

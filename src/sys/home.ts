import { homedir, userInfo } from 'node:os'
import { asSystemRefusal } from '../model/errno.ts'

/** The user's home: `HOME`, or what the system knows of the account. */
export const homeDirectory = (env: Readonly<Record<string, string | undefined>>): string =>
  env['HOME'] || homedir()

/** The account's home as the system knows it, whatever `HOME` says; null for an account that the system does not know. */
export function accountHome(): string | null {
  try {
    return userInfo().homedir
  } catch (error) {
    if (asSystemRefusal(error) === error) throw error
    return null
  }
}

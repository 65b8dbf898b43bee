import { invariant } from './error.ts'

export interface Person {
  readonly name: string
  readonly email: string
  /** Seconds since the epoch and zone, as git writes them: `1700000000 +0100`. */
  readonly date: string
}

/** Who somebody is, as git shows it and as `by` of an event has it. */
export const nameAndEmail = ({ name, email }: Pick<Person, 'name' | 'email'>): string => `${name} <${email}>`

/** A person's line in an object of git's, cleaned as git itself does: no angle brackets, no line breaks, no NUL. */
export function personLine({ name, email, date }: Person): string {
  const clean = (text: string) => text.replaceAll(/[<>\n\r\0]/g, '').trim()
  invariant(/^\d+ [+-]\d{4}$/.test(date), `a date as git writes it: ${date}`)
  return `${nameAndEmail({ name: clean(name), email: clean(email) })} ${date}`
}

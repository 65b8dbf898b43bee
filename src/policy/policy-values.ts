import { type Tier, tiers } from '../model/edit.ts'
import type { Command } from '../model/policy.ts'
import { globFault } from './path-matcher.ts'
import { checkPath } from './paths.ts'
import { fail, listOf, type Read, readText, wordOf } from './policy-reader.ts'

export const readTier: Read<Tier> = wordOf(tiers)

const readGlob: Read<string> = (field) => {
  if (typeof field.value !== 'string') return fail(field, 'a glob')
  const fault = globFault(field.value)
  if (fault === null) return field.value
  field.notes.add(field.way, fault)
  return undefined
}

export const readGlobs: Read<readonly string[]> = listOf(readGlob)

/** Reads the path of a file of the repository; no glob. */
export const readPath: Read<string> = (field) => {
  if (typeof field.value !== 'string') return fail(field, 'a path')
  const refusal = checkPath(field.value)
  if (refusal === null) return field.value
  field.notes.add(field.way, refusal.message)
  return undefined
}

/**
 * Reads where the list of allowed signers stands: a path in the repository, or an absolute one (`~/` for the home of whoever looks)
 * outside of it.
 */
export const readSignersPath: Read<string> = (field) => {
  const path = readText(field)
  if (path === undefined) return undefined
  if (signersPlace(path) === 'outside') return path
  const inside = readPath(field)
  if (inside === undefined) return undefined
  const fault = protectionOf(inside).map(globFault)[0] ?? null
  if (fault === null) return inside
  field.notes.add(field.way, `the path cannot be protected: ${fault}`)
  return undefined
}

/** Whether the list of allowed signers is a file of the repository, read from a commit, or one outside of it. */
export const signersPlace = (path: string): 'repository' | 'outside' =>
  path.startsWith('/') || path.startsWith('~/') || /^[A-Za-z]:[\\/]/.test(path) ? 'outside' : 'repository'

/** The list of allowed signers as a glob that protects it: whoever may change it may let anybody approve. */
export const protectionOf = (signers: string | null): readonly string[] =>
  signers === null || signersPlace(signers) === 'outside'
    ? []
    : [signers.replaceAll(/[*?[\]{}!,\\]/g, (sign) => `\\${sign}`)]

/** Reads a command: a line for the shell, or its list of arguments, of which the first is the program. */
export const readCommand: Read<Command> = (field) => {
  const { value } = field
  const withNul = (text: string): boolean => text.includes('\0')
  if (typeof value === 'string' && value.trim() !== '' && !withNul(value))
    return { kind: 'shell', line: value }
  const isArgv =
    Array.isArray(value) && value.every((part): part is string => typeof part === 'string' && !withNul(part))
  if (isArgv && value[0] !== undefined && value[0] !== '') return { kind: 'argv', argv: value }
  return fail(field, 'a line for the shell, or a list of arguments that begins with a program')
}

/** Reads a name that is shown and logged: one line, not empty. */
export const readName: Read<string> = (field) => {
  const name = readText(field)
  return name === undefined || /^\P{Cc}{1,200}$/u.test(name)
    ? name
    : fail(field, 'one line of at most 200 characters')
}

import { join } from 'node:path'
import { randomName } from '../sys/clock.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { removeScript } from '../sys/hook-files.ts'
import { readFileOrNull, writeOwnFile } from '../sys/small-files.ts'

/** One thing that an installation of hooks left, so that it can be taken away byte for byte. Paths are absolute. */
export type HookEntry =
  /** A shim of ours; where theirs is kept, if there was one. */
  | { readonly kind: 'shim'; readonly name: string; readonly path: string; readonly previous: string | null }
  /** Text that was added to a script of theirs, or the whole of a script that was made. */
  | {
      readonly kind: 'line'
      readonly name: string
      readonly path: string
      readonly added: string
      readonly creates: boolean
    }
  /** Variables of `.git/config`; its bytes before and after, to put the former back where nobody else wrote. */
  | {
      readonly kind: 'config'
      readonly keys: readonly string[]
      readonly path: string
      /** Base64. */
      readonly before: string
      readonly after: string
    }

const manifestFile = (galleyDir: string): string => join(galleyDir, 'hooks.json')

/** Where the shims lie that others' scripts and configuration call. */
export const shimDirectory = (galleyDir: string): string => join(galleyDir, 'hooks')

/** What earlier installations left; nothing, where there was none or the file is gone or broken: the scripts themselves then tell. */
export async function readHookManifest(galleyDir: string): Promise<readonly HookEntry[]> {
  const bytes = await readFileOrNull(manifestFile(galleyDir))
  if (bytes === null) return []
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    const entries = typeof value === 'object' && value !== null && 'entries' in value ? value.entries : null
    return Array.isArray(entries) ? entries.filter(isEntry) : []
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

/** Writes the manifest as a whole; without entries there is none. */
export async function writeHookManifest(galleyDir: string, entries: readonly HookEntry[]): Promise<void> {
  if (entries.length === 0) return removeScript(manifestFile(galleyDir))
  await makePrivateDirectory(galleyDir)
  const text = `${JSON.stringify({ version: 1, entries }, null, 1)}\n`
  await writeOwnFile(manifestFile(galleyDir), text, `hooks-${randomName()}`)
}

const FIELDS = {
  shim: ['name', 'path'],
  line: ['name', 'path', 'added'],
  config: ['path', 'before', 'after'],
} as const

function isEntry(value: unknown): value is HookEntry {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false
  const { kind } = value
  if (kind !== 'shim' && kind !== 'line' && kind !== 'config') return false
  const record = value as Readonly<Record<string, unknown>>
  return FIELDS[kind].every((field) => typeof record[field] === 'string')
}

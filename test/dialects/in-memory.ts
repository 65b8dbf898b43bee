import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { profileFailures } from '../../src/dialects/profile-rules.ts'
import { translateBatch } from '../../src/dialects/registry.ts'
import { resolve } from '../../src/editing/resolve.ts'
import { parseBatch } from '../../src/intake/batch.ts'
import type { Edit } from '../../src/model/edit.ts'
import type { FileState } from '../../src/model/file-state.ts'
import { type BlobId, blobId } from '../../src/model/ids.ts'
import { limits } from '../../src/model/limits.ts'
import type { Failure } from '../../src/model/resolution.ts'

/** The work tree's root in these tests. */
export const root = '/home/user/project'

/** Files by path, as text or bytes. */
export type Files = Readonly<Record<string, string | Uint8Array>>

export type Ending =
  | { readonly kind: 'files'; readonly files: Readonly<Record<string, string | null>> }
  | { readonly kind: 'refused'; readonly failures: readonly Failure[] }

const bytesOf = (content: string | Uint8Array): Buffer =>
  typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content)

/** git's blob id of these bytes, in a SHA-1 repository. */
export function blobOf(content: string | Uint8Array): BlobId {
  const bytes = bytesOf(content)
  return blobId(createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'))
}

const stateOf = (content: string | Uint8Array): FileState => ({
  kind: 'file',
  bytes: bytesOf(content),
  executable: false,
  blob: blobOf(content),
})

/** A batch of tool calls of one dialect, with every file read before. */
export const callsOf = (
  dialect: string,
  files: Files,
  calls: readonly { readonly tool: string; readonly input: unknown }[],
): unknown => ({
  version: 1,
  title: 'test',
  dialect,
  reads: Object.entries(files).map(([path, content]) => ({ path, blob: blobOf(content) })),
  edits: calls,
})

/** Submits a batch against files in memory: intake, translation, the systems' limits, the engine. */
export function submit(batch: unknown, files: Files): Ending {
  const parsed = parseBatch(Buffer.from(JSON.stringify(batch), 'utf8'))
  if (parsed.kind === 'refused')
    return { kind: 'refused', failures: [{ ...parsed.refusal, item: 0, path: '' }] }
  const translated = translateBatch(parsed.batch, { root })
  if (translated.kind === 'refused') return translated
  const states = new Map(Object.entries(files).map(([path, content]) => [path, stateOf(content)]))
  const { reads } = parsed.batch
  const failures = profileFailures({ ...translated, files: states, reads })
  if (failures.length > 0) return { kind: 'refused', failures }
  const directory = directoryNamed(translated.edits, files)
  if (directory !== null) return { kind: 'refused', failures: [directory] }
  const resolution = resolve({
    edits: translated.edits,
    files: states,
    reads,
    options: { maxTier: 'unicode', carry: false, fileMaxBytes: limits.fileMaxBytes },
  })
  if (resolution.kind === 'refused') return resolution
  const changed = resolution.files.map(({ path, after }): [string, string | null] => [
    path,
    after.kind === 'absent' ? null : Buffer.from(after.bytes).toString('utf8'),
  ])
  return { kind: 'files', files: Object.fromEntries(changed) }
}

/** What reading the work tree finds out before the engine runs. */
function directoryNamed(edits: readonly Edit[], files: Files): Failure | null {
  const found = edits.find(({ path }) => Object.keys(files).some((file) => file.startsWith(`${path}/`)))
  if (found === undefined) return null
  return { item: found.item, path: found.path, code: 'is-directory', message: 'a directory', data: {} }
}

/** One conformance case that has a batch. */
export interface ConformanceCase {
  readonly id: string
  readonly files: Files
  readonly files_b64?: Readonly<Record<string, string>>
  readonly batch?: unknown
  readonly request?: unknown
  readonly expect: { readonly files?: Readonly<Record<string, string | null>>; readonly refuse?: string }
  readonly also_ok?: readonly {
    readonly files?: Readonly<Record<string, string | null>>
    readonly refuse?: string
  }[]
}

export const conformanceCases = (name: string): readonly ConformanceCase[] =>
  fixture(`conformance/${name}.jsonl`)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ConformanceCase)

export const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8')

/** The files of a case, those given in base64 as bytes. */
export function filesOf(row: ConformanceCase): Files {
  const bytes = Object.entries(row.files_b64 ?? {}).map(([path, text]) => [path, Buffer.from(text, 'base64')])
  return { ...row.files, ...Object.fromEntries(bytes) }
}

/** Whether an ending is one that the case allows: these files as said, every other one unchanged. */
export function isAllowed(row: ConformanceCase, ending: Ending): boolean {
  return [row.expect, ...(row.also_ok ?? [])].some((allowed) => {
    if (allowed.refuse !== undefined) return ending.kind === 'refused'
    if (ending.kind === 'refused') return false
    const expected = new Map(Object.entries(allowed.files ?? {}))
    const after = new Map<string, unknown>([...Object.entries(row.files), ...Object.entries(ending.files)])
    const isAsSaid = [...expected].every(([path, text]) => (after.get(path) ?? null) === text)
    return isAsSaid && Object.keys(ending.files).every((path) => expected.has(path))
  })
}

/** The codes of a refusal, or the text of the files: what a failing test should print. */
export const outcomeOf = (ending: Ending): unknown =>
  ending.kind === 'refused' ? ending.failures.map(({ code, message }) => `${code}: ${message}`) : ending.files

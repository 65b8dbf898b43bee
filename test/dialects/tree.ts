import { translateBatch } from '../../src/dialects/registry.ts'
import { resolve } from '../../src/editing/resolve.ts'
import { parseBatch } from '../../src/intake/batch.ts'
import type { FileState } from '../../src/model/file-state.ts'
import { limits } from '../../src/model/limits.ts'
import type { Failure } from '../../src/model/resolution.ts'
import { blobOf, root } from './in-memory.ts'

export interface TreeFile {
  readonly bytes: Uint8Array
  readonly executable: boolean
}

/** Files by path. */
export type Tree = ReadonlyMap<string, TreeFile>

export type Applied =
  | { readonly kind: 'tree'; readonly tree: Tree }
  | { readonly kind: 'refused'; readonly failures: readonly Failure[] }

/** Applies a batch to a tree in memory: intake, translation, engine, and the rule that no file lies below a file. */
export function applyToTree(batch: unknown, tree: Tree): Applied {
  const parsed = parseBatch(Buffer.from(JSON.stringify(batch), 'utf8'))
  if (parsed.kind === 'refused')
    return { kind: 'refused', failures: [{ ...parsed.refusal, item: 0, path: '' }] }
  const translated = translateBatch(parsed.batch, { root })
  if (translated.kind === 'refused') return translated
  const files = new Map<string, FileState>()
  for (const [path, { bytes, executable }] of tree) {
    files.set(path, { kind: 'file', bytes, executable, blob: blobOf(bytes) })
  }
  const options = { maxTier: 'unicode', carry: false, fileMaxBytes: limits.fileMaxBytes } as const
  const resolution = resolve({ edits: translated.edits, files, reads: parsed.batch.reads, options })
  if (resolution.kind === 'refused') return resolution
  const after = new Map(tree)
  for (const { path, after: state } of resolution.files) {
    if (state.kind === 'absent') after.delete(path)
    else after.set(path, { bytes: state.bytes, executable: state.executable })
  }
  const failure = nested(after)
  return failure === null ? { kind: 'tree', tree: after } : { kind: 'refused', failures: [failure] }
}

/** What writing the tree would find out. */
function nested(tree: Tree): Failure | null {
  for (const path of tree.keys()) {
    const parts = path.split('/')
    const parent = parts.findIndex((_, count) => count > 0 && tree.has(parts.slice(0, count).join('/')))
    if (parent !== -1)
      return { item: 0, path, code: 'is-directory', message: `${path} lies below a file`, data: {} }
  }
  return null
}

/** A tree as plain values, for comparing and for what a failing test prints: long files by their id. */
export const treeValues = (tree: Tree): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...tree]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, { bytes, executable }]) => {
        const text = Buffer.from(bytes).toString('latin1')
        return [
          `${path}${executable ? '*' : ''}`,
          text.length > 1000 ? `${text.length} bytes, ${blobOf(bytes)}` : text,
        ]
      }),
  )

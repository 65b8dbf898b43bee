import { createHash } from 'node:crypto'
import { resolve } from '../../src/editing/resolve.ts'
import type { Edit, Tier } from '../../src/model/edit.ts'
import type { FileState, ReadRecord } from '../../src/model/file-state.ts'
import { type BlobId, blobId } from '../../src/model/ids.ts'
import type { Failure, ItemResult, Remark, Resolution } from '../../src/model/resolution.ts'

/** An edit without the fields that every test would repeat. */
export type Draft = Edit extends infer E ? (E extends Edit ? Loose<E> : never) : never
type Loose<E extends Edit> = Omit<E, 'item' | 'step' | 'path' | Defaulted<E>> &
  Partial<Pick<E, 'item' | 'step' | 'path' | Defaulted<E>>>
type Defaulted<E> = Extract<keyof E, 'all' | 'expectedOrder' | 'isText' | 'mode'>

export interface Options {
  readonly maxTier?: Tier
  readonly carry?: boolean
  readonly reads?: readonly ReadRecord[]
  readonly fileMaxBytes?: number
}

export type Content = string | Uint8Array

export const bytesOf = (content: Content): Buffer =>
  typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content)

export function blobOf(content: Content): BlobId {
  const bytes = bytesOf(content)
  return blobId(createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'))
}

export const fileOf = (content: Content, executable = false): FileState => ({
  kind: 'file',
  bytes: bytesOf(content),
  executable,
  blob: blobOf(content),
})

/** Fills in: one item for each edit, step 0, path `a.txt`. */
export const complete = (edits: readonly Draft[]): readonly Edit[] =>
  edits.map(
    (edit, index) =>
      ({
        item: index,
        step: 0,
        path: 'a.txt',
        ...(edit.op === 'replace' ? { all: false } : {}),
        ...(edit.op === 'lines' ? { expectedOrder: 'in-order' } : {}),
        ...(edit.op === 'write' ? { isText: true, mode: 'either' } : {}),
        ...edit,
      }) as Edit,
  )

/** Resolves edits against files; a file given as content is not executable. */
export function submit(
  files: Readonly<Record<string, Content | FileState>>,
  edits: readonly Draft[],
  options: Options = {},
): Resolution {
  const states = Object.entries(files).map(([path, content]): [string, FileState] => [
    path,
    typeof content === 'string' || content instanceof Uint8Array ? fileOf(content) : content,
  ])
  return resolve({
    edits: complete(edits),
    files: new Map(states),
    reads: options.reads ?? [],
    options: {
      maxTier: options.maxTier ?? 'unicode',
      carry: options.carry ?? false,
      fileMaxBytes: options.fileMaxBytes ?? 1_000_000,
    },
  })
}

/** The files that changed, as text (Latin-1 where not UTF-8); null = gone. Throws the failures of a refusal. */
export function filesAfter(resolution: Resolution): Record<string, string | null> {
  if (resolution.kind === 'refused') throw new Error(JSON.stringify(resolution.failures, null, 2))
  return Object.fromEntries(
    resolution.files.map(({ path, after }) => [path, after.kind === 'absent' ? null : textOf(after.bytes)]),
  )
}

function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes)
  const text = buffer.toString('utf8')
  return Buffer.from(text, 'utf8').equals(buffer) ? text : `latin1:${buffer.toString('latin1')}`
}

/** `a.txt` after edits of it alone. */
export function edited(
  content: Content,
  edits: readonly Draft[],
  options?: Options,
): string | null | undefined {
  return filesAfter(submit({ 'a.txt': content }, edits, options))['a.txt']
}

export function failuresOf(resolution: Resolution): readonly Failure[] {
  if (resolution.kind === 'resolved') throw new Error(`resolved: ${JSON.stringify(filesAfter(resolution))}`)
  return resolution.failures
}

/** The first failure of edits of `a.txt`. */
export function refused(content: Content, edits: readonly Draft[], options?: Options): Failure {
  const [first] = failuresOf(submit({ 'a.txt': content }, edits, options))
  if (first === undefined) throw new Error('a refusal without a failure')
  return first
}

export const codes = (resolution: Resolution): readonly string[] =>
  failuresOf(resolution).map(({ item, code }) => `${item} ${code}`)

export function resultsOf(resolution: Resolution): readonly ItemResult[] {
  if (resolution.kind === 'refused') throw new Error(JSON.stringify(resolution.failures, null, 2))
  return resolution.results
}

export function remarksOf(resolution: Resolution): readonly Remark[] {
  if (resolution.kind === 'refused') throw new Error(JSON.stringify(resolution.failures, null, 2))
  return resolution.remarks
}

export const replace = (
  old: string,
  fresh: string,
  more: Partial<Extract<Draft, { op: 'replace' }>> = {},
): Draft => ({
  op: 'replace',
  old,
  new: fresh,
  ...more,
})

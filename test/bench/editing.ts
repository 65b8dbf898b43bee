/**
 * Measures the engine in one run, as ratios (DESIGN.md section 16): many replaces of a big file, one that stands nowhere,
 * the parsing and applying of diffs of many files, and batches that are made to cost much. Linear is a ratio of what
 * the size grew by.
 *
 *     npm run bench -- editing [rounds, default 3]
 */
import { profileFailures } from '../../src/dialects/profile-rules.ts'
import { translateBatch } from '../../src/dialects/registry.ts'
import { resolve } from '../../src/editing/resolve.ts'
import { parseBatch } from '../../src/intake/batch.ts'
import type { FileState } from '../../src/model/file-state.ts'
import { limits } from '../../src/model/limits.ts'
import { type Content, fileOf } from '../editing/submit.ts'
import { hostileShapes } from '../property/hostile-shapes.ts'

const rounds = Number(process.argv[2] ?? 3)
const MEGABYTE = 1_000_000

type Files = Readonly<Record<string, Content>>

/** Milliseconds of processor time of the quickest round: what else runs on the machine counts little. */
function measured(task: () => string): { readonly ms: number; readonly end: string } {
  let best = Number.POSITIVE_INFINITY
  let end = ''
  for (let round = 0; round < rounds; round++) {
    const begun = process.cpuUsage()
    end = task()
    const { user, system } = process.cpuUsage(begun)
    best = Math.min(best, (user + system) / 1000)
    if (best > 2000) break
  }
  return { ms: best, end }
}

/** The pure part of a proposal: intake, translation, the systems' limits, the engine. */
function propose(batch: Uint8Array, files: ReadonlyMap<string, FileState>): string {
  const parsed = parseBatch(batch)
  if (parsed.kind === 'refused') return parsed.refusal.code
  const translated = translateBatch(parsed.batch, { root: '/r' })
  if (translated.kind === 'refused') return translated.failures[0]?.code ?? ''
  const { reads } = parsed.batch
  const failures = profileFailures({ ...translated, files, reads })
  if (failures.length > 0) return failures[0]?.code ?? ''
  const options = { maxTier: 'unicode', carry: false, fileMaxBytes: limits.fileMaxBytes } as const
  const resolution = resolve({ edits: translated.edits, files, reads, options })
  return resolution.kind === 'resolved' ? 'resolved' : (resolution.failures[0]?.code ?? '')
}

const prepared = (batch: object, files: Files) => ({
  bytes: Buffer.from(JSON.stringify({ version: 1, title: 'bench', ...batch })),
  states: new Map(Object.entries(files).map(([path, content]) => [path, fileOf(content)])),
})

function proposal(batch: object, files: Files) {
  const { bytes, states } = prepared(batch, files)
  return measured(() => propose(bytes, states))
}

const say = (text: string) => process.stdout.write(`${text}\n`)

/** Prints the times of growing sizes, and by how much each took longer than size would have it. */
function growth(
  name: string,
  sizes: readonly number[],
  take: (size: number) => { readonly ms: number; readonly end: string },
) {
  const taken = sizes.map((size) => ({ size, ...take(size) }))
  const [first] = taken
  const last = taken[taken.length - 1]
  if (first === undefined || last === undefined) return
  const grown = last.ms / Math.max(first.ms, 0.1) / (last.size / first.size)
  const each = taken.map(({ size, ms }) => `${size}: ${ms.toFixed(0)} ms`).join(', ')
  say(`${name}: ${each}; time grew ${grown.toFixed(2)} x as fast as size (${last.end})`)
}

const codeFile = (bytes: number): string => {
  const lines: string[] = []
  for (let length = 0, i = 0; length < bytes; i++) {
    const line = `  const value${i} = compute(${i * 7919}, "text ${i % 97}")\n`
    lines.push(line)
    length += line.length
  }
  return lines.join('')
}

function manyReplaces(count: number, bytes: number) {
  const text = codeFile(bytes)
  const step = Math.floor(text.split('\n').length / count)
  const edits = Array.from({ length: count }, (_, i) => ({
    op: 'replace',
    path: 'a',
    old: `value${i * step} = compute`,
    new: `renamed${i} = other`,
  }))
  return proposal({ edits }, { a: text })
}

function failingReplace(bytes: number) {
  const text = codeFile(bytes)
  const middle = text
    .slice(bytes / 2)
    .split('\n')
    .slice(1, 4)
    .join('\n')
  return proposal(
    { edits: [{ op: 'replace', path: 'a', old: middle.replace('compute', 'kompute'), new: 'x' }] },
    { a: text },
  )
}

function diffOfFiles(count: number) {
  const body = Array.from({ length: 30 }, (_, i) => `line ${i}\n`).join('')
  const files = Object.fromEntries(Array.from({ length: count }, (_, i) => [`src/f${i}.ts`, body]))
  const text = Object.keys(files)
    .map(
      (path) =>
        `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -9,3 +9,3 @@\n line 8\n-line 9\n+LINE 9\n line 10\n`,
    )
    .join('')
  return { batch: { edits: [{ op: 'diff', text }] }, files }
}

function main(): void {
  growth('10,000 replaces in a file of so many bytes', [MEGABYTE, 10 * MEGABYTE], (bytes) =>
    manyReplaces(10_000, bytes),
  )
  growth('so many replaces in 10 MB', [2000, 10_000], (count) => manyReplaces(count, 10 * MEGABYTE))
  growth(
    'one replace that stands nowhere, with the nearest place, in so many bytes',
    [MEGABYTE, 10 * MEGABYTE],
    failingReplace,
  )
  growth('a diff of so many files', [500, 5000], (count) => {
    const { batch, files } = diffOfFiles(count)
    return proposal(batch, files)
  })
  for (const { name, size, make, ends } of hostileShapes) {
    growth(`hostile, ${name}`, [size, 2 * size], (n) => {
      const made = make(n)
      const taken = proposal(made.batch, made.files)
      return taken.end === ends ? taken : { ...taken, end: `${taken.end}, not ${ends}` }
    })
  }
}

main()

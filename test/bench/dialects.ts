/**
 * Measures the translation of what each system sends, in one run: time for each call, and how it grows with the number of
 * calls and with the size of one text.
 *
 *     npm run bench -- dialects [calls, default 10000]
 */
import { translateBatch } from '../../src/dialects/registry.ts'
import { parseBatch } from '../../src/intake/batch.ts'

const calls = Number(process.argv[2] ?? 10_000)

const text = 'const a = 1\nconst b = 2\n'
const pair = { old_string: text, new_string: `${text}const c = 3\n` }
const envelope = (hunks: number): string =>
  `*** Begin Patch\n*** Update File: a.ts\n${'@@ f\n a\n-b\n+c\n'.repeat(hunks)}*** End Patch\n`
const diff = (hunks: number): string =>
  `--- a/a.ts\n+++ b/a.ts\n${Array.from({ length: hunks }, (_, i) => `@@ -${3 * i + 1},3 +${3 * i + 1},3 @@\n a\n-b\n+c\n d\n`).join('')}`
const blocks = (count: number): string =>
  'a.ts\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n'.repeat(count)

/** One call of each system. */
const tools: Readonly<Record<string, object>> = {
  mino: { tool: 'edit_file', input: { path: 'a.ts', ...pair } },
  zapmyco: { tool: 'file_edit', input: { file_path: 'a.ts', ...pair } },
  'agent-zero': {
    tool: 'text_editor_remote',
    input: { action: 'patch', path: 'a.ts', edits: [{ from: 1, to: 2, content: text }] },
  },
  codex: { tool: 'apply_patch', input: { input: envelope(1) } },
  'claude-code': { tool: 'Edit', input: { file_path: 'a.ts', ...pair } },
  'anthropic-editor': {
    tool: 'str_replace_based_edit_tool',
    input: { command: 'str_replace', path: 'a.ts', old_str: text, new_str: 'x' },
  },
  'mcp-filesystem': { tool: 'edit_file', input: { path: 'a.ts', edits: [{ oldText: text, newText: 'x' }] } },
  gemini: { tool: 'replace', input: { file_path: 'a.ts', ...pair } },
}

/** One text of so many parts. */
const texts: Readonly<Record<string, (parts: number) => object>> = {
  envelope: (parts) => ({ op: 'patch', text: envelope(parts) }),
  diff: (parts) => ({ op: 'diff', text: diff(parts) }),
  blocks: (parts) => ({ op: 'blocks', text: blocks(parts) }),
}

/** Milliseconds of processor time for intake and translation, of the quickest of three rounds. */
function measured(dialect: string, edits: readonly object[]): number {
  const bytes = Buffer.from(JSON.stringify({ version: 1, title: 'bench', dialect, edits }))
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    const begun = process.cpuUsage()
    const parsed = parseBatch(bytes)
    if (parsed.kind === 'refused') throw new Error(parsed.refusal.message)
    const made = translateBatch(parsed.batch, { root: '/r' })
    if (made.kind === 'refused') throw new Error(made.failures[0]?.message)
    const { user, system } = process.cpuUsage(begun)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}

function report(name: string, size: number, take: (size: number) => number): void {
  const [half, whole] = [take(size / 2), take(size)]
  const each = (1000 * whole) / size
  process.stdout.write(
    `${name}: ${size} in ${whole.toFixed(0)} ms, ${each.toFixed(1)} µs each; time grew ${(whole / Math.max(half, 0.1) / 2).toFixed(2)} x as fast as size\n`,
  )
}

for (const [dialect, call] of Object.entries(tools))
  report(`calls of ${dialect}`, calls, (count) =>
    measured(
      dialect,
      Array.from({ length: count }, () => call),
    ),
  )
for (const [name, make] of Object.entries(texts))
  report(`parts of one ${name}`, 2 * calls, (parts) => measured('auto', [make(parts)]))

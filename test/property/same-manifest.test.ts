import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineHunks } from '../../src/editing/diff-lines.ts'
import { blobOf } from '../dialects/in-memory.ts'
import { applyToTree, type Tree, treeValues } from '../dialects/tree.ts'
import { pureRuns } from '../helpers/runs.ts'

/**
 * One edit, said in every system's own words. All that take it must come to the same tree: the same paths, bytes and
 * modes, which is what a manifest holds.
 */
interface Wish {
  readonly lines: readonly string[]
  /** Lines that are replaced, from 0; the end is exclusive. */
  readonly from: number
  readonly to: number
  readonly fresh: readonly string[]
  readonly ending: '\n' | '\r\n'
  readonly isTerminated: boolean
}

const path = 'src/a.ts'
const word = fc.constantFrom('alpha', 'const beta = 1', '  gamma()', '\tdelta;', 'é ü', '$& $1', '// ---')

const wish: fc.Arbitrary<Wish> = fc
  .record({
    words: fc.array(word, { minLength: 4, maxLength: 12 }),
    from: fc.nat(),
    count: fc.integer({ min: 1, max: 3 }),
    fresh: fc.array(word, { maxLength: 4 }),
    ending: fc.constantFrom('\n' as const, '\n' as const, '\r\n' as const),
    isTerminated: fc.constantFrom(true, true, false),
  })
  .map(({ words, from: drawn, count, fresh, ending, isTerminated }) => {
    const lines = words.map((text, index) => `${text} ${index + 100}`)
    const from = drawn % lines.length
    const to = Math.min(from + count, lines.length)
    // What goes to the end of an unterminated file is no line of its own there: a line more or less is another wish.
    const last = to === lines.length && !isTerminated ? Math.max(1, fresh.length) : 0
    const added = fresh.map((text, index) => `${text} new ${index}`)
    return { lines, from, to, fresh: added.length < last ? ['x new'] : added, ending, isTerminated }
  })

/** A text of lines in LF: whole lines, but for the last one of an unterminated file. */
function textOf({ isTerminated, lines }: Wish, part: readonly string[], to: number): string {
  const joined = part.join('\n')
  return part.length === 0 || (to === lines.length && !isTerminated) ? joined : `${joined}\n`
}

const inFile = ({ ending }: Wish, text: string): string => text.split('\n').join(ending)

const textBefore = (asked: Wish): string => inFile(asked, textOf(asked, asked.lines, asked.lines.length))
const textAfter = (asked: Wish): string => {
  const { lines, from, to, fresh } = asked
  return inFile(asked, textOf(asked, [...lines.slice(0, from), ...fresh, ...lines.slice(to)], lines.length))
}

type Call = readonly [tool: string, input: object]
const call = (dialect: string, ...[tool, input]: Call) => ({ dialect, edits: [{ tool, input }] })

/** The wish as text to find and text to put there. */
function byText(asked: Wish): Readonly<Record<string, object>> {
  const { lines, from, to, fresh } = asked
  const old = textOf(asked, lines.slice(from, to), to)
  const text = textOf(asked, fresh, to)
  const file = { file_path: path }
  const pair = { old_string: old, new_string: text }
  return {
    canonical: { edits: [{ op: 'replace', path, old, new: text }] },
    mino: call('mino', 'edit_file', {
      path,
      old_string: inFile(asked, old),
      new_string: inFile(asked, text),
    }),
    zapmyco: call('zapmyco', 'file_edit', { ...file, ...pair }),
    'agent-zero': call('agent-zero', 'text_editor_remote', {
      action: 'patch',
      path,
      old_text: old,
      new_text: text,
    }),
    'claude-code Edit': call('claude-code', 'Edit', { ...file, ...pair }),
    'claude-code MultiEdit': call('claude-code', 'MultiEdit', { ...file, edits: [pair] }),
    'anthropic-editor': call('anthropic-editor', 'str_replace_based_edit_tool', {
      command: 'str_replace',
      path,
      old_str: old,
      new_str: text,
    }),
    'mcp-filesystem': call('mcp-filesystem', 'edit_file', { path, edits: [{ oldText: old, newText: text }] }),
    gemini: call('gemini', 'replace', { ...file, ...pair }),
    write: { edits: [{ op: 'write', path, content: textAfter(asked), mode: 'overwrite' }] },
  }
}

/** The wish by line numbers, as quoted lines, and as patches. */
function byLines(asked: Wish): Readonly<Record<string, object>> {
  const { lines, from, to, fresh } = asked
  const old = lines.slice(from, to)
  const text = textOf(asked, fresh, to)
  const [first, last] = [Math.max(0, from - 3), Math.min(lines.length, to + 3)]
  const body = [
    ...lines.slice(first, from).map((line) => ` ${line}`),
    ...old.map((line) => `-${line}`),
    ...fresh.map((line) => `+${line}`),
    ...lines.slice(to, last).map((line) => ` ${line}`),
  ]
  const patch = ['*** Begin Patch', `*** Update File: ${path}`, '@@', ...body, '*** End Patch', '']
  const wide = [...lines.slice(first, from), ...fresh, ...lines.slice(to, last)]
  const block = ['<<<<<<< SEARCH', ...old, '=======', ...fresh, '>>>>>>> REPLACE', '']
  return {
    lines: {
      edits: [
        {
          op: 'lines',
          path,
          from: from + 1,
          to: to,
          content: fresh.length === 0 ? null : text,
          blob: blobOf(textBefore(asked)),
        },
      ],
    },
    'zapmyco lines': call('zapmyco', 'file_edit', {
      file_path: path,
      start_line: first + 1,
      end_line: last,
      expected: lines.slice(first, last).join('\n'),
      new_content: textOf(asked, wide, last),
    }),
    'agent-zero edits': call('agent-zero', 'text_editor_remote', {
      action: 'patch',
      path,
      edits: [{ from: from + 1, to, content: text }],
    }),
    'agent-zero patch': call('agent-zero', 'text_editor_remote', {
      action: 'patch',
      path,
      patch_text: patch.join('\n'),
    }),
    codex: call('codex', 'apply_patch', { input: patch.join('\n') }),
    'codex shell': call('codex', 'shell', {
      command: ['bash', '-lc', `apply_patch <<'EOF'\n${patch.join('\n')}EOF\n`],
    }),
    patch: { edits: [{ op: 'patch', text: patch.join('\n') }] },
    blocks: { edits: [{ op: 'blocks', text: `${path}\n${block.join('\n')}` }] },
    diff: { edits: [{ op: 'diff', text: diffOf(textBefore(asked), textAfter(asked)) }] },
  }
}

const SIGNS = { context: ' ', remove: '-', add: '+' } as const

function diffOf(old: string, fresh: string): string {
  const hunks = lineHunks(Buffer.from(old), Buffer.from(fresh), 3).map(
    ({ oldStart, oldCount, newStart, newCount, lines }) => {
      const body = lines.map(
        ({ kind, text, unterminated }) =>
          `${SIGNS[kind]}${Buffer.from(text)}\n${unterminated === true ? '\\ No newline at end of file\n' : ''}`,
      )
      return `@@ -${oldStart},${oldCount} +${newStart},${newCount} @@\n${body.join('')}`
    },
  )
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${hunks.join('')}`
}

function treeAfter(request: object, tree: Tree): unknown {
  const reads = [...tree].map(([at, { bytes }]) => ({ path: at, blob: blobOf(bytes) }))
  const made = applyToTree({ version: 1, title: 't', reads, ...request }, tree)
  return made.kind === 'tree'
    ? treeValues(made.tree)
    : made.failures.map(({ code, message }) => `${code}: ${message}`)
}

/** Two systems' words for one thing come to the tree expected, and so to the same. */
function expectSame(
  requests: Readonly<Record<string, object>>,
  which: readonly [number, number],
  { tree, expected }: { readonly tree: Tree; readonly expected: Tree },
): void {
  const names = Object.keys(requests)
  const wanted = treeValues(expected)
  for (const index of which) {
    const name = names[index % names.length] ?? ''
    expect({ [name]: treeAfter(requests[name] ?? {}, tree) }).toEqual({ [name]: wanted })
  }
}

const two = fc.tuple(fc.nat(), fc.nat())

describe('the same edit in the words of two systems', () => {
  test('gives the same tree', () => {
    fc.assert(
      fc.property(wish, fc.boolean(), two, (asked, executable, which) => {
        fc.pre(textBefore(asked) !== textAfter(asked))
        const tree: Tree = new Map([[path, { bytes: Buffer.from(textBefore(asked)), executable }]])
        const expected: Tree = new Map([[path, { bytes: Buffer.from(textAfter(asked)), executable }]])
        expectSame({ ...byText(asked), ...byLines(asked) }, which, { tree, expected })
      }),
      { numRuns: pureRuns(1000) },
    )
  })

  test('that makes a file gives the same tree', () => {
    const content = fc.array(word, { minLength: 1, maxLength: 5 }).map((lines) => `${lines.join('\n')}\n`)
    fc.assert(
      fc.property(content, two, (text, which) => {
        const added = text
          .slice(0, -1)
          .split('\n')
          .map((line) => `+${line}`)
        const count = added.length
        const requests: Readonly<Record<string, object>> = {
          canonical: { edits: [{ op: 'write', path, content: text, mode: 'create' }] },
          mino: call('mino', 'write_file', { path, content: text, mode: 'create' }),
          zapmyco: call('zapmyco', 'file_write', { file_path: path, content: text }),
          'agent-zero': call('agent-zero', 'text_editor_remote', { action: 'write', path, content: text }),
          'claude-code': call('claude-code', 'Write', { file_path: path, content: text }),
          'anthropic-editor': call('anthropic-editor', 'str_replace_editor', {
            command: 'create',
            path,
            file_text: text,
          }),
          'mcp-filesystem': call('mcp-filesystem', 'write_file', { path, content: text }),
          gemini: call('gemini', 'write_file', { file_path: path, content: text }),
          'gemini replace': call('gemini', 'replace', { file_path: path, old_string: '', new_string: text }),
          codex: call('codex', 'apply_patch', {
            input: ['*** Begin Patch', `*** Add File: ${path}`, ...added, '*** End Patch'].join('\n'),
          }),
          blocks: {
            edits: [{ op: 'blocks', text: `${path}\n<<<<<<< SEARCH\n=======\n${text}>>>>>>> REPLACE\n` }],
          },
          diff: {
            edits: [
              {
                op: 'diff',
                text: `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${count} @@\n${added.join('\n')}\n`,
              },
            ],
          },
        }
        const expected: Tree = new Map([[path, { bytes: Buffer.from(text), executable: false }]])
        expectSame(requests, which, { tree: new Map(), expected })
      }),
      { numRuns: pureRuns(300) },
    )
  })

  test('that moves or removes a file gives the same tree', () => {
    const content = fc.array(word, { minLength: 1, maxLength: 5 }).map((lines) => `${lines.join('\n')}\n`)
    const to = 'lib/b c.ts'
    fc.assert(
      fc.property(content, fc.boolean(), two, (text, executable, which) => {
        const tree: Tree = new Map([[path, { bytes: Buffer.from(text), executable }]])
        const removed = text
          .slice(0, -1)
          .split('\n')
          .map((line) => `-${line}`)
        const rename = `diff --git a/${path} b/${to}\nsimilarity index 100%\nrename from ${path}\nrename to ${to}\n`
        const moves = {
          canonical: { edits: [{ op: 'move', path, to }] },
          'mcp-filesystem': call('mcp-filesystem', 'move_file', { source: path, destination: to }),
          codex: call('codex', 'apply_patch', {
            input: `*** Begin Patch\n*** Update File: ${path}\n*** Move to: ${to}\n*** End Patch`,
          }),
          diff: { edits: [{ op: 'diff', text: rename }] },
        }
        const deletions = {
          canonical: { edits: [{ op: 'delete', path }] },
          codex: call('codex', 'apply_patch', {
            input: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch`,
          }),
          diff: {
            edits: [
              {
                op: 'diff',
                text: `--- a/${path}\n+++ /dev/null\n@@ -1,${removed.length} +0,0 @@\n${removed.join('\n')}\n`,
              },
            ],
          },
        }
        const moved: Tree = new Map([[to, { bytes: Buffer.from(text), executable }]])
        if (which[0] % 2 === 0) expectSame(moves, which, { tree, expected: moved })
        else expectSame(deletions, which, { tree, expected: new Map() })
      }),
      { numRuns: pureRuns(300) },
    )
  })
})

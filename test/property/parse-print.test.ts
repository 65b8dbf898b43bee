import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parsePatchText } from '../../src/dialects/agent-zero-patch-text.ts'
import { parseBlocks } from '../../src/dialects/blocks-parse.ts'
import { parseEnvelope } from '../../src/dialects/envelope-parse.ts'
import { parseDiff } from '../../src/dialects/unified-diff-parse.ts'
import { parseBatch } from '../../src/intake/batch.ts'
import type { HunkLine } from '../../src/model/edit.ts'
import { encodeBase85 } from '../dialects/base85.ts'
import { pureRuns } from '../helpers/runs.ts'

/** Each form of text: a request made at random, printed by the rules of the form, read again, and compared. */

const word = fc.constantFrom(
  'a',
  'def f(x):',
  '  b',
  '\tc ',
  '',
  ' ',
  '@@ -1 +1 @@',
  '*** End Patch',
  '--- a/x',
  '+++ b/x',
  '-x',
  '+y',
  '\\ No newline',
  'é',
  '“q”',
  '<<<<<<<',
  '=====',
  '```',
  'diff --git a/x b/x',
  '$&',
)
const SIGNS = { context: ' ', remove: '-', add: '+' } as const
type Kind = keyof typeof SIGNS

interface Line {
  readonly kind: Kind
  readonly text: string
}

/** Lines of a hunk of which at least one is old and one is not context. */
const body = fc
  .tuple(
    fc.array(fc.record({ kind: fc.constantFrom<Kind[]>('context', 'remove', 'add'), text: word }), {
      maxLength: 6,
    }),
    word,
    fc.boolean(),
  )
  .map(([lines, text, removes]): readonly Line[] => [
    ...lines,
    { kind: removes ? 'remove' : 'context', text },
    { kind: 'add', text: `new ${text}` },
  ])
const printed = (lines: readonly Line[]): string =>
  lines.map(({ kind, text }) => `${SIGNS[kind]}${text}\n`).join('')
const readBack = (lines: readonly HunkLine[]): readonly Line[] =>
  lines.map(({ kind, text }) => ({ kind, text: Buffer.from(text).toString('utf8') }))

const anchor = fc.constantFrom('def f(x):', 'class A:', '  indented', 'é', '-x', '+++')
const path = fc.constantFrom('a.txt', 'src/b c.ts', 'é/ü', '-x', 'deep/er/file')

describe('an envelope', () => {
  const hunk = fc.record({
    anchors: fc.array(anchor, { maxLength: 2 }),
    lines: body,
    endOfFile: fc.boolean(),
  })
  const part = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), path, lines: fc.array(word, { maxLength: 4 }) }),
    fc.record({ kind: fc.constant('delete' as const), path }),
    fc.record({
      kind: fc.constant('update' as const),
      path,
      to: fc.option(path),
      hunks: fc.array(hunk, { minLength: 1, maxLength: 3 }),
    }),
  )
  type Part = typeof part extends fc.Arbitrary<infer T> ? T : never

  const hunkText = ({
    anchors,
    lines,
    endOfFile,
  }: typeof hunk extends fc.Arbitrary<infer T> ? T : never): string =>
    `${anchors.length === 0 ? '@@\n' : anchors.map((each) => `@@ ${each}\n`).join('')}${printed(lines)}${endOfFile ? '*** End of File\n' : ''}`

  function print(each: Part): string {
    if (each.kind === 'delete') return `*** Delete File: ${each.path}\n`
    if (each.kind === 'add')
      return `*** Add File: ${each.path}\n${each.lines.map((line) => `+${line}\n`).join('')}`
    const move = each.to === null ? '' : `*** Move to: ${each.to}\n`
    return `*** Update File: ${each.path}\n${move}${each.hunks.map(hunkText).join('')}`
  }

  test('that is printed and read is the same request, in LF and in CRLF', () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), fc.boolean(), (parts, isCrlf) => {
        const text = `*** Begin Patch\n${parts.map(print).join('')}*** End Patch\n`
        const read = parseEnvelope(isCrlf ? text.replaceAll('\n', () => '\r\n') : text)
        if (read.kind === 'fault') throw new Error(`${read.message}\n${text}`)
        const again = read.parts.map((each) => {
          if (each.kind === 'delete') return { kind: each.kind, path: each.path }
          if (each.kind === 'add')
            return { kind: each.kind, path: each.path, lines: each.content.split('\n').slice(0, -1) }
          const hunks = each.hunks.map(({ anchors, lines, endOfFile }) => ({
            anchors,
            lines: readBack(lines),
            endOfFile,
          }))
          return { kind: each.kind, path: each.path, to: each.to, hunks }
        })
        expect(again).toEqual(parts)
      }),
      { numRuns: pureRuns(1000) },
    )
  })
})

describe('a context patch of Agent Zero', () => {
  const hunk = fc.record({ anchor, lines: body })
  // Outer blank lines are no part of it, and a line that begins with three stars is none of a hunk.
  const hunks = fc.array(hunk, { minLength: 1, maxLength: 4 })

  test('that is printed and read is the same request, with and without its envelope', () => {
    fc.assert(
      fc.property(hunks, fc.option(path), (asked, header) => {
        const inner = asked.map(({ anchor: each, lines }) => `@@ ${each}\n${printed(lines)}`).join('')
        const text =
          header === null ? inner : `*** Begin Patch\n*** Update File: ${header}\n${inner}*** End Patch\n`
        const read = parsePatchText(text)
        if (read.kind === 'refused') throw new Error(`${JSON.stringify(read.faults)}\n${text}`)
        expect(read.headerPath).toBe(header)
        const again = read.hunks.map(({ anchors, lines }) => ({ anchors, lines: readBack(lines) }))
        expect(again).toEqual(asked.map(({ anchor: each, lines }) => ({ anchors: [each.trim()], lines })))
      }),
      { numRuns: pureRuns(1000) },
    )
  })
})

describe('a list of SEARCH/REPLACE blocks', () => {
  const marked = fc.constantFrom(
    '<<<<<<< SEARCH',
    '=======',
    '>>>>>>> REPLACE',
    ':start_line:3',
    '------- SEARCH',
  )
  const side = fc.array(fc.oneof({ weight: 4, arbitrary: word }, marked), { maxLength: 4 })
  const block = fc.record({
    startLine: fc.option(fc.integer({ min: 1, max: 99 })),
    search: side,
    replace: side,
  })
  const form = fc.record({
    sign: fc.constantFrom('<', '-'),
    length: fc.integer({ min: 5, max: 9 }),
    isCrlf: fc.boolean(),
    isFenced: fc.boolean(),
  })

  /** A content line that would be a marker, or would be taken for one that lacks something. */
  const escaped = (line: string): string =>
    /^(?:<{7}|={7}|>{7}|-{7}|\+{7}|:start_line:|:end_line:)/.test(line) ? `\\${line}` : line

  test('that is printed and read is the same request, in the forms of aider, Cline and Roo', () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 4 }), path, form, (blocks, name, how) => {
        const { sign, length, isCrlf, isFenced } = how
        // Underlines as long as the divider cannot be told from it.
        fc.pre(length !== 5 || !JSON.stringify(blocks).includes('====='))
        const list = blocks.map(({ startLine, search, replace }, index) => [
          ...(index === 0 ? [name] : []),
          ...(isFenced ? ['```'] : []),
          `${sign.repeat(length)} SEARCH`,
          ...(startLine === null ? [] : [`:start_line:${startLine}`, '-------']),
          ...search.map(escaped),
          '='.repeat(length),
          ...replace.map(escaped),
          `${(sign === '<' ? '>' : '+').repeat(length)} REPLACE`,
          ...(isFenced ? ['```'] : []),
        ])
        const text = list
          .flat()
          .map((line) => `${line}${isCrlf ? '\r\n' : '\n'}`)
          .join('')
        const read = parseBlocks(text, false)
        if (read.kind === 'fault') throw new Error(`${read.message}\n${text}`)
        expect(read.blocks.map(({ startLine, search, replace }) => ({ startLine, search, replace }))).toEqual(
          blocks,
        )
        expect(read.blocks[0]?.name).toMatchObject({ kind: 'name', name })
      }),
      { numRuns: pureRuns(1000) },
    )
  })
})

describe('a unified diff', () => {
  interface DiffLine extends Line {
    readonly unterminated?: true
  }

  const hunk = fc.record({
    oldStart: fc.integer({ min: 1, max: 900 }),
    newStart: fc.integer({ min: 1, max: 900 }),
    lines: body,
    isOpen: fc.boolean(),
  })
  const mode = fc.constantFrom(0o100644, 0o100755)
  const id = fc.constantFrom('0123456', 'a'.repeat(40), 'b'.repeat(64))
  const section = fc.record({
    path,
    oldMode: mode,
    newMode: mode,
    index: fc.option(fc.tuple(id, id)),
    content: fc.oneof(
      fc.array(hunk, { minLength: 1, maxLength: 3 }),
      fc.uint8Array({ minLength: 1, maxLength: 60 }),
    ),
  })
  type Section = typeof section extends fc.Arbitrary<infer T> ? T : never

  /** Both last lines, old and new, lack their newline. */
  function marked(lines: readonly Line[], isOpen: boolean): readonly DiffLine[] {
    if (!isOpen) return lines
    const lastOld = lines.findLastIndex(({ kind }) => kind !== 'add')
    const lastNew = lines.findLastIndex(({ kind }) => kind !== 'remove')
    const isLast = (index: number, kind: Kind): boolean => {
      if (kind === 'context') return index === lastOld && index === lastNew
      return index === (kind === 'remove' ? lastOld : lastNew)
    }
    return lines.map((line, index) => (isLast(index, line.kind) ? { ...line, unterminated: true } : line))
  }

  function hunkText({
    oldStart,
    newStart,
    lines,
    isOpen,
  }: typeof hunk extends fc.Arbitrary<infer T> ? T : never) {
    const old = lines.filter(({ kind }) => kind !== 'add').length
    const fresh = lines.filter(({ kind }) => kind !== 'remove').length
    const text = marked(lines, isOpen).map(
      ({ kind, text: line, unterminated }) =>
        `${SIGNS[kind]}${line}\n${unterminated === true ? '\\ No newline at end of file\n' : ''}`,
    )
    return `@@ -${oldStart},${old} +${newStart},${fresh} @@ heading\n${text.join('')}`
  }

  const quoted = (name: string): string => {
    const bytes = [...Buffer.from(name)]
    const isPlain = bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
    const escaped = (byte: number) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
    return isPlain ? name : `"${bytes.map(escaped).join('')}"`
  }

  function print({ path: name, oldMode, newMode, index, content }: Section): string {
    const modes =
      oldMode === newMode ? '' : `old mode ${oldMode.toString(8)}\nnew mode ${newMode.toString(8)}\n`
    const ids = index === null ? '' : `index ${index[0]}..${index[1]}\n`
    const head = `diff --git ${quoted(`a/${name}`)} ${quoted(`b/${name}`)}\n${modes}${ids}`
    if (content instanceof Uint8Array) {
      const data = encodeBase85(deflateSync(content)).join('\n')
      return `${head}GIT binary patch\nliteral ${content.length}\n${data}\n\n`
    }
    return `${head}--- ${quoted(`a/${name}`)}\n+++ ${quoted(`b/${name}`)}\n${content.map(hunkText).join('')}`
  }

  const bytesName = (name: string): string => Buffer.from(name).toString('latin1')

  test('that is printed and read is the same request', () => {
    fc.assert(
      fc.property(fc.array(section, { minLength: 1, maxLength: 4 }), (sections) => {
        // What reads like a hunk's line behind its last one is refused: a name like `-x` never stands there.
        const text = sections.map(print).join('')
        const read = parseDiff(Buffer.from(text))
        if (read.kind === 'fault') throw new Error(`line ${read.line}: ${read.message}\n${text}`)
        const again = read.sections.map(({ header, hunks, binary }) => ({
          header:
            header.kind === 'git'
              ? { minus: header.minus, old: header.index?.old, mode: header.newMode }
              : header,
          content:
            binary === null
              ? hunks.map(({ oldStart, newStart, lines }) => ({
                  oldStart,
                  newStart,
                  lines: openLines(lines),
                }))
              : binary === 'no-data'
                ? binary
                : Buffer.from(binary.forward.data).toString('hex'),
        }))
        expect(again).toEqual(
          sections.map(({ path: name, oldMode, newMode, index, content }) => ({
            header: {
              minus: content instanceof Uint8Array ? undefined : bytesName(`a/${name}`),
              old: index?.[0],
              mode: oldMode === newMode ? undefined : newMode,
            },
            content:
              content instanceof Uint8Array
                ? Buffer.from(content).toString('hex')
                : content.map(({ oldStart, newStart, lines, isOpen }) => ({
                    oldStart,
                    newStart,
                    lines: marked(lines, isOpen),
                  })),
          })),
        )
      }),
      { numRuns: pureRuns(1000) },
    )
  })

  const openLines = (lines: readonly HunkLine[]): readonly DiffLine[] =>
    lines.map(({ kind, text, unterminated }) => ({
      kind,
      text: Buffer.from(text).toString('utf8'),
      ...(unterminated === true ? { unterminated } : {}),
    }))
})

/** JSON has one zero. */
const withoutNegativeZero = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('a batch', () => {
  const text = fc.array(word, { maxLength: 4 }).map((lines) => ['x', ...lines].join('\n'))
  const line = fc.integer({ min: 1, max: 99 })
  const edit = fc.oneof(
    fc.record(
      { op: fc.constant('replace'), path, old: text, new: text, all: fc.boolean() },
      { requiredKeys: ['op', 'path', 'old', 'new'] },
    ),
    fc.record(
      { op: fc.constant('lines'), path, from: line, content: fc.option(text), expected: text },
      { requiredKeys: ['op', 'path', 'from', 'content'] },
    ),
    fc.record({ op: fc.constant('append'), path, content: text }),
    fc.record({ op: fc.constant('delete'), path }),
    fc.record({ op: fc.constant('move'), path, to: path }),
    fc.record({ op: fc.constant('chmod'), path, executable: fc.boolean() }),
    fc.record({ op: fc.constant('patch'), text }),
    fc.record({ op: fc.constant('blocks'), text, path }),
    fc.record({
      tool: fc.constantFrom('Edit', 'edit_file'),
      input: fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 1 }).map(withoutNegativeZero)),
    }),
  )
  const whole = fc.record(
    {
      version: fc.constant(1),
      title: fc.constantFrom('t', 'Größe'),
      order: fc.constantFrom('original', 'sequential'),
      key: fc.constantFrom('k', 'é'),
      edits: fc.array(edit, { minLength: 1, maxLength: 4 }),
    },
    { requiredKeys: ['version', 'title', 'edits'] },
  )

  test('that is printed as JSON and read is the same request, however it is laid out', () => {
    fc.assert(
      fc.property(whole, fc.constantFrom(undefined, 2, '\t'), (batch, space) => {
        const compact = parseBatch(Buffer.from(JSON.stringify(batch)))
        if (compact.kind === 'refused') throw new Error(compact.refusal.message)
        expect(parseBatch(Buffer.from(JSON.stringify(batch, null, space)))).toEqual(compact)
        expect(compact.batch.items).toHaveLength(batch.edits.length)
        for (const [index, each] of batch.edits.entries())
          expect(compact.batch.items[index]).toMatchObject(each)
      }),
      { numRuns: pureRuns(1000) },
    )
  })
})

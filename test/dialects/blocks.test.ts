import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { translateBlocks } from '../../src/dialects/blocks.ts'
import { pureRuns } from '../helpers/runs.ts'
import { root } from './in-memory.ts'
import { context, editsOf, shown, stepsOf } from './translation.ts'

const translate = (text: string, path?: string) =>
  translateBlocks({ op: 'blocks', text, ...(path === undefined ? {} : { path }) }, context)

const block = (search: string, replace: string) =>
  `<<<<<<< SEARCH\n${search}=======\n${replace}>>>>>>> REPLACE\n`

const one = block('one\n', '1\n')
const replace = {
  op: 'replace',
  step: 0,
  old: 'one\n',
  new: '1\n',
  all: false,
  maxTier: 'indent',
  wholeLines: true,
}
const pathsOf = (text: string) => editsOf(translate(text)).map(({ path }) => path)

describe('the file name of a block', () => {
  test.each([
    ['on the line above', `a.txt\n${one}`],
    ['above the fence', `Change:\n\na.txt\n\`\`\`text\n${one}\`\`\`\n`],
    ['first inside the fence', `\`\`\`text\na.txt\n${one}\`\`\`\n`],
    ['between fences of its own', `\`\`\`\na.txt\n\`\`\`\n\`\`\`py\n${one}`],
    ['behind the fence', `\`\`\`a.txt\n${one}\`\`\`\n`],
    ['above an empty line', `a.txt\n\n\`\`\`text\n${one}`],
    ['in a fence of tildes', `a.txt\n~~~~py\n${one}~~~~\n`],
    ['as a heading', `### a.txt\n${one}`],
    ['in backticks', `\`a.txt\`:\n${one}`],
    ['in bold', `**a.txt**\n${one}`],
    ['in bold backticks with a colon', `**\`a.txt\`:**\n${one}`],
    ['as a comment', `# a.txt\n${one}`],
    ['as a comment of C', `// a.txt\n${one}`],
    ['as a closed comment', `<!-- a.txt -->\n${one}`],
    ['with a dot before it', `./a.txt\n${one}`],
    ['as an absolute path', `${root}/a.txt\n${one}`],
    ['with CRLF lines', `a.txt\n${one}`.replaceAll('\n', () => '\r\n')],
  ])('is found %s', (_, text) => {
    expect(shown(translate(text))).toEqual([{ ...replace, path: 'a.txt' }])
  })

  test.each([
    ['a name without a dot', `Makefile\n${one}`, ['Makefile']],
    ['a name with a space in backticks', `\`my file\`\n${one}`, ['my file']],
    ['a name with a space and an ending', `my file.txt\n${one}`, ['my file.txt']],
    ['the name of the block before', `a\n${one}\n${one}b\n${one}`, ['a', 'a', 'b']],
    ['no name below "..."', `a\n${one}...\n${one}`, ['a', 'a']],
    ['no name behind the block before', `a.txt\n${one}${one}`, ['a.txt', 'a.txt']],
  ])('may be %s', (_, text, paths) => {
    expect(pathsOf(text)).toEqual(paths)
  })

  test.each([
    ['missing', one, 'parse-error 1'],
    ['missing above a fence', `\n\`\`\`text\n${one}`, 'parse-error 3'],
    ['prose', `a.txt\n${one}\nNow the second function:\n${one}`, 'parse-error 8'],
    ['prose or a new file', `Here is foo.py\n${block('', 'x\n')}`, 'parse-error 1'],
    ['outside', `../a.txt\n${one}`, 'outside-repository 1'],
    ['in .git', `.git/config\n${one}`, 'path-invalid 1'],
  ])('is refused where it is %s', (_, text, code) => {
    expect(shown(translate(text))).toEqual([code])
  })

  test('may be given beside the text, which may only repeat it', () => {
    expect(shown(translate(one, `${root}/d/a`))).toEqual([{ ...replace, path: 'd/a' }])
    expect(shown(translate(`Some prose:\n${one}d/a\n${one}`, './d/a'))).toMatchObject([
      { path: 'd/a' },
      { path: 'd/a' },
    ])
    expect(shown(translate(`b/a.txt\n${one}`, 'd/a.txt'))).toEqual(['parse-error 1'])
  })
})

describe('a block', () => {
  test.each([
    ['of Cline', '------- SEARCH\none\n=======\n1\n+++++++ REPLACE\n'],
    ['with shorter markers', '<<<<< SEARCH\none\n=====\n1\n>>>>> REPLACE\n'],
    ['with space behind its markers', '<<<<<<< SEARCH  \none\n=======\t\n1\n>>>>>>> REPLACE '],
  ])('%s is read', (_, text) => {
    expect(shown(translate(text, 'a'))).toEqual([{ ...replace, path: 'a' }])
  })

  test('without a SEARCH line makes the file; one without a REPLACE line deletes', () => {
    const write = { op: 'write', step: 0, path: 'a', mode: 'create', isText: true }
    expect(shown(translate(block('', 'x\n\ty\n'), 'a'))).toEqual([{ ...write, content: 'x\n\ty\n' }])
    expect(shown(translate(block('\n', ''), 'a'))).toEqual([{ ...write, content: '' }])
    expect(shown(translate(block('x\n', ''), 'a'))).toMatchObject([{ old: 'x\n', new: '' }])
  })

  test('sees the results of those before it in its file', () => {
    expect(stepsOf(translate(`a\n${one}${one}b\n${one}a\n${one}`))).toEqual({ steps: [0, 1, 0, 2], used: 3 })
  })

  test('with a line hint means the file as it was, as do the others of its file', () => {
    const hinted = block(':start_line:4\n:end_line:4\n-------\nt()\n', 'u()\n')
    const made = translate(`a\n${one}${hinted}b\n${one}${one}`)
    expect(stepsOf(made)).toEqual({ steps: [0, 0, 0, 1], used: 2 })
    expect(shown(made)).toMatchObject([
      { path: 'a' },
      { old: 't()\n', startLine: 4 },
      { path: 'b' },
      { path: 'b' },
    ])
  })

  test.each([
    ['a hint alone', ':start_line: 7\n', { startLine: 7, old: 'x\n' }],
    ['dashes without a hint', '-------\n', { old: '-------\nx\n' }],
    ['an escaped hint', '\\:start_line:7\n', { old: ':start_line:7\nx\n' }],
    [
      'escaped markers',
      '\\<<<<<<< HEAD\n\\=======\n\\>>>>>>> b\n',
      { old: '<<<<<<< HEAD\n=======\n>>>>>>> b\nx\n' },
    ],
    ['an underline of another length', 'Title\n=====\n', { old: 'Title\n=====\nx\n' }],
    ['an indented divider of content', '  >>>>>>> REPLACE\n', { old: '  >>>>>>> REPLACE\nx\n' }],
    ['a carriage return of content', 'a\r\n', { old: 'a\r\nx\n' }],
  ])('may begin with %s', (_, search, expected) => {
    expect(shown(translate(block(`${search}x\n`, 'y\n'), 'f'))).toMatchObject([expected])
  })

  test.each([
    ['no block at all', 'just prose', 'parse-error 1'],
    ['no text', '', 'parse-error 1'],
    ['a second divider', '<<<<<<< SEARCH\na\n=======\n=======\n>>>>>>> REPLACE\n', 'parse-error 4'],
    ['something behind its marker', '<<<<<<< SEARCH  >\na\n=======\nb\n>>>>>>> REPLACE\n', 'parse-error 1'],
    ['an indented first marker', `  ${one}`, 'parse-error 1'],
    ['no divider', '<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n', 'parse-error 3'],
    ['no end', '<<<<<<< SEARCH\na\n=======\nb\n', 'parse-error 4'],
    ['an end without a beginning', `${one}>>>>>>> REPLACE\n`, 'parse-error 6'],
    ['a beginning inside it', `<<<<<<< SEARCH\na\n=======\n${one}`, 'parse-error 4'],
    ['the end of the other form', '<<<<<<< SEARCH\na\n=======\nb\n+++++++ REPLACE\n', 'parse-error 5'],
    ['a marker of another length', '<<<<<<< SEARCH\na\n=======\nb\n>>>>>> REPLACE\n', 'parse-error 5'],
    [
      'what git leaves of a conflict',
      '<<<<<<< SEARCH\n<<<<<<< HEAD\n=======\nb\n>>>>>>> REPLACE\n',
      'parse-error 2',
    ],
    ['a hint below the divider', block('a\n', ':start_line:3\nb\n'), 'parse-error 4'],
    ['a hint without a line', block(':start_line:x\na\n', 'b\n'), 'parse-error 2'],
    ['a hint at line 0', block(':start_line:0\na\n', 'b\n'), 'parse-error 2'],
    ['a divider outside', `=======\n${one}`, 'parse-error 1'],
    ['half of a surrogate pair', block('\ud800\n', ''), 'not-utf8 1'],
  ])('is refused with %s', (_, text, code) => {
    expect(shown(translate(text, 'f'))).toEqual([code])
  })

  test('may stand below a heading that is underlined like a divider, where prose is expected', () => {
    expect(pathsOf(`Heading\n=======\n\na.txt\n${one}`)).toEqual(['a.txt'])
  })
})

describe('a block list', () => {
  test('reads back what was written into it', () => {
    const line = fc.string({ unit: fc.constantFrom('a', ' ', '\t', '=', '<', '>', 'é', '\\', '-') })
    const plain = line.filter((text) => !/^\\*[\t ]*(?:<{3}|>{3}|={5}|-{3}|\\)/.test(text))
    const side = fc.array(plain, { minLength: 1, maxLength: 6 })
    const search = side.filter((lines) => lines.some((text) => text.trim() !== ''))
    fc.assert(
      fc.property(fc.array(fc.tuple(search, side), { minLength: 1, maxLength: 5 }), (blocks) => {
        const text = (lines: readonly string[]) => lines.map((l) => `${l}\n`).join('')
        const list = blocks.map(([old, after]) => block(text(old), text(after))).join('\n')
        const pairs = editsOf(translate(`a.txt\n${list}`)).map(
          (edit) => edit.op === 'replace' && [edit.old, edit.new],
        )
        expect(pairs).toEqual(blocks.map(([old, after]) => [text(old), text(after)]))
      }),
      { numRuns: pureRuns(1000) },
    )
  })

  test('never throws, whatever the text', () => {
    const word = fc.constantFrom(
      '<<<<<<< SEARCH',
      '=======',
      '>>>>>>> REPLACE',
      ':start_line:',
      '1',
      '```',
      'a.txt',
      ' ',
      '\n',
      '\r\n',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(word, { maxLength: 40 }).map((words) => words.join('')),
    )
    fc.assert(
      fc.property(text, fc.option(text, { nil: undefined }), (list, path) => {
        const made = translate(list, path)
        if (made.kind === 'edits') expect(made.edits.length).toBeGreaterThan(0)
        else expect(made.failures.length).toBeGreaterThan(0)
      }),
      { numRuns: pureRuns(3000) },
    )
  })

  test('of 20,000 blocks, and one with a line of a million signs, are read', () => {
    expect(editsOf(translate(`a\n${one.repeat(20_000)}`))).toHaveLength(20_000)
    expect(
      editsOf(translate(block(`x${'<'.repeat(1_000_000)}\n`, `${' '.repeat(1_000_000)}\n`), 'a')),
    ).toHaveLength(1)
    expect(shown(translate(`${'x'.repeat(500_000)} b\n${one}`))).toEqual(['parse-error 1'])
    expect(shown(translate(`a\n${one.repeat(50_001)}`))).toEqual(['too-large 1'])
    expect(shown(translate('\n'.repeat(2_000_001)))).toEqual(['too-large 2000001'])
  })
})

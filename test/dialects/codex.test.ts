import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codex } from '../../src/dialects/codex.ts'
import { translateEnvelope } from '../../src/dialects/envelope.ts'
import { pureRuns } from '../helpers/runs.ts'
import { root } from './in-memory.ts'
import { context, shown, stepsOf } from './translation.ts'

const envelope = (...lines: readonly string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
const translate = (...lines: readonly string[]) => translateEnvelope(envelope(...lines), context)
const hunk = { anchors: [], oldStart: null, endOfFile: false }
const hunks = { op: 'hunks', step: 0, flavour: 'envelope', maxTier: 'unicode' }

describe('an envelope', () => {
  test('adds a file that must be absent, each line ended', () => {
    const edit = { op: 'write', step: 0, path: 'a/b.txt', mode: 'create', isText: true }
    expect(shown(translate('*** Add File: a/b.txt', '+one', '+', '+two'))).toEqual([
      { ...edit, content: 'one\n\ntwo\n' },
    ])
    expect(shown(translate('*** Add File: a/b.txt'))).toEqual([{ ...edit, content: '' }])
  })

  test('deletes, and moves with and without hunks', () => {
    const lines = [
      '*** Delete File: d',
      '*** Update File: a',
      '*** Move to: b',
      '*** Update File: c',
      '*** Move to: e',
    ]
    expect(shown(translate(...lines, '@@', '-x', '+y'))).toEqual([
      { op: 'delete', step: 0, path: 'd' },
      { op: 'move', step: 0, path: 'a', to: 'b' },
      { ...hunks, path: 'c', hunks: [{ ...hunk, sourceLine: 7, lines: ['-x', '+y'] }] },
      { op: 'move', step: 0, path: 'c', to: 'e' },
    ])
  })

  test('reads stacked anchors, a first hunk without "@@", empty context lines and the end of the file', () => {
    const lines = [' top', '-x', '@@ class A', '@@   def f', '', '+y', '*** End of File', '@@', '-z']
    expect(shown(translate('*** Update File: f', ...lines))).toEqual([
      {
        ...hunks,
        path: 'f',
        hunks: [
          { ...hunk, sourceLine: 3, lines: [' top', '-x'] },
          { ...hunk, anchors: ['class A', '  def f'], endOfFile: true, sourceLine: 5, lines: [' ', '+y'] },
          { ...hunk, sourceLine: 10, lines: ['-z'] },
        ],
      },
    ])
  })

  test('takes lines that look like markers for content where their sign says so', () => {
    const lines = [' *** End Patch', '-@@ x', '+*** Add File: b', ' *** Move to: c']
    expect(shown(translate('*** Update File: f', '@@', ...lines))).toMatchObject([{ hunks: [{ lines }] }])
  })

  test('puts a hunk of new lines alone at the end of the file', () => {
    expect(shown(translate('*** Update File: f', '@@', '+x'))).toMatchObject([
      { hunks: [{ endOfFile: true }] },
    ])
  })

  test('reads a path from a directory, and an absolute one below the root', () => {
    const text = envelope('*** Delete File: ../a', `*** Delete File: ${root}/b`, '*** Delete File: ./c')
    expect(shown(translateEnvelope(text, context, './x/y'))).toMatchObject([
      { path: 'x/a' },
      { path: 'b' },
      { path: 'x/y/c' },
    ])
  })

  test('gives a file that is named again a later step, and all others the first', () => {
    const lines = ['*** Add File: a', '+1', '*** Update File: a', '@@', '-1', '+2', '*** Delete File: z']
    const again = ['*** Update File: a', '*** Move to: b', '*** Delete File: b']
    expect(stepsOf(translate(...lines, ...again))).toEqual({ steps: [0, 1, 0, 2, 3], used: 4 })
  })

  test('drops the carriage returns of CRLF lines, and keeps one that is content', () => {
    const crlf = envelope('*** Add File: a', '+x', '*** Update File: b', '@@', '-y').replaceAll(
      '\n',
      () => '\r\n',
    )
    expect(shown(translateEnvelope(crlf, context))).toMatchObject([
      { content: 'x\n' },
      { hunks: [{ lines: ['-y'] }] },
    ])
    expect(shown(translate('*** Add File: a', '+x\r', '*** Update File: b', '@@', '-y\r'))).toMatchObject([
      { content: 'x\r\n' },
      { hunks: [{ lines: ['-y'] }] },
    ])
  })

  test.each([
    ['padded markers', `\n  *** Begin Patch \n*** Delete File: d  \n *** End Patch\n\n`],
    ['padded headers', envelope('  *** Delete File: d')],
    ['a heredoc as argument', `<<'EOF'\n${envelope('*** Delete File: d')}\nEOF\n`],
  ])('may have %s', (_, text) => {
    expect(shown(translateEnvelope(text, context))).toEqual([{ op: 'delete', step: 0, path: 'd' }])
  })

  test.each([
    ['nothing', '', 'empty-batch 1'],
    ['no part', envelope(), 'empty-batch 1'],
    ['text before it', `Sure!\n${envelope('*** Delete File: d')}`, 'parse-error 1'],
    ['no end', '*** Begin Patch\n*** Delete File: d\n', 'parse-error 2'],
    ['only its first line', '*** Begin Patch', 'parse-error 1'],
    [
      'a second envelope',
      `${envelope('*** Delete File: d')}\n${envelope('*** Delete File: e')}`,
      'parse-error 3',
    ],
    ['an unknown header', envelope('*** Frobnicate File: d'), 'parse-error 2'],
    ['an added line without "+"', envelope('*** Add File: d', '+1', '2'), 'parse-error 4'],
    ['an update without hunk', envelope('*** Update File: d'), 'parse-error 2'],
    ['a hunk without lines', envelope('*** Update File: d', '@@', '*** Delete File: e'), 'parse-error 4'],
    ['two bare "@@"', envelope('*** Update File: d', '@@', '@@', '-x'), 'parse-error 4'],
    [
      'a second hunk without "@@"',
      envelope('*** Update File: d', '@@', '-x', '*** End of File', '-y'),
      'parse-error 6',
    ],
    ['an unsigned line', envelope('*** Update File: d', '@@', '-x', 'y'), 'parse-error 5'],
    ['new lines alone below an anchor', envelope('*** Update File: d', '@@ f', '+x'), 'parse-error 3'],
    ['a move onto itself', envelope('*** Update File: d', '*** Move to: d'), 'no-change 3'],
    [
      'a path that climbs out',
      envelope('*** Update File: d', '*** Move to: ../x', '@@', '-x'),
      'outside-repository 3',
    ],
    ['a path in .git', envelope('*** Add File: s/.GIT/config', '+x'), 'path-invalid 2'],
    ['an absolute path elsewhere', envelope('*** Add File: /etc/hosts', '+x'), 'outside-repository 2'],
    ['half of a surrogate pair', envelope('*** Add File: d', '+\ud800'), 'not-utf8 1'],
  ])('is refused with %s', (_, text, code) => {
    expect(shown(translateEnvelope(text, context))).toEqual([code])
  })

  test('of 100,000 hunks is read, of 50,001 files refused', () => {
    const made = translate('*** Update File: f', '@@\n-x\n+y\n'.repeat(100_000).trimEnd())
    expect(stepsOf(made).used).toBe(1)
    const files = Array.from({ length: 50_001 }, (_, n) => `*** Delete File: ${n}`)
    expect(shown(translate(files.join('\n')))).toEqual(['too-large 50002'])
  })

  test('is refused with the line of every bad path', () => {
    const lines = ['*** Delete File: .git/x', '*** Delete File: ok', '*** Delete File: ../y']
    expect(shown(translate(...lines))).toEqual(['path-invalid 2', 'outside-repository 4'])
  })
})

const patch = envelope('*** Add File: born.txt', '+hi')
const heredoc = (before = '', after = '') => `${before}apply_patch <<'PATCH'\n${patch}\nPATCH${after}`
const born = (path = 'born.txt') => [
  { op: 'write', step: 0, path, mode: 'create', isText: true, content: 'hi\n' },
]
const call = (command: unknown, more = {}) =>
  codex.translate({ tool: 'shell', input: { command, ...more } }, context)

describe('a shell call', () => {
  test.each([
    ['apply_patch itself', ['apply_patch', patch], 'born.txt'],
    ['its other spelling', ['applypatch', patch], 'born.txt'],
    ['a heredoc as the argument', ['apply_patch', `<<'EOF'\n${patch}\nEOF\n`], 'born.txt'],
    ['bash', ['bash', '-lc', heredoc()], 'born.txt'],
    ['a shell by path', ['/bin/zsh', '-c', heredoc()], 'born.txt'],
    ['PowerShell', ['pwsh.exe', '-NoProfile', '-Command', heredoc()], 'born.txt'],
    ['cmd', ['C:\\Windows\\cmd.exe', '/c', heredoc('cd foo && ')], 'foo/born.txt'],
    ['a directory', ['bash', '-lc', heredoc('cd sub/dir && ')], 'sub/dir/born.txt'],
    ['a quoted directory', ['sh', '-c', heredoc("cd 'my sub' && ")], 'my sub/born.txt'],
    ['a directory below the root', ['sh', '-c', heredoc(`cd "${root}/sub" &&\n`)], 'sub/born.txt'],
    ['white space around', ['bash', '-lc', heredoc('\n  ', '\n\n')], 'born.txt'],
    ['a delimiter without quotes', ['bash', '-c', heredoc().replace("'PATCH'", () => 'PATCH')], 'born.txt'],
    ['one script', heredoc('cd sub && '), 'sub/born.txt'],
    ['the patch alone', [patch], 'born.txt'],
    ['the patch as the script', ['bash', '-lc', `\n${patch}\n`], 'born.txt'],
    ['the patch as the script, in a directory', ['bash', '-lc', `cd sub && ${patch}`], 'sub/born.txt'],
    ['the patch in place of a script', patch, 'born.txt'],
  ])('with %s is an edit', (_, command, path) => {
    expect(shown(call(command))).toEqual(born(path))
  })

  test.each([
    ['another command', ['ls', '-l']],
    ['cd joined by ";"', ['bash', '-lc', heredoc('cd sub; ')]],
    ['cd joined by "||"', ['bash', '-lc', heredoc('cd sub || ')]],
    ['cd joined by "|"', ['bash', '-lc', heredoc('cd sub | ')]],
    ['two directories', ['bash', '-lc', heredoc('cd a && cd b && ')]],
    ['two words to cd', ['bash', '-lc', heredoc('cd a b && ')]],
    ['an option to cd', ['bash', '-lc', heredoc('cd -P a && ')]],
    ['a variable', ['bash', '-lc', heredoc('cd $HOME && ')]],
    ['a quoted variable', ['bash', '-lc', heredoc('cd "$HOME" && ')]],
    ['a home directory', ['bash', '-lc', heredoc('cd ~ && ')]],
    ['a command before', ['bash', '-lc', heredoc('echo x && ')]],
    ['a command behind', ['bash', '-lc', heredoc('', ' && rm -rf /')]],
    ['a command on a line behind', ['bash', '-lc', heredoc('', '\nrm -rf /')]],
    ['an argument', ['bash', '-lc', heredoc().replace(' <<', () => ' x <<')]],
    ['a pipe behind the heredoc', ['bash', '-lc', heredoc().replace("'PATCH'", () => "'PATCH' | sh")]],
    ['an indented heredoc', ['bash', '-lc', heredoc().replace('<<', () => '<<-')]],
    ['a heredoc that does not end', ['bash', '-lc', heredoc().slice(0, -1)]],
    ['an unknown flag', ['bash', '-x', heredoc()]],
    ['an unknown shell', ['python', '-c', heredoc()]],
    ['the patch and a command behind it', ['bash', '-lc', `${patch}\nrm -rf /`]],
    ['a command before the patch', ['bash', '-lc', `echo x\n${patch}`]],
    ['the patch and another word', [patch, 'x']],
    ['no list of words', { 0: 'apply_patch' }],
    ['a word that is no text', ['apply_patch', 7]],
    ['nothing', []],
  ])('with %s is no edit', (_, command) => {
    expect(shown(call(command))).toEqual(['unknown-tool'])
  })

  test('starts from its workdir', () => {
    expect(shown(call(['bash', '-lc', heredoc('cd b && ')], { workdir: 'a' }))).toEqual(born('a/b/born.txt'))
    expect(shown(call(['apply_patch', patch], { workdir: `${root}/a/..`, timeout_ms: 5 }))).toEqual(born())
    expect(shown(call(['apply_patch', patch], { workdir: '/tmp' }))).toEqual(['outside-repository 2'])
    expect(shown(call(['apply_patch', patch], { workdir: '..' }))).toEqual(['outside-repository 2'])
    expect(shown(call(['apply_patch', patch], { workdir: 7 }))).toEqual(['invalid-batch'])
  })
})

describe('Codex', () => {
  test('knows its patch tools, and its shells where a command is given', () => {
    expect(codex.fits({ tool: 'apply_patch', input: { input: patch } })).toBe(true)
    expect(codex.fits({ tool: 'apply_patch', input: { path: 'x' } })).toBe(false)
    expect(codex.fits({ tool: 'exec_command', input: { cmd: heredoc() } })).toBe(true)
    expect(codex.fits({ tool: 'shell', input: { script: 'x' } })).toBe(false)
  })

  test('takes the patch as its input', () => {
    expect(shown(codex.translate({ tool: 'apply_patch', input: { input: patch } }, context))).toEqual(born())
    expect(shown(codex.translate({ tool: 'apply_patch', input: { input: 7, x: 1 } }, context))).toHaveLength(
      2,
    )
    expect(shown(codex.translate({ tool: 'no_tool', input: {} }, context))).toEqual(['unknown-tool'])
  })

  const word = fc.constantFrom(
    '*** ',
    'Begin Patch',
    'End Patch',
    'Update File: a',
    'Add File: b',
    '\n',
    '@@',
    ' ',
    '+',
    '-',
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(word).map((words) => words.join('')),
  )

  test('never throws, whatever the text', () => {
    const body = fc.array(word).map((words) => envelope(words.join('')))
    fc.assert(
      fc.property(fc.oneof(text, body), (patchText) => {
        const made = translateEnvelope(patchText, context)
        if (made.kind === 'edits') expect(made.edits.length).toBeGreaterThan(0)
        else expect(made.failures.length).toBeGreaterThan(0)
      }),
      { numRuns: pureRuns(3000) },
    )
  })

  test('never throws, whatever the call', () => {
    const tool = fc.constantFrom(...codex.tools)
    const command = fc.oneof(
      fc.array(fc.oneof(text, fc.constant('bash'), fc.constant('-lc'))),
      fc.jsonValue({ maxDepth: 1 }),
      text,
    )
    const input = fc.record(
      { command, cmd: command, input: fc.jsonValue({ maxDepth: 1 }), workdir: fc.jsonValue({ maxDepth: 1 }) },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(tool, input, (name, given) => {
        const made = codex.translate({ tool: name, input: given }, context)
        expect(['edits', 'refused']).toContain(made.kind)
        expect(typeof codex.fits({ tool: name, input: given })).toBe('boolean')
      }),
      { numRuns: pureRuns(2000) },
    )
  })
})

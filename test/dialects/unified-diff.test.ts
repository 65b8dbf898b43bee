import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { translateDiff } from '../../src/dialects/unified-diff.ts'
import type { DiffItem } from '../../src/model/batch.ts'
import { pureRuns } from '../helpers/runs.ts'
import { encodeBase85 } from './base85.ts'
import { context, editsOf, shown, stepsOf } from './translation.ts'

const lines = (...texts: readonly string[]) => texts.map((text) => `${text}\n`).join('')
const translate = (text: string, more: Partial<DiffItem> = {}) =>
  translateDiff({ op: 'diff', text, ...more }, context)

const names = (path: string) => [`--- a/${path}`, `+++ b/${path}`]
const git = (path: string, ...more: readonly string[]) => lines(`diff --git a/${path} b/${path}`, ...more)
const change = ['@@ -2,3 +2,3 @@ f()', ' a', '-b', '+B', ' c']
const one = git('x', ...names('x'), ...change)
const hunks = { op: 'hunks', step: 0, flavour: 'unified', maxTier: 'exact' }
const hunk = { anchors: [], oldStart: 2, endOfFile: false, sourceLine: 4, lines: [' a', '-b', '+B', ' c'] }
const idA = 'a'.repeat(40)
const idB = 'b'.repeat(40)
const zeros = '0'.repeat(40)

describe('the hunks of a diff', () => {
  test('keep their lines as bytes, their place, and the abbreviated id as evidence', () => {
    expect(shown(translate(one))).toEqual([{ ...hunks, path: 'x', hunks: [hunk] }])
    const index = git('x', 'index 1234567..89abcde 100644', ...names('x'), ...change)
    expect(shown(translate(index))).toMatchObject([{ preimage: '1234567' }])
    const short = git('x', 'index 12345..89abc 100644', ...names('x'), ...change)
    expect(JSON.stringify(translate(short))).not.toContain('preimage')
  })

  test('turn around with "reverse"', () => {
    const text = git('x', 'index 1234567..89abcde', ...names('x'), '@@ -2,2 +7,3 @@', ' a', '-b', '+B', '+C')
    const turned = { ...hunk, oldStart: 7, sourceLine: 5, lines: [' a', '+b', '-B', '-C'] }
    expect(shown(translate(text, { reverse: true }))).toEqual([
      { ...hunks, path: 'x', preimage: '89abcde', hunks: [turned] },
    ])
  })

  test.each([
    ['removed lines and no context', ['@@ -4,2 +4 @@', '-a', '-b', '+c'], 4],
    ['new lines alone', ['@@ -3,0 +4,2 @@', '+a', '+b'], 3],
    ['new lines for an empty file', ['@@ -0,0 +1 @@', '+a'], 0],
  ])('with %s keep the number that the old side has', (_, body, oldStart) => {
    expect(shown(translate(git('x', ...names('x'), ...body)))).toMatchObject([{ hunks: [{ oldStart }] }])
  })

  test('know of lines without a newline, on either side', () => {
    const mark = '\\ No newline at end of file'
    const text = git('x', ...names('x'), '@@ -1,2 +1,2 @@', ' a', '-b', mark, '+B', '\\ Kein Zeilenumbruch')
    expect(shown(translate(text))).toMatchObject([{ hunks: [{ lines: [' a', '-b\\', '+B\\'] }] }])
  })

  test('may have empty lines for empty context, and no newline at their end', () => {
    const text = git('x', ...names('x'), '@@ -1,4 +1,4 @@', '', '-b', '+B', '\r', ' c').slice(0, -1)
    expect(shown(translate(text))).toMatchObject([{ hunks: [{ lines: [' ', '-b', '+B', ' \r', ' c'] }] }])
  })

  test('keep bytes that are not UTF-8, sent as base64 in one piece or wrapped', () => {
    const bytes = Buffer.from(git('x', ...names('x'), '@@ -1 +1 @@', '-caf\xe9', '+th\xe9\r'), 'latin1')
    const text = bytes.toString('base64')
    const expected = [{ hunks: [{ lines: ['-caf\xe9', '+th\xe9\r'] }] }]
    expect(shown(translate(text, { encoding: 'base64' }))).toMatchObject(expected)
    const wrapped = text.replace(/.{76}/g, (part) => `${part}\n`)
    expect(shown(translate(wrapped, { encoding: 'base64' }))).toMatchObject(expected)
  })

  test.each([
    ['no old lines left', ['@@ -1 +1,2 @@', '-a', '-b', '+c'], 'parse-error 5'],
    ['fewer lines than it says', ['@@ -1,3 +1,3 @@', ' a', '-b', '+c'], 'parse-error 7'],
    ['more lines than it says', ['@@ -1 +1 @@', '-a', '+b', ' c'], 'parse-error 6'],
    ['more lines behind an empty one', ['@@ -1 +1 @@', '-a', '+b', '', '+c'], 'parse-error 7'],
    ['counts missing', ['@@ -1 @@', '-a'], 'parse-error 3'],
    ['no numbers', ['@@', '-a'], 'parse-error 3'],
    ['no numbers in the second header', ['@@ -1 +1 @@', '-a', '+b', '@@ ... @@', '-a'], 'parse-error 6'],
    ['no change', ['@@ -1 +1 @@', ' a'], 'parse-error 3'],
    ['no lines', ['@@ -1,0 +1,0 @@'], 'parse-error 3'],
    ['a foreign line', ['@@ -1,2 +1,2 @@', '-a', '+b', 'c'], 'parse-error 6'],
    ['a marker first', ['@@ -1 +1 @@', '\\ No newline at end of file', '-a', '+b'], 'parse-error 4'],
    ['two markers', ['@@ -1 +1 @@', '-a', '\\ No newline', '\\ No newline', '+b'], 'parse-error 6'],
    ['a line behind the end', ['@@ -1,2 +1 @@', '-a', '\\ No newline', '-b', '+b'], 'parse-error 6'],
    [
      'another header',
      ['@@ -1,2 +1,2 @@', '-a', '+b', 'diff --git a/y b/y', 'new file mode 100644'],
      'parse-error 6',
    ],
  ])('are refused with %s', (_, body, code) => {
    expect(shown(translate(lines(...names('x'), ...body)))).toEqual([code])
  })
})

describe('a file of a diff', () => {
  test('is made, with its mode, and with the newline at its end or without', () => {
    const made = { op: 'write', step: 0, path: 'x', mode: 'create', isText: true }
    const body = ['--- /dev/null', '+++ b/x', '@@ -0,0 +1,2 @@', '+a', '+b']
    const script = git('x', 'new file mode 100755', ...body, '\\ No newline at end of file')
    expect(shown(translate(script))).toEqual([{ ...made, content: 'a\nb', executable: true }])
    const empty = git('x', 'new file mode 100644', 'index 0000000..e69de29')
    expect(shown(translate(empty))).toEqual([{ ...made, content: '', executable: false }])
    expect(shown(translate(git('x', ...body)))).toEqual([{ ...made, content: 'a\nb\n' }])
    expect(shown(translate(lines(...body)))).toEqual([{ ...made, content: 'a\nb\n' }])
  })

  test('is deleted, if it has what the diff shows', () => {
    const gone = { op: 'delete', step: 0, path: 'x' }
    const body = ['--- a/x', '+++ /dev/null', '@@ -1,2 +0,0 @@', '-a', '-b']
    expect(shown(translate(git('x', 'deleted file mode 100644', ...body)))).toEqual([
      { ...gone, expectedContent: 'a\nb\n' },
    ])
    expect(shown(translate(git('x', 'deleted file mode 100644')))).toEqual([{ ...gone, expectedContent: '' }])
    expect(shown(translate(lines(...body)))).toEqual([{ ...gone, expectedContent: 'a\nb\n' }])
  })

  test('is made again, or deleted again, with "reverse"', () => {
    const create = git('x', 'new file mode 100755', '--- /dev/null', '+++ b/x', '@@ -0,0 +1 @@', '+a')
    expect(shown(translate(create, { reverse: true }))).toMatchObject([
      { op: 'delete', expectedContent: 'a\n' },
    ])
    const remove = git('x', 'deleted file mode 100755', '--- a/x', '+++ /dev/null', '@@ -1 +0,0 @@', '-a')
    expect(shown(translate(remove, { reverse: true }))).toMatchObject([
      { op: 'write', content: 'a\n', executable: true },
    ])
  })

  test('is made or deleted where its time is the beginning of 1970', () => {
    const created = lines(
      '--- a/x\t1970-01-01 01:00:00.000000000 +0100',
      '+++ b/x\t2020-01-01 01:00:00 +0100',
      '@@ -0,0 +1 @@',
      '+a',
    )
    expect(shown(translate(created))).toMatchObject([{ op: 'write', mode: 'create', path: 'x' }])
    const deleted = lines(
      '--- a/x\t2020-01-01 01:00:00 +0100',
      '+++ b/x\t1969-12-31 19:00:00 -0500',
      '@@ -1 +0,0 @@',
      '-a',
    )
    expect(shown(translate(deleted))).toMatchObject([{ op: 'delete', path: 'x' }])
    expect(shown(translate(deleted.replace('19:00', () => '18:00')))).toMatchObject([
      { op: 'hunks', path: 'x' },
    ])
  })

  test('changes its mode, alone and with its text', () => {
    const modes = ['old mode 100644', 'new mode 100755']
    const chmod = { op: 'chmod', step: 0, path: 'x', executable: true }
    expect(shown(translate(git('x', ...modes)))).toEqual([chmod])
    expect(shown(translate(git('x', ...modes), { reverse: true }))).toEqual([{ ...chmod, executable: false }])
    expect(shown(translate(git('x', ...modes, ...names('x'), ...change)))).toMatchObject([
      { op: 'hunks' },
      chmod,
    ])
  })

  const renamed = (...more: readonly string[]) =>
    lines('diff --git a/d/x b/y', 'similarity index 90%', 'rename from d/x', 'rename to y', ...more)

  test('is renamed, its hunks on its old name, and renamed back', () => {
    const move = { op: 'move', step: 0, path: 'd/x', to: 'y' }
    expect(shown(translate(renamed()))).toEqual([move])
    const body = ['--- a/d/x', '+++ b/y', ...change]
    expect(shown(translate(renamed(...body)))).toMatchObject([{ op: 'hunks', path: 'd/x', step: 0 }, move])
    expect(shown(translate(renamed(...body), { reverse: true }))).toMatchObject([
      { op: 'hunks', path: 'y', step: 0 },
      { op: 'move', step: 0, path: 'y', to: 'd/x' },
    ])
  })

  const copied = (...more: readonly string[]) =>
    lines('diff --git a/x b/y', 'copy from x', 'copy to y', ...more, '--- a/x', '+++ b/y', ...change)

  test('is copied, its hunks on the copy a step later', () => {
    expect(shown(translate(copied('old mode 100644', 'new mode 100755')))).toMatchObject([
      { op: 'copy', step: 0, path: 'x', to: 'y' },
      { op: 'hunks', step: 1, path: 'y' },
      { op: 'chmod', step: 1, path: 'y' },
    ])
  })

  test('that is a copy is taken back only where the copy is known by its full id', () => {
    expect(shown(translate(copied('index 1234567..7654321'), { reverse: true }))).toEqual(['parse-error 1'])
    const known = translate(copied(`index ${idA}..${idB} 100644`), { reverse: true })
    expect(shown(known)).toEqual([{ op: 'delete', step: 0, path: 'y', blob: idB }])
  })

  test.each([
    [
      'a symbolic link',
      git('x', 'new file mode 120000', '--- /dev/null', '+++ b/x', '@@ -0,0 +1 @@', '+y'),
      'symlink 1',
    ],
    ['a change of a link', git('x', 'index 1234567..7654321 120000', ...names('x'), ...change), 'symlink 1'],
    ['a file that becomes a link', git('x', 'old mode 100644', 'new mode 120000'), 'symlink 1'],
    ['a submodule', git('x', 'index 1234567..7654321 160000', ...names('x'), ...change), 'submodule 1'],
    ['a directory', git('x', 'new file mode 040000'), 'parse-error 1'],
    ['a mode that is none', git('x', 'old mode 100644', 'new mode garbage'), 'parse-error 3'],
    ['one mode of two', git('x', 'old mode 100644'), 'parse-error 1'],
    [
      'new and copied at once',
      lines('diff --git a/a b/b', 'new file mode 100644', 'copy from a', 'copy to b'),
      'parse-error 1',
    ],
    [
      'new and deleted at once',
      git('x', 'new file mode 100644', 'deleted file mode 100644'),
      'parse-error 1',
    ],
    ['half a rename', lines('diff --git a/a b/b', 'rename from a'), 'parse-error 1'],
    ['a rename onto itself', lines('diff --git a/a b/a', 'rename from a', 'rename to a'), 'parse-error 1'],
    [
      'a rename from nothing',
      lines('diff --git a/a b/b', 'rename from /dev/null', 'rename to b'),
      'parse-error 2',
    ],
    ['a line twice', git('x', 'new file mode 100644', 'new file mode 100755'), 'parse-error 3'],
    ['a header without change', git('x', 'index 1234567..7654321 100644'), 'parse-error 1'],
    ['a header alone', git('x'), 'parse-error 1'],
    ['names without a hunk', git('x', ...names('x')), 'parse-error 4'],
    ['names without a hunk, plain', lines(...names('x'), 'foo'), 'parse-error 3'],
    ['one name line of two', git('x', '--- a/x', '@@ -1 +1 @@', '-a', '+b'), 'parse-error 3'],
    ['a hunk without name lines', git('x', ...change), 'parse-error 2'],
    [
      'a new file with old lines',
      git('x', '--- /dev/null', '+++ b/x', '@@ -1 +1 @@', '-a', '+b'),
      'parse-error 4',
    ],
    [
      'a deleted file with new lines',
      git('x', '--- a/x', '+++ /dev/null', '@@ -1 +1 @@', '-a', '+b'),
      'parse-error 4',
    ],
    ['two absent sides', lines('--- /dev/null', '+++ /dev/null', ...change), 'parse-error 1'],
  ])('is refused as %s', (_, text, code) => {
    expect(shown(translate(text))).toEqual([code])
  })
})

describe('the name of a file', () => {
  const pathsOf = (text: string, more: Partial<DiffItem> = {}) =>
    editsOf(translate(text, more)).map(({ path }) => path)
  const chmod = ['old mode 100644', 'new mode 100755']

  test.each([
    [
      'with the letters of diff.mnemonicPrefix',
      lines('diff --git i/f w/f', '--- i/f', '+++ w/f', ...change),
      {},
      'f',
    ],
    ['quoted', lines('diff --git "a/caf\\303\\251\\t\\"" "b/caf\\303\\251\\t\\""', ...chmod), {}, 'café\t"'],
    ['quoted, in octal', lines('diff --git "a/caf\\303\\251" "b/caf\\303\\251"', ...chmod), {}, 'café'],
    ['quoted on its lines', lines('--- "a/\\"q\\".txt"', '+++ "b/\\"q\\".txt"', ...change), {}, '"q".txt'],
    ['in plain UTF-8', git('café', ...names('café'), ...change), {}, 'café'],
    ['with " b/" inside', git('q b/w.md', ...chmod), {}, 'q b/w.md'],
    ['with spaces', git('a b c', '--- a/a b c\t', '+++ b/a b c\t', ...change), {}, 'a b c'],
    [
      'behind a time',
      lines('--- a/x\t2020-01-01 01:00:00 +0100', '+++ b/x\tThu Jul 09 2015', ...change),
      {},
      'x',
    ],
    ['with no prefix', lines('diff --git d/x d/x', ...chmod), { strip: 0 }, 'd/x'],
    ['with no prefix and no slash', lines('diff --git x x', '--- x', '+++ x', ...change), {}, 'x'],
    ['with two parts before it', lines('--- a/b/c', '+++ a2/b/c', ...change), { strip: 2 }, 'c'],
    ['beside its backup', lines('--- a/x.orig', '+++ b/x', ...change), {}, 'x'],
    [
      'with CRLF lines',
      lines(...names('x'), '@@ -1 +1 @@', '-a', '+b').replaceAll('\n', () => '\r\n'),
      {},
      'x',
    ],
    [
      'below a Mercurial header',
      lines('diff -r 514fc757521e lib/p', '--- a/lib/p\tThu', '+++ b/lib/p\tFri', ...change),
      {},
      'lib/p',
    ],
  ])('is read %s', (_, text, more, path) => {
    if (path === null) expect(shown(translate(text, more))).toEqual(['path-invalid 1'])
    else expect(pathsOf(text, more)).toEqual([path])
  })

  test('is told apart by the lines of a rename alone', () => {
    const text = lines('diff --git a/m b/n b/o', 'rename from m', 'rename to n b/o')
    expect(shown(translate(text))).toMatchObject([{ op: 'move', path: 'm', to: 'n b/o' }])
    const quoted = lines('diff --git a/m "b/n\\\\o"', 'rename from m', 'rename to "n\\303\\251"')
    expect(shown(translate(quoted))).toEqual(['parse-error 1'])
    const mixed = lines('diff --git a/m "b/n\\303\\251"', 'rename from m', 'rename to "n\\303\\251"')
    expect(shown(translate(mixed))).toMatchObject([{ path: 'm', to: 'né' }])
  })

  test.each([
    [
      'differs between the lines',
      lines('diff --git a/x b/x', '--- a/y', '+++ b/y', ...change),
      'parse-error 1',
    ],
    [
      'differs between the sides',
      lines('diff --git a/x b/y', '--- a/x', '+++ b/y', ...change),
      'parse-error 1',
    ],
    ['differs between plain sides', lines('--- a/x', '+++ b/y', ...change), 'parse-error 1'],
    ['differs from the rename', lines('diff --git a/x b/y', 'rename from x', 'rename to z'), 'parse-error 1'],
    ['cannot be told apart', lines('diff --git a/x b/y', ...chmod), 'parse-error 1'],
    ['is too short', lines('diff --git x x', ...chmod), 'parse-error 1', { strip: 1 }],
    ['is too short, plain', lines('--- x', '+++ x', ...change), 'parse-error 1', { strip: 1 }],
    ['has no prefix', lines('diff --git src/x src/x', '--- src/x', '+++ src/x', ...change), 'parse-error 1'],
    ['has no prefix, plain', lines('--- src/x', '+++ src/x', ...change), 'parse-error 1'],
    ['is badly quoted', lines('--- "a/x\\q"', '+++ "b/x\\q"', ...change), 'parse-error 1'],
    ['is not closed', lines('--- "a/x', '+++ "b/x', ...change), 'parse-error 1'],
    ['is empty', lines('--- ', '+++ ', ...change), 'parse-error 1'],
    ['is not UTF-8', lines('--- "a/\\351"', '+++ "b/\\351"', ...change), 'path-invalid 1'],
    ['climbs out', lines('--- a/../x', '+++ b/../x', ...change), 'outside-repository 1'],
    ['is absolute', lines('--- a//etc/x', '+++ b//etc/x', ...change), 'outside-repository 1'],
    ['lies in .git', lines('--- /dev/null', '+++ b/s/.git/config', '@@ -0,0 +1 @@', '+x'), 'path-invalid 1'],
    [
      'leads into .git',
      lines('diff --git a/k b/.git/k', 'rename from k', 'rename to .git/k'),
      'path-invalid 1',
    ],
    [
      'comes from outside',
      lines('diff --git a/../k b/k', 'copy from ../k', 'copy to k'),
      'outside-repository 1',
    ],
  ])('is refused where it %s', (_, text, code, more: Partial<DiffItem> = {}) => {
    expect(shown(translate(text, more))).toEqual([code])
  })
})

describe('several files of a diff', () => {
  const edit = (path: string) => git(path, ...names(path), ...change)
  const rename = (from: string, to: string) =>
    lines(`diff --git a/${from} b/${to}`, `rename from ${from}`, `rename to ${to}`)
  const copy = (from: string, to: string) =>
    lines(`diff --git a/${from} b/${to}`, `copy from ${from}`, `copy to ${to}`)
  const steps = (...sections: readonly string[]) => stepsOf(translate(sections.join('')))

  test('share a step, unless one comes back to a path', () => {
    expect(steps(edit('x'), edit('y'), edit('x'), edit('z'))).toEqual({ steps: [0, 0, 1, 0], used: 2 })
  })

  test('rename and copy the files as they were', () => {
    expect(steps(rename('a', 'b'), rename('b', 'a')).steps).toEqual([0, 0])
    expect(steps(copy('a', 'b'), edit('a')).steps).toEqual([0, 0])
    expect(steps(edit('a'), copy('a', 'b')).steps).toEqual([0, 0])
    expect(steps(rename('a', 'b'), edit('b'), edit('a'))).toEqual({ steps: [0, 1, 1], used: 2 })
  })

  test('do not rename what another changes', () => {
    expect(shown(translate(edit('a') + rename('a', 'b')))).toEqual(['parse-error 9'])
    expect(shown(translate(rename('a', 'b') + rename('a', 'c')))).toEqual(['parse-error 4'])
  })

  test('are taken back last first', () => {
    const made = translate(edit('x') + rename('y', 'z'), { reverse: true })
    expect(shown(made)).toMatchObject([{ op: 'move', path: 'z', to: 'y' }, { op: 'hunks' }])
  })

  test('may stand in mails and logs', () => {
    const mail = lines(
      'From 1234 Mon Sep 17',
      'Subject: [PATCH] - x',
      '',
      '- one',
      '+ two',
      '---',
      ' x | 2 +-',
      '',
      '',
    )
    const text = `${mail}${edit('x')}${lines('-- ', '2.39.5', '', '')}${mail}${edit('y')}${lines('--', '2.1')}`
    expect(steps(text)).toEqual({ steps: [0, 0], used: 1 })
    expect(steps(`${edit('x')}\ncommit 1234\nAuthor: A\n\n    - text\n\n${edit('y')}`).steps).toEqual([0, 0])
  })

  test('are refused together, each with its line', () => {
    expect(shown(translate(edit('../x') + edit('y') + git('z')))).toEqual([
      'outside-repository 1',
      'parse-error 17',
    ])
  })

  test.each([
    ['a hunk without header', lines(...change), 'parse-error 1'],
    [
      'a combined diff',
      lines('diff --cc x', 'index 1,2..3', '--- a/x', '+++ b/x', '@@@ -1,1 -1,1 +1,1 @@@'),
      'parse-error 1',
    ],
    ['a combined hunk', lines('@@@ -1,1 -1,1 +1,1 @@@'), 'parse-error 1'],
    ['a note of binary files', `${edit('x')}\n${lines('Binary files a/y and b/y differ')}`, 'parse-error 10'],
    ['prose', 'I changed x.\n', 'parse-error 1'],
    ['nothing', '\n', 'empty-batch 1'],
    ['half of a surrogate pair', `${one}\ud800`, 'not-utf8 1'],
  ])('are refused as %s', (_, text, code) => {
    expect(shown(translate(text))).toEqual([code])
  })

  test('are refused where the text is not the base64 that it is said to be', () => {
    expect(shown(translate(one, { encoding: 'base64' }))).toEqual(['invalid-batch 1'])
  })
})

describe('a binary patch', () => {
  const literal = (data: Uint8Array, size = data.length) =>
    lines(`literal ${size}`, ...encodeBase85(deflateSync(data)), '')
  const delta = (data: Uint8Array) => lines(`delta ${data.length}`, ...encodeBase85(deflateSync(data)), '')
  const data = Buffer.from([0, 1, 2, 255])
  const big = Buffer.alloc(100_000, 'galley\0')
  const index = `index ${idA}..${idB} 100644`
  const binary = (...parts: readonly string[]) => git('x', index, 'GIT binary patch') + parts.join('')

  test('writes what it holds over the blob that it was made from', () => {
    const write = { op: 'write', step: 0, path: 'x', mode: 'overwrite', isText: false, blob: idA }
    expect(shown(translate(binary(literal(data))))).toEqual([{ ...write, content: data.toString('latin1') }])
    const both = binary(literal(big), literal(data))
    expect(shown(translate(both))).toEqual([{ ...write, content: big.toString('latin1') }])
    expect(shown(translate(both, { reverse: true }))).toEqual([
      { ...write, blob: idB, content: data.toString('latin1') },
    ])
  })

  test('hands on a delta, on the old name of a renamed file', () => {
    const text = binary(delta(data), delta(big))
    expect(shown(translate(text))).toMatchObject([
      { op: 'delta', path: 'x', blob: idA, delta: data.toString('latin1') },
    ])
    const renamed = lines('diff --git a/x b/y', 'rename from x', 'rename to y', index, 'GIT binary patch')
    expect(shown(translate(renamed + delta(data)))).toMatchObject([
      { op: 'delta', step: 0, path: 'x' },
      { op: 'move', step: 0, path: 'x', to: 'y' },
    ])
    expect(shown(translate(renamed + literal(data)))).toMatchObject([
      { op: 'move', step: 0, path: 'x', to: 'y' },
      { op: 'write', step: 1, path: 'y', blob: idA },
    ])
  })

  test('makes a file and deletes one', () => {
    const created =
      git('x', 'new file mode 100644', `index ${zeros}..${idB}`, 'GIT binary patch') + literal(data)
    expect(shown(translate(created))).toMatchObject([{ op: 'write', mode: 'create', isText: false }])
    const empty = literal(Buffer.alloc(0))
    const removed = git('x', 'deleted file mode 100644', `index ${idA}..${zeros}`, 'GIT binary patch') + empty
    expect(shown(translate(removed))).toEqual([{ op: 'delete', step: 0, path: 'x', blob: idA }])
    const noted = git(
      'x',
      'deleted file mode 100644',
      `index ${idA}..${zeros}`,
      'Binary files a/x and /dev/null differ',
    )
    expect(shown(translate(noted))).toEqual([{ op: 'delete', step: 0, path: 'x', blob: idA }])
  })

  // Of the last group only as many bytes count as the line's letter says; the first is always read.
  const damaged = literal(data).replace(/\n([A-Z].)./, (_, start) => `\n${start}~`)
  const bad = literal(data).replace(/\n([A-Z])./, (_, start) => `\n${start}"`)

  test.each([
    ['no data', git('x', 'index 1234567..7654321', 'Binary files a/x and b/x differ'), 'parse-error 1'],
    [
      'abbreviated ids',
      git('x', 'index 1234567..7654321', 'GIT binary patch') + literal(data),
      'parse-error 1',
    ],
    ['no ids', git('x', 'GIT binary patch') + literal(data), 'parse-error 1'],
    ['another method', binary(lines('binary 3', '')), 'parse-error 4'],
    ['nothing below its line', binary(), 'parse-error 4'],
    ['a way back cut off', binary(literal(data), 'literal 999\n'), 'parse-error 7'],
    ['a line cut off', binary(literal(big).slice(0, -9)), 'parse-error 8'],
    ['a line less', binary(literal(big).replace(/\nz.*/, () => '')), 'parse-error 4'],
    ['another size', binary(literal(data, 5)), 'parse-error 4'],
    ['more than it says', binary(literal(big, 5)), 'parse-error 4'],
    ['damaged data', binary(damaged), 'parse-error 4'],
    ['a foreign sign', binary(bad), 'parse-error 5'],
    ['a line of another length', binary(literal(data).replace(/\n[A-Z]/, () => '\nz')), 'parse-error 5'],
    ['more than a file may have', binary('literal 67108865\n\n'), 'too-large 4'],
    [
      'a delta for a new file',
      git('x', 'new file mode 100644', index, 'GIT binary patch') + delta(data),
      'parse-error 1',
    ],
    [
      'content for a deleted file',
      git('x', 'deleted file mode 100644', index, 'GIT binary patch') + literal(data),
      'parse-error 1',
    ],
  ])('is refused with %s', (_, text, code) => {
    expect(shown(translate(text))).toEqual([code])
  })

  test('is refused in reverse without a part for the way back', () => {
    expect(shown(translate(binary(literal(data)), { reverse: true }))).toEqual(['parse-error 1'])
  })

  test('may lack the empty line at its end, and have CRLF lines', () => {
    expect(editsOf(translate(binary(literal(data)).trimEnd()))).toHaveLength(1)
    expect(editsOf(translate(binary(literal(data)).replaceAll('\n', () => '\r\n')))).toHaveLength(1)
  })

  test('gives back any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(editsOf(translate(binary(literal(bytes))))).toMatchObject([{ content: Buffer.from(bytes) }])
      }),
      { numRuns: pureRuns(200) },
    )
  })
})

describe('any text', () => {
  const word = fc.constantFrom(
    ...[
      'diff --git ',
      'a/x',
      ' ',
      'b/x',
      '\n',
      '--- ',
      '+++ ',
      '/dev/null',
      '@@ -1 +1 @@',
      '@@ -1,2 +0,0 @@',
      '-',
      '+',
    ],
    ...[
      'rename from ',
      'rename to ',
      'x',
      'new file mode ',
      '100644',
      'GIT binary patch\n',
      'literal 4\n',
      '"',
      '\\',
      '\t',
    ],
    ...['index 1234567..7654321', '\\ No newline', 'a\n', '\r\n'],
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(word, { maxLength: 60 }).map((words) => words.join('')),
  )

  test('is translated or refused, never more than that', () => {
    fc.assert(
      fc.property(text, fc.boolean(), fc.option(fc.nat(3), { nil: undefined }), (diff, reverse, strip) => {
        const made = translate(diff, { reverse, ...(strip === undefined ? {} : { strip }) })
        if (made.kind === 'edits') expect(made.edits.length).toBeGreaterThan(0)
        else expect(made.failures.length).toBeGreaterThan(0)
      }),
      { numRuns: pureRuns(3000) },
    )
  })

  test('cut off before the last line of a hunk is refused', () => {
    const long = git('x', ...names('x'), ...change, '@@ -9,2 +9,2 @@', '-u', '-v', '+w', '+z')
    const isCut = (text: string) => translate(text).kind === 'refused'
    // A diff that an agent trimmed has no newline at its end, so how much of its last line is there cannot be told.
    const lastLine = long.indexOf('\n c') + 1
    for (let end = long.indexOf('@@ -2') + 1; end < long.indexOf('+z'); end++) {
      const isWhole = end > lastLine && end <= lastLine + ' c\n'.length
      expect([end, isCut(long.slice(0, end))]).toEqual([end, !isWhole])
    }
  })
})

describe('a hostile size', () => {
  test('is read: 5,000 files, 100,000 hunks, a line of a megabyte', () => {
    const files = Array.from({ length: 5000 }, (_, n) => git(`d/${n}`, ...names(`d/${n}`), ...change))
    expect(editsOf(translate(files.join('')))).toHaveLength(5000)
    const many = lines(...names('x'), '@@ -1 +1 @@', '-a', '+b') + '@@ -1 +1 @@\n-a\n+b\n'.repeat(100_000)
    expect(editsOf(translate(many))).toMatchObject([{ hunks: { length: 100_001 } }])
    const long = `${' '.repeat(500_000)}${'/'.repeat(500_000)}`
    expect(editsOf(translate(lines(...names('x'), '@@ -1 +1 @@', `-${long}`, '+b')))).toHaveLength(1)
  })

  test('is refused without looking twice: names of a megabyte, too many lines, too many files', () => {
    const spaces = `a${' '.repeat(1_000_000)}`
    expect(shown(translate(git(spaces, 'old mode 100644', 'new mode 100755')))).toEqual(['path-invalid 1'])
    expect(shown(translate(lines(`diff --git ${spaces}`, 'old mode 100644', 'new mode 100755')))).toEqual([
      'parse-error 1',
    ])
    const slashes = '/ '.repeat(300_000)
    expect(shown(translate(lines(`diff --git ${slashes}`, 'old mode 100644', 'new mode 100755')))).toEqual([
      'parse-error 1',
    ])
    expect(shown(translate('@@ x\n'.repeat(2_000_001)))).toEqual(['too-large 2000001'])
    const files = Array.from({ length: 50_001 }, (_, n) => git(`${n}`, 'new file mode 100644'))
    expect(shown(translate(files.join('')))).toEqual(['too-large 100001'])
  })
})

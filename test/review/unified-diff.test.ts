import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DiffFile, DiffSide } from '../../src/review/diff-file.ts'
import { encodeDiff, numberHunks, type RenderOptions, renderDiff } from '../../src/review/unified-diff.ts'

const blobOf = (bytes: Uint8Array) =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')

function side(content: string | Uint8Array, mode: DiffSide['mode'] = '100644'): DiffSide {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content
  return { bytes, mode, blob: blobOf(bytes) }
}

const file = (path: string, before: DiffSide | null, after: DiffSide | null): DiffFile => ({
  path,
  before,
  after,
})
const plain: RenderOptions = { contextLines: 3, isColoured: false, numbersHunks: false }

/** What git makes of the diff, in a folder that holds the old sides. */
function applyByGit(
  files: readonly DiffFile[],
  diff: Uint8Array,
): Map<string, { mode: string; bytes: Buffer }> {
  const folder = mkdtempSync(join(tmpdir(), 'galley-apply-'))
  try {
    for (const { path, renamedFrom, before } of files) {
      if (before === null) continue
      const name = join(folder, renamedFrom ?? path)
      mkdirSync(dirname(name), { recursive: true })
      writeFileSync(name, before.bytes)
      chmodSync(name, before.mode === '100755' ? 0o755 : 0o644)
    }
    execFileSync('git', ['apply', '--whitespace=nowarn', '-'], {
      cwd: folder,
      input: diff,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const stats = names
      .map((name) => ({ name, stat: statSync(join(folder, name)) }))
      .filter(({ stat }) => stat.isFile())
    return new Map(
      stats.map(({ name, stat }) => [
        name,
        { mode: stat.mode & 0o100 ? '100755' : '100644', bytes: readFileSync(join(folder, name)) },
      ]),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const lineText = fc.constantFrom(
  '',
  'a',
  'b',
  'c',
  'd',
  ' ',
  '\t',
  '-- a',
  '++ b',
  '@@ -1 +1 @@',
  '\\ No',
  'é',
  'x\r',
  '\r',
  '\u2028',
)
const line = fc.oneof(
  { weight: 9, arbitrary: lineText.map((text) => Buffer.from(text, 'utf8')) },
  { weight: 1, arbitrary: fc.uint8Array({ min: 1, maxLength: 5 }).map((bytes) => Buffer.from(bytes)) },
)
const content = fc
  .tuple(fc.array(line, { maxLength: 25 }), fc.boolean())
  .map(([lines, ends]) =>
    Buffer.concat(lines.flatMap((l, i) => (i < lines.length - 1 || ends ? [l, Buffer.from('\n')] : [l]))),
  )
const mode = fc.constantFrom<DiffSide['mode']>('100644', '100755')
const aSide = fc.tuple(content, mode).map(([bytes, m]) => side(bytes, m))
/** Two sides of which the second is often a small change of the first. */
const sides = fc.oneof(
  fc.tuple(fc.option(aSide), fc.option(aSide)),
  fc.tuple(aSide, mode, fc.nat(), content).map(([before, m, at, extra]) => {
    const offset = before.bytes.length === 0 ? 0 : at % before.bytes.length
    const after = Buffer.concat([
      before.bytes.subarray(0, offset),
      extra.subarray(0, 3),
      before.bytes.subarray(offset + 2),
    ])
    return [before, side(after, m)] as const
  }),
)
const suffix = fc.constantFrom('', ' b', '"q"', '\\', '\ttab', 'ü', '\u202e', '\nline', ' -> x', '.')
const folder = fc.constantFrom('', 'dir/', 'a b/')

const changedFiles = fc
  .array(fc.tuple(sides, suffix, folder, fc.boolean()), { minLength: 1, maxLength: 40 })
  .map((rows) =>
    rows.flatMap(([[before, after], end, inFolder, isRenamed], index): readonly DiffFile[] => {
      if (before?.blob === after?.blob && before?.mode === after?.mode) return []
      const path = `${inFolder}f${index}${end}`
      return isRenamed && before !== null && after !== null
        ? [{ path: `${path}-new`, renamedFrom: path, before, after }]
        : [{ path, before, after }]
    }),
  )

describe('encodeDiff', () => {
  test('writes what git applies to the very bytes, modes and names', () => {
    fc.assert(
      fc.property(changedFiles, fc.nat({ max: 4 }), (files, contextLines) => {
        fc.pre(files.length > 0)
        // git takes a hunk without context only where it is told so; the least that it takes unasked is one line.
        const made = applyByGit(files, encodeDiff(files, { contextLines: contextLines + 1 }))
        const wanted = files.flatMap(({ path, after }) => (after === null ? [] : [[path, after] as const]))
        expect([...made.keys()].sort()).toEqual(wanted.map(([path]) => path).sort())
        for (const [path, after] of wanted) {
          expect(made.get(path)?.bytes.equals(after.bytes)).toBe(true)
          expect(made.get(path)?.mode).toBe(after.mode)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('writes what git itself writes', () => {
    const root = mkdtempSync(join(tmpdir(), 'galley-diff-'))
    const git = (...args: readonly string[]) =>
      execFileSync(
        'git',
        ['-c', 'core.quotePath=false', '-c', 'user.name=A', '-c', 'user.email=a@b', ...args],
        { cwd: root },
      )
    const before = {
      'plain.txt': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n',
      'with blank.txt': 'x\n',
      'q"uote': 'x\n',
      gone: 'x\n',
      'no-end': 'a',
      empty: '',
    }
    const after = {
      'plain.txt': 'one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\nnine\n',
      'with blank.txt': 'y\n',
      'q"uote': 'z\n',
      'no-end': 'a\n',
      empty: 'now\n',
      'new/ü': 'n',
    }
    try {
      git('init', '-q')
      for (const [name, text] of Object.entries(before)) writeFileSync(join(root, name), text)
      git('add', '.')
      git('commit', '-q', '-m', 'before')
      rmSync(join(root, 'gone'))
      mkdirSync(join(root, 'new'))
      for (const [name, text] of Object.entries(after)) writeFileSync(join(root, name), text)
      chmodSync(join(root, 'plain.txt'), 0o755)
      git('add', '-A')
      const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
      const files = names.map((path): DiffFile => {
        const oldText = Object.entries(before).find(([name]) => name === path)?.[1]
        const newText = Object.entries(after).find(([name]) => name === path)?.[1]
        const newMode = path === 'plain.txt' ? '100755' : '100644'
        return file(
          path,
          oldText === undefined ? null : side(oldText),
          newText === undefined ? null : side(newText, newMode),
        )
      })
      const theirs = git('diff', '--cached', '--full-index', '--no-renames').toString('utf8')
      // What git adds after the second @@ is the text of a line above; ours ends there.
      expect(encodeDiff(files, { contextLines: 3 }).toString('utf8')).toBe(
        theirs.replace(/^(@@ .* @@) .*$/gm, '$1'),
      )
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })
})

describe('renderDiff', () => {
  test('shows a change as git would', () => {
    const diff = renderDiff([file('a.txt', side('one\ntwo\nthree\n'), side('one\nTWO\nthree\n'))], plain)
    expect(diff.split('\n').slice(2)).toEqual([
      '--- a/a.txt',
      '+++ b/a.txt',
      '@@ -1,3 +1,3 @@',
      ' one',
      '-two',
      '+TWO',
      ' three',
      '',
    ])
  })

  test('writes out what cannot be seen, in lines and in names', () => {
    const hostile = file('a\u202eb', side('ok\n'), side('ok \u202e\u001b[2J\n'))
    const diff = renderDiff([hostile], plain)
    expect(diff).toContain('+ok \\u{202E}\\u{1B}[2J\n')
    expect(diff).toContain('+++ "b/a\\342\\200\\256b"\n')
  })

  test('lets no byte of a file reach the terminal as a command', () => {
    fc.assert(
      fc.property(changedFiles, fc.boolean(), (files, isColoured) => {
        const ours = /\u001b\[\d{1,2}m/g
        const text = renderDiff(files, { ...plain, isColoured }).replaceAll(ours, () => '')
        expect(text).not.toMatch(/[\0-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
      }),
      { numRuns: 200 },
    )
  })

  test('shows that line endings change', () => {
    const diff = renderDiff([file('a', side('x\ny\n'), side('x\r\ny\n'))], plain)
    expect(diff).toContain('-x\n+x\\u{D}\n')
  })

  test('is silent about line endings that are CRLF before and after', () => {
    const diff = renderDiff([file('a', side('x\r\ny\r\n'), side('x\r\nz\r\n'))], plain)
    expect(diff).toContain(' x\n-y\n+z\n')
  })

  test('shows that a new file has CRLF', () => {
    expect(renderDiff([file('a', null, side('x\r\n'))], plain)).toContain('+x\\u{D}\n')
  })

  test('says when the last line has no newline', () => {
    const diff = renderDiff([file('a', side('x\n'), side('x'))], plain)
    expect(diff).toContain('-x\n+x\n\\ No newline at end of file\n')
  })

  test('draws no lines of a binary file', () => {
    const diff = renderDiff([file('a.bin', side(Uint8Array.of(0, 1)), side(Uint8Array.of(0, 2)))], plain)
    expect(diff.split('\n').slice(2)).toEqual(['Binary files a/a.bin and b/a.bin differ', ''])
  })

  test('shows a mode alone', () => {
    const diff = renderDiff([file('run', side('x\n'), side('x\n', '100755'))], plain)
    expect(diff).toBe('diff --git a/run b/run\nold mode 100644\nnew mode 100755\n')
  })

  test('shows a rename, with the lines that changed on the way', () => {
    const renamed: DiffFile = {
      path: 'new',
      renamedFrom: 'old',
      before: side('a\nb\nc\nd\n'),
      after: side('a\nb\nc\nD\n'),
    }
    expect(renderDiff([renamed], plain).split('\n').slice(0, 4)).toEqual([
      'diff --git a/old b/new',
      'similarity index 75%',
      'rename from old',
      'rename to new',
    ])
  })

  test('draws a file that becomes a link as one that goes and one that comes', () => {
    const diff = renderDiff([file('a', side('text\n'), side('target', '120000'))], plain)
    expect(diff).toMatch(/deleted file mode 100644[\s\S]*-text\n[\s\S]*new file mode 120000[\s\S]*\+target\n/)
  })

  test('colours as git does, and marks inside a line', () => {
    const diff = renderDiff([file('a', side('x\n'), side('y\u200b \n'))], { ...plain, isColoured: true })
    expect(diff).toContain('\u001b[31m-x\u001b[39m\n')
    expect(diff).toContain('\u001b[32m+y\u001b[7m\\u{200B}\u001b[27m\u001b[41m \u001b[49m\u001b[39m\n')
  })

  test('numbers hunks on through all files, as numberHunks does', () => {
    const long = Array.from({ length: 30 }, (_, i) => `line ${i}`)
    const changed = long.with(2, 'two').with(25, 'twenty-five')
    const text = (lines: readonly string[]) => side(`${lines.join('\n')}\n`)
    const files = [file('a', text(long), text(changed)), file('b', null, side('new\n'))]
    const headers = renderDiff(files, { ...plain, numbersHunks: true }).match(/^@@.*$/gm)
    expect(headers).toEqual(['@@ -1,6 +1,6 @@ hunk 1', '@@ -23,7 +23,7 @@ hunk 2', '@@ -0,0 +1 @@ hunk 3'])
    expect(numberHunks(files, 3).map(({ number, path, oldStart }) => [number, path, oldStart])).toEqual([
      [1, 'a', 1],
      [2, 'a', 23],
      [3, 'b', 0],
    ])
  })
})

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix, win32 } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { checkPath, checkPathBytes, isDotGit } from '../../src/policy/paths.ts'

const codeOf = (path: string) => checkPath(path)?.code ?? null

describe('a path is taken', () => {
  test.each([
    'a',
    'src/a.ts',
    '-rf',
    '--upload-pack=x',
    'with space/and more.txt',
    ' leading space',
    '..test',
    '...three',
    '.gitignore',
    '.gitattributes',
    '.github/workflows/ci.yml',
    'git',
    'git~',
    'git~x',
    'a.git',
    'console.log',
    'auxiliary.c',
    'com10',
    'com',
    'lpt',
    'nul-terminated.md',
    'café/naïve.txt',
    '日本/語.txt',
    'ünïcode/ß.txt',
    'a*b',
    'what?.md',
    '[slug]/page.tsx',
    '(group)/page.tsx',
    '$HOME/x',
    "quote'd",
    'pipe|d',
    '~/x',
    'emoji-😀.md',
    'narrow\u202fspace.png',
    'x'.repeat(limits.segmentMaxBytes),
  ])('%j', (path) => {
    expect(checkPath(path)).toBeNull()
  })
})

describe('a path that leads out is refused with outside-repository', () => {
  test.each([
    '/x',
    '/',
    '//server/share',
    '\\x',
    '\\\\server\\share',
    'C:/x',
    'c:x',
    'x:stream',
    'C:\\x',
    '..',
    '../escape',
    'a/../../esc',
    'a/b/../../../x',
    'sub/../../n_out.txt',
    '..\\x',
    'a\\..\\..\\x',
    './../x',
    'a//../../x',
  ])('%j', (path) => {
    expect(codeOf(path)).toBe('outside-repository')
  })
})

describe('a spelling of .git is refused at any depth', () => {
  const spellings = [
    '.git',
    '.GIT',
    '.Git',
    '.gIt',
    '.git.',
    '.git..',
    '.git ',
    '.git. . ',
    '.git:stream',
    '.git::$INDEX_ALLOCATION',
    '.git ::$DATA',
    'git~1',
    'GIT~1',
    'Git~2',
    'git~10',
    'git~1.',
    'git~1:x',
    '.g\u200cit',
    '.\u200dgit',
    '\u200e.git',
    '.git\u200f',
    '.gi\u202at',
    '.gi\u202et',
    '.\u206agit',
    '.\u206fgit',
    '\ufeff.git',
    '.g\u00adit',
    '.G\u200cI\u200dT',
    '.g\u0131t',
    '\uff0egit',
    '.\uff47\uff49\uff54',
    '.\u200cg\u200ci\u200ct. ',
  ]
  test.each(spellings)('%j', (spelling) => {
    expect(isDotGit(spelling)).toBe(true)
    for (const path of [spelling, `${spelling}/hooks/x`, `sub/${spelling}/config`, `a/b/${spelling}`]) {
      expect(codeOf(path), path).toBe('path-invalid')
    }
  })

  test('and the refusal says so and names the part', () => {
    const refusal = checkPath('sub/.g\u200cit/config')
    expect(refusal?.message).toBe(
      'path "sub/.g\\u{200C}it/config": its part ".g\\u{200C}it" is a spelling of .git',
    )
    expect(refusal?.data['segment']).toBe('.g\u200cit')
  })

  test.each(['.gitx', 'x.git', '.git2', 'git', 'git~', 'git~1x', '..git', '.gi', 'gi7eba~1'])(
    'but %j is no spelling of it',
    (name) => {
      expect(isDotGit(name)).toBe(false)
    },
  )
})

describe('a path that some system would read otherwise is refused with path-invalid', () => {
  test.each([
    ['', 'is empty'],
    ['.', '"." part'],
    ['./dot', '"." part'],
    ['a/./b', '"." part'],
    ['a/../b', '".." part'],
    ['a//b', 'empty part'],
    ['a/', 'empty part'],
    ['a\\b', 'backslash'],
    ['file:stream', 'colon'],
    [':(exclude)a', 'colon'],
    ['a/b:c', 'colon'],
    ['con', 'device'],
    ['CON', 'device'],
    ['aux.txt', 'device'],
    ['a/PRN.tar.gz', 'device'],
    ['nul', 'device'],
    ['com1', 'device'],
    ['Com9.log', 'device'],
    ['lpt1/x', 'device'],
    ['com\u00b9', 'device'],
    ['LPT\u00b3.txt', 'device'],
    ['con .txt', 'device'],
    ['conin$', 'device'],
    ['CONOUT$', 'device'],
    ['name.', 'ends in a dot or space'],
    ['name ', 'ends in a dot or space'],
    ['dir./x', 'ends in a dot or space'],
    ['...', 'ends in a dot or space'],
    [' ', 'ends in a dot or space'],
    ['new\nline', 'U+000A'],
    ['tab\there', 'U+0009'],
    ['nul\0byte', 'U+0000'],
    ['esc\u001b[31m', 'U+001B'],
    ['del\u007f', 'U+007F'],
    ['c1\u0085', 'U+0085'],
    ['rtl\u202egnp.exe', 'U+202E'],
    ['isolate\u2066x', 'U+2066'],
    ['mark\u061cx', 'U+061C'],
    ['zero\u200bwidth', 'U+200B'],
    ['joined\u200d', 'U+200D'],
    ['soft\u00adhyphen', 'U+00AD'],
    ['filler\u3164', 'U+3164'],
    ['selector\ufe0f', 'U+FE0F'],
    ['tag\u{e0041}', 'U+E0041'],
    ['line\u2028separator', 'U+2028'],
    ['anchor\ufff9', 'U+FFF9'],
    ['half\ud800', 'surrogate'],
    ['\udc00', 'surrogate'],
    ['cafe\u0301.txt', 'composed form'],
    ['\u212b.txt', 'composed form'],
    [`a/${'x'.repeat(limits.segmentMaxBytes + 1)}`, `more than ${limits.segmentMaxBytes}`],
    ['é'.repeat(128), `more than ${limits.segmentMaxBytes}`],
    [Array.from({ length: limits.pathMaxDepth + 1 }, () => 'a').join('/'), 'parts, more than'],
    ['x'.repeat(limits.pathMaxBytes + 1), 'bytes, more than'],
    [Array.from({ length: 60 }, () => '日'.repeat(24)).join('/'), 'bytes, more than'],
  ])('%j: %s', (path, reason) => {
    const refusal = checkPath(path)
    expect(refusal?.code).toBe('path-invalid')
    expect(refusal?.message).toContain(reason)
  })

  test('the refusal offers the composed form', () => {
    expect(checkPath('cafe\u0301.txt')?.hint).toContain('Write it as "café.txt"')
  })

  test.each([
    ['./src/a.ts', 'src/a.ts'],
    ['a//b', 'a/b'],
    ['a/x/../b', 'a/b'],
    ['dir/', 'dir'],
  ])('the refusal of %j offers %j', (path, plain) => {
    expect(checkPath(path)?.hint).toBe(`Write it as "${plain}".`)
  })

  test('the refusal of a name that may exist says where such a file is edited', () => {
    for (const path of ['a\\b', 'xx:y', 'aux.c', 'cafe\u0301']) {
      expect(checkPath(path)?.hint, path).toContain('A file of such a name is edited where the commit has it')
    }
  })

  test('a long path is not quoted in full', () => {
    expect(checkPath(`/${'x'.repeat(1_000_000)}`)?.message.length).toBeLessThan(1000)
  })
})

describe('a path given as bytes', () => {
  const bytes = (...parts: (string | number)[]) =>
    Uint8Array.from(
      parts.flatMap((part) => (typeof part === 'number' ? [part] : [...new TextEncoder().encode(part)])),
    )

  test('is taken where it is UTF-8 and passes the rules', () => {
    expect(checkPathBytes(bytes('café/a'))).toEqual({ kind: 'path', path: 'café/a' })
    expect(checkPathBytes(bytes('a/\ufffd'))).toEqual({ kind: 'path', path: 'a/\ufffd' })
  })

  test.each([
    ['Latin-1', bytes('caf', 0xe9)],
    ['an overlong slash', bytes('a', 0xc0, 0xaf, 'b')],
    ['an encoded surrogate', bytes(0xed, 0xa0, 0x80)],
    ['a character cut off', bytes('a', 0xf0, 0x9f)],
    ['.git', bytes('.git/x')],
    ['too many bytes', new Uint8Array(10_000_000).fill(0x61)],
  ])('is refused where it holds %s', (_, path) => {
    const checked = checkPathBytes(path)
    expect(checked.kind).toBe('refused')
    expect(checked.kind === 'refused' && checked.refusal.code).toBe('path-invalid')
  })
})

const piece = fc.constantFrom(
  ...[
    'a',
    'B',
    '.',
    '..',
    '/',
    '//',
    '\\',
    ':',
    ' ',
    '.git',
    'git~1',
    'GIT',
    '~',
    '\u200c',
    '\ufeff',
    '\u0301',
    'e',
  ],
  ...[
    'con',
    '.txt',
    '-',
    '*',
    '\n',
    '\0',
    '\ud83d',
    '\ude00',
    'ß',
    'ſ',
    '日',
    '\u202e',
    '$',
    'é',
    '...',
    '\u0131',
  ],
)
const hostilePath = fc.oneof(
  fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)

describe('every path that is taken', () => {
  test('stays inside the root and means the same on every system', () => {
    fc.assert(
      fc.property(hostilePath, (path) => {
        if (checkPath(path) !== null) return
        expect(posix.resolve('/r', path)).toBe(`/r/${path}`)
        expect(win32.resolve('C:\\r', path)).toBe(`C:\\r\\${path.split('/').join('\\')}`)
        expect(path.normalize('NFC')).toBe(path)
        expect(new TextDecoder().decode(new TextEncoder().encode(path))).toBe(path)
        // An independent reading of "a spelling of .git": what is left of a name without all that any system drops.
        for (const name of path.split('/')) {
          const left = name.normalize('NFKC').replace(/[\p{Cf}\p{Cc}]|[. ]+$/gu, '')
          expect(left.toLowerCase()).not.toMatch(/^(?:\.git|git~\d+)$/)
        }
      }),
      { numRuns: 10_000 },
    )
  })

  test('is taken by git with its own guards on', () => {
    const folder = mkdtempSync(join(tmpdir(), 'galley-paths-'))
    try {
      const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
      const git = (args: readonly string[], input = '') =>
        execFileSync(
          'git',
          ['-C', folder, '-c', 'core.protectHFS=true', '-c', 'core.protectNTFS=true', ...args],
          { env, input },
        )
      git(['init', '-q'])
      const blob = git(['hash-object', '-w', '--stdin'], 'x').toString().trim()
      const paths = [...new Set(fc.sample(hostilePath, { numRuns: 5000, seed: 7 }))].filter(
        (path) => checkPath(path) === null,
      )
      expect(paths.length).toBeGreaterThan(200)
      const info = paths.map((path, index) => `100644 ${blob}\t${index}/${path}\0`).join('')
      git(['update-index', '--add', '-z', '--index-info'], info)
      expect(git(['ls-files', '-z']).toString().split('\0').length - 1).toBe(paths.length)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

test('no text makes the check throw, and every refusal has a message without invisible characters', () => {
  fc.assert(
    fc.property(hostilePath, (path) => {
      const refusal = checkPath(path)
      if (refusal === null) return
      expect(refusal.message).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u)
    }),
    { numRuns: 5000 },
  )
})

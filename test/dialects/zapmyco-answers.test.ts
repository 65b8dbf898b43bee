import { describe, expect, test } from 'vitest'
import { completedText, errorText, fileRead } from '../../src/dialects/answers/zapmyco.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8')
const read = (text: string, offset = 1, limit = 2000) => fileRead('a.txt', bytes(text), offset, limit)

describe('file_read', () => {
  test.each([
    ['a whole file', 'line1\nline2\n', 1, 2000, '文件 a.txt (共 2 行, 显示 1-2 行)\n\n1\tline1\n2\tline2\n'],
    [
      'a file without a final newline',
      'a\nb\nc',
      1,
      2000,
      '文件 a.txt (共 3 行, 显示 1-3 行)\n\n1\ta\n2\tb\n3\tc\n',
    ],
    ['from an offset', 'a\nb\nc\n', 3, 2000, '文件 a.txt (共 3 行, 显示 3-3 行)\n\n3\tc\n'],
    ['an empty file', '', 1, 2000, '文件 a.txt (共 0 行)'],
    ['past the end', 'a\n', 100, 2000, '文件 a.txt (共 1 行)\nOffset 100 超出文件末尾。'],
    ['without the byte-order mark', '\ufeffa\n', 1, 2000, '文件 a.txt (共 1 行, 显示 1-1 行)\n\n1\ta\n'],
    ['without line endings', 'a\r\nb\r\n', 1, 2000, '文件 a.txt (共 2 行, 显示 1-2 行)\n\n1\ta\n2\tb\n'],
  ])('%s', (_, text, offset, limit, expected) => {
    expect(read(text, offset, limit)).toEqual({ isError: false, text: expected })
  })

  test('says how to go on when lines are left', () => {
    const text =
      '文件 a.txt (共 4 行, 显示 1-2 行)\n\n1\ta\n2\tb\n\n---\n[显示 2/4 行，使用 offset=3 查看后续内容]'
    expect(read('a\nb\nc\nd\n', 1, 2).text).toBe(text)
  })

  test.each([
    ['a NUL at the beginning', bytes('a\0b'), 'Binary file: a.txt'],
    ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x61]), 'UTF-8'],
    [
      'more than 256 KiB',
      new Uint8Array(262_145).fill(0x61),
      'File too large: 262145 bytes (max 262144 bytes)',
    ],
    ['an answer of more than 100,000 bytes', new Uint8Array(100_000).fill(0x61), 'Output too large'],
  ])('%s is an error', (_, content, part) => {
    const answer = fileRead('a.txt', content, 1, 1)
    expect(answer.isError).toBe(true)
    expect(answer.text).toContain(part)
  })
})

describe('success', () => {
  const lines = { kind: 'lines', path: 'a.txt', from: 2, to: 4 } as const

  test('a line range lists both sides by position', () => {
    const text = completedText({ ...lines, before: 'b\nc\nd', after: 'b\nX' })
    expect(text).toBe(
      "文件 'a.txt' 编辑完成：替换 2-4 行（共 3 行）→ 共 2 行（-1 行）\n\ndiff:\n  b\n- c\n+ X\n- d",
    )
  })

  test('equal counts need no shift, growth has its sign', () => {
    expect(completedText({ ...lines, before: 'b', after: 'c' })).toContain('→ 共 1 行\n')
    expect(completedText({ ...lines, before: 'b', after: 'c\nd' })).toContain('（+1 行）')
  })

  test('an unchanged long line is cut between characters', () => {
    const line = `//${'中文'.repeat(20)}`
    const text = completedText({ ...lines, before: line, after: line })
    expect(text).toContain(`  //${'中文'.repeat(9)}中...`)
    expect(text).not.toContain('\ufffd')
  })

  test.each([
    [
      { kind: 'append', path: 'a', content: 'x\ny\n' } as const,
      "文件 'a' 追加完成：在文件末尾添加了 2 行内容。",
    ],
    [{ kind: 'replace', path: 'a', all: false } as const, "文件 'a' 编辑完成（替换 1 处）"],
    [{ kind: 'replace', path: 'a', all: true } as const, "文件 'a' 编辑完成（全部替换 所有匹配 处）"],
    [{ kind: 'list', path: 'a', edits: 3 } as const, "文件 'a' 批量编辑完成：3 个编辑已全部执行"],
    [{ kind: 'write', path: 'a', bytes: 7, isNew: true } as const, "文件 'a' 创建成功（7 字节）"],
    [
      { kind: 'write', path: 'a', bytes: 7, isNew: false } as const,
      "文件 'a' 写入完成（已覆盖原有内容，7 字节）",
    ],
  ])('%j', (done, text) => {
    expect(completedText(done)).toBe(text)
  })
})

describe('refusals', () => {
  const say = (code: Parameters<typeof errorText>[0]['code'], data = {}) =>
    errorText({ code, message: 'what galley saw', data }, 'a.txt')

  test.each([
    ['not-found', '错误: 文件不存在: a.txt'],
    ['is-directory', "错误: 'a.txt' 是一个目录，不能编辑"],
    ['binary', '错误: 二进制文件: a.txt。仅支持文本文件编辑。'],
    ['not-utf8', '错误: 文件不是有效的 UTF-8 编码: a.txt'],
  ] as const)('%s has its sentence', (code, text) => {
    expect(say(code)).toBe(text)
  })

  test.each([
    ['not-read', '未通过 file_read 读取'],
    ['stale-read', '已被外部修改'],
    ['no-match', '未找到指定的 old_string'],
    ['weak-evidence', '内容验证不通过'],
    ['overlap', '重叠'],
    ['no-identity', '错误: what galley saw'],
  ] as const)('%s says %s', (code, part) => {
    expect(say(code)).toContain(part)
  })

  test('quoted lines that do not stand in the range are listed, with those that do', () => {
    const data = { missing: ['let b = 2;'], from: 4, to: 5, found: ['let d = 4;', 'let e = 5;'] }
    expect(say('no-match', data).split('\n')).toEqual([
      "错误: 内容验证不通过：文件 'a.txt' 的第 4-5 行的实际内容与 expected 描述不一致。",
      'expected 中有 1 行未在文件中找到:',
      "  - 'let b = 2;'",
      '当前第 4-5 行的实际内容是:',
      '  4 | let d = 4;',
      '  5 | let e = 5;',
      '建议：请使用 file_read 重新读取文件确认当前内容后重试。',
      'what galley saw',
      expect.any(String),
    ])
  })

  test("an adapter's own native sentence goes first", () => {
    expect(say('invalid-batch', { native: 'edits 数组为空' })).toBe('错误: edits 数组为空')
  })

  test('what galley knows beyond the sentence stands below it', () => {
    expect(say('ambiguous-match', { lines: [1, 4, 9] })).toMatch(/出现了 3 次.*\nwhat galley saw\n/)
    expect(say('out-of-range', { totalLines: 0 })).toMatch(/^错误: 文件为空，无法编辑\n/)
  })
})

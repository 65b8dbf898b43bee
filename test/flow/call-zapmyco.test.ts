import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeRepo } from '../helpers/repo.ts'
import { always, startAgent, startTrusted } from './call-harness.ts'

describe('zapmyco', () => {
  const seven = [
    'let a = 1;',
    'let b = 2;',
    'let c = 3;',
    'let d = 4;',
    'let e = 5;',
    'let f = 6;',
    'let g = 7;',
  ]
  const file = seven.map((line) => `${line}\n`).join('')
  const range = (from: number, to: number, expected: string, content: string) => ({
    file_path: 'f.rs',
    mode: 'line_range',
    start_line: from,
    end_line: to,
    expected,
    new_content: content,
  })
  const widened = range(2, 4, 'let b = 2;\nlet c = 3;\nlet d = 4;', 'let b = 2;\nlet c = 30;\nlet d = 4;')

  test('an existing file must have been read in the session, and in this session', async () => {
    using repo = makeRepo({ files: { 'f.rs': file } })
    await using agent = await startTrusted(repo, 'zapmyco')
    await using other = await startAgent(repo, 'zapmyco', { session: 'other' })
    await other.call('file_read', { file_path: 'f.rs' })
    const text = await agent.text('file_edit', widened)
    expect(text).toContain("错误: 文件 'f.rs' 已存在，但未通过 file_read 读取")
    expect(await agent.text('file_write', { file_path: 'f.rs', content: 'x\n' })).toContain(
      '未通过 file_read 读取',
    )
    expect(repo.read('f.rs')).toBe(file)
    await agent.text('file_read', { file_path: 'f.rs' })
    expect(await agent.kind('file_edit', widened)).toBe('completed')
  })

  test('its own edits refresh the read, and a file that it made counts as read', async () => {
    using repo = makeRepo({ files: { 'x.txt': 'x\n' } })
    await using agent = await startTrusted(repo, 'zapmyco')
    expect(await agent.text('file_write', { file_path: 'f.rs', content: file })).toBe(
      "文件 'f.rs' 创建成功（77 字节）",
    )
    expect(await agent.text('file_edit', widened)).toMatch(
      /^文件 'f\.rs' 编辑完成：替换 2-4 行（共 3 行）→ 共 3 行\n\ndiff:/,
    )
    expect(
      await agent.text('file_edit', { file_path: 'f.rs', old_string: 'c = 30', new_string: 'c = 3' }),
    ).toBe("文件 'f.rs' 编辑完成（替换 1 处）")
    expect(await agent.text('file_edit', { file_path: 'f.rs', mode: 'append', content: 'end\n' })).toBe(
      "文件 'f.rs' 追加完成：在文件末尾添加了 1 行内容。",
    )
    expect(repo.read('f.rs')).toBe(`${file}end\n`)
  })

  test('a list of edits has the numbers of the file as it was', async () => {
    using repo = makeRepo({ files: { 'f.rs': file } })
    await using agent = await startTrusted(repo, 'zapmyco')
    await agent.text('file_read', { file_path: 'f.rs' })
    const first = { start_line: 1, end_line: 3, expected: seven.slice(0, 3).join('\n'), new_content: 'one' }
    const second = { start_line: 5, end_line: 7, expected: seven.slice(4).join('\n'), new_content: 'two' }
    expect(await agent.text('file_edit', { file_path: 'f.rs', edits: [first, second] })).toBe(
      "文件 'f.rs' 批量编辑完成：2 个编辑已全部执行",
    )
    expect(repo.read('f.rs')).toBe('one\nlet d = 4;\ntwo\n')
  })

  test('the form that would leave a quoted line twice is refused, with the rule or the place named', async () => {
    using repo = makeRepo({ files: { 'f.rs': file } })
    await using agent = await startTrusted(repo, 'zapmyco')
    await agent.text('file_read', { file_path: 'f.rs' })
    const outside = range(4, 4, 'let b = 2;\nlet c = 3;\nlet d = 4;', 'let c = 3;\nlet ins = 9;\nlet d = 4;')
    expect(await agent.text('file_edit', outside)).toContain('内容验证不通过')
    const short = range(2, 4, 'let b = 2;\nlet c = 3;\n}', 'x')
    expect(await agent.text('file_edit', short)).toContain('short-line rule')
    expect(repo.read('f.rs')).toBe(file)
  })

  test('reads have its numbers and its words', async () => {
    using repo = makeRepo({ files: { 'f.rs': file, 'empty.txt': '' } })
    await using agent = await startTrusted(repo, 'zapmyco')
    expect(await agent.text('file_read', { file_path: 'f.rs', offset: 2, limit: 2 })).toBe(
      '文件 f.rs (共 7 行, 显示 2-3 行)\n\n2\tlet b = 2;\n3\tlet c = 3;\n\n---\n[显示 2/7 行，使用 offset=4 查看后续内容]',
    )
    expect(await agent.text('file_read', { file_path: 'empty.txt' })).toBe('文件 empty.txt (共 0 行)')
    expect(await agent.text('file_read', { file_path: 'none' })).toBe('错误: File not found: none')
    expect(await agent.text('file_read', { file_path: join(repo.dir, 'f.rs'), limit: 1 })).toContain(
      '1\tlet a = 1;',
    )
  })

  test.each(['read-only', 'policy'])(
    'in the mode that only reads (%s) its editing tools are unknown',
    async (from) => {
      const policy = from === 'policy' ? { '.galley.json': '{"mode":"read-only"}' } : {}
      using repo = makeRepo({ files: { 'f.rs': file, ...policy } })
      await using agent = await startAgent(repo, 'zapmyco')
      const options = { approval: always, permissionMode: from === 'policy' ? 'full' : 'read-only' } as const
      expect((await agent.call('file_read', { file_path: 'f.rs' }, options)).ok).toBe(true)
      const answers = [
        await agent.call('file_edit', widened, options),
        await agent.call('file_write', { file_path: 'f.rs', content: 'x' }, options),
      ].map(({ result }) => result)
      expect(answers).toEqual([
        { kind: 'denied', text: '未知工具: file_edit' },
        { kind: 'denied', text: '未知工具: file_write' },
      ])
    },
  )
})

import { describe, expect, test } from 'vitest'
import { makeRepo } from '../helpers/repo.ts'
import { always, startAgent, startTrusted } from './call-harness.ts'

describe('Agent Zero', () => {
  const lines = 'line-1\nline-2\nline-3\n'
  const patch = (edits: readonly object[]) => ({ action: 'patch', path: 'f.txt', edits })
  const tool = 'text_editor_remote'

  test('a read has its numbered lines, and its end is named', async () => {
    using repo = makeRepo({ files: { 'f.txt': lines } })
    await using agent = await startTrusted(repo, 'agent-zero')
    expect(await agent.text(tool, { action: 'read', path: 'f.txt', line_from: 2 })).toBe(
      'f.txt 3 lines\n>>>\n   2 | line-2\n   3 | line-3\n\n<<<',
    )
    expect(await agent.text(tool, { action: 'read', path: 'none.txt' })).toBe(
      "Error (read 'none.txt'): File not found: none.txt",
    )
    expect(await agent.text(tool, { action: 'read', path: 'f.txt', line_from: 3, line_to: 2 })).toBe(
      "Error (read 'f.txt'): line_to must be >= line_from",
    )
  })

  test('a long read is cut, and only the lines shown are known', async () => {
    const long = Array.from({ length: 3000 }, (_, i) => `${i + 1}\n`).join('')
    using repo = makeRepo({ files: { 'f.txt': long } })
    await using agent = await startTrusted(repo, 'agent-zero')
    expect(await agent.text(tool, { action: 'read', path: 'f.txt' })).toContain(
      'truncated by max_lines. Continue with line_from=2001',
    )
    expect(await agent.text(tool, patch([{ from: 2500, to: 2500, content: 'x\n' }]))).toContain(
      'read file before patching',
    )
    expect(await agent.text(tool, patch([{ from: 2000, to: 2000, content: 'x\n' }]))).toBe(
      'f.txt patched successfully',
    )
  })

  test('patch_need_read: numbered edits need a read', async () => {
    using repo = makeRepo({ files: { 'f.txt': lines } })
    await using agent = await startTrusted(repo, 'agent-zero')
    const text = await agent.text(tool, patch([{ from: 2, to: 2, content: 'x\n' }]))
    expect(text).toContain('error patching f.txt: read file before patching - line numbers unknown')
    expect(repo.read('f.txt')).toBe(lines)
  })

  test('patch_stale_read: after a foreign change, whose text is shown', async () => {
    using repo = makeRepo({ files: { 'f.txt': lines } })
    await using agent = await startTrusted(repo, 'agent-zero')
    await agent.text(tool, { action: 'read', path: 'f.txt' })
    repo.write('f.txt', `line-0\n${lines}`)
    const text = await agent.text(tool, patch([{ from: 2, to: 2, content: 'x\n' }]))
    expect(text).toContain(
      'error patching f.txt: file changed since last read - re-read to get current line numbers',
    )
    expect(text).toContain('+line-0')
  })

  test('context patches chain without a read', async () => {
    using repo = makeRepo({ files: { 'f.txt': lines } })
    await using agent = await startTrusted(repo, 'agent-zero')
    expect(
      await agent.kind(tool, { action: 'patch', path: 'f.txt', patch_text: '@@ line-1\n+inserted' }),
    ).toBe('completed')
    const second = { action: 'patch', path: 'f.txt', patch_text: ' line-2\n-line-3\n+line-3-updated' }
    expect(await agent.kind(tool, second)).toBe('completed')
    expect(repo.read('f.txt')).toBe('line-1\ninserted\nline-2\nline-3-updated\n')
  })

  test('after a write the lines are known; after edits that keep their number they stay so', async () => {
    using repo = makeRepo({ files: { 'x.txt': 'x\n' } })
    await using agent = await startTrusted(repo, 'agent-zero')
    expect(await agent.text(tool, { action: 'write', path: 'f.txt', content: lines })).toBe(
      'f.txt written successfully',
    )
    expect(await agent.kind(tool, patch([{ from: 2, to: 2, content: 'a\n' }]))).toBe('completed')
    expect(await agent.kind(tool, patch([{ from: 1, to: 2, content: 'b\nc\n' }]))).toBe('completed')
    expect(repo.read('f.txt')).toBe('b\nc\nline-3\n')
  })

  test.each([
    ['an insertion', [{ from: 2, content: 'inserted\n' }]],
    ['a deletion', [{ from: 2, to: 2 }]],
    [
      'an insertion and a deletion that cancel out',
      [
        { from: 1, content: 'new\n' },
        { from: 3, to: 3 },
      ],
    ],
    ['more lines than before', [{ from: 2, to: 2, content: 'a\nb\n' }]],
  ])('after %s the numbers are stale, until the next read; text edits go on', async (_, edits) => {
    using repo = makeRepo({ files: { 'f.txt': lines } })
    await using agent = await startTrusted(repo, 'agent-zero')
    await agent.text(tool, { action: 'read', path: 'f.txt' })
    expect(await agent.text(tool, patch(edits))).toBe('f.txt patched successfully')
    const next = patch([{ from: 1, to: 1, content: 'z\n' }])
    expect(await agent.text(tool, next)).toContain('file changed since last read')
    expect(
      await agent.kind(tool, { action: 'patch', path: 'f.txt', old_text: 'line-1', new_text: 'LINE-1' }),
    ).toBe('completed')
    await agent.text(tool, { action: 'read', path: 'f.txt' })
    expect(await agent.kind(tool, next)).toBe('completed')
  })

  test('after a patch of text the numbers are stale, even if the file was never read', async () => {
    using repo = makeRepo({ files: { 'f.txt': lines } })
    await using agent = await startTrusted(repo, 'agent-zero')
    await agent.text(tool, { action: 'patch', path: 'f.txt', old_text: 'line-1', new_text: 'LINE-1' })
    expect(await agent.text(tool, patch([{ from: 2, to: 2, content: 'x\n' }]))).toContain(
      'file changed since last read',
    )
  })

  test('the mode that only reads: reads are answered, writes say what to press', async () => {
    using repo = makeRepo({ files: { 'f.txt': lines } })
    await using agent = await startAgent(repo, 'agent-zero')
    const options = { approval: always, permissionMode: 'read-only' } as const
    expect((await agent.call(tool, { action: 'read', path: 'f.txt' }, options)).ok).toBe(true)
    const { result } = await agent.call(tool, { action: 'write', path: 'f.txt', content: 'x' }, options)
    expect(result.kind).toBe('denied')
    expect(result.text).toContain('Press F3')
  })
})

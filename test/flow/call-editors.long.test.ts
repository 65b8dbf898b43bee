import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeRepo } from '../helpers/repo.ts'
import { startTrusted } from './call-harness.ts'

describe('the Anthropic text editor', () => {
  const tool = 'str_replace_based_edit_tool'

  test('view, create, str_replace, insert and undo_edit', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\ntwo\nthree\n' } })
    await using agent = await startTrusted(repo, 'anthropic-editor')
    expect(await agent.text(tool, { command: 'view', path: 'f.txt', view_range: [2, 3] })).toBe(
      "Here's the result of running `cat -n` on f.txt:\n     2\ttwo\n     3\tthree\n",
    )
    expect(await agent.text(tool, { command: 'view', path: 'f.txt', view_range: [5, 6] })).toContain('[1, 3]')
    expect(await agent.text(tool, { command: 'create', path: 'n.txt', file_text: 'n\n' })).toBe(
      'File created successfully at: n.txt',
    )
    expect(
      await agent.text(tool, { command: 'str_replace', path: 'f.txt', old_str: 'two', new_str: '2' }),
    ).toBe(
      "The file f.txt has been edited. Here's the result of running `cat -n` on a snippet of f.txt:\n     1\tone\n     2\t2\n     3\tthree\nReview the changes and make sure they are as expected. Edit the file again if necessary.",
    )
    await agent.text(tool, { command: 'view', path: 'f.txt' })
    expect(
      await agent.kind(tool, { command: 'insert', path: 'f.txt', insert_line: 3, insert_text: 'four\n' }),
    ).toBe('completed')
    expect(await agent.text(tool, { command: 'undo_edit', path: 'f.txt' })).toBe(
      "Last edit to f.txt undone successfully. Here's the result of running `cat -n` on f.txt:\n     1\tone\n     2\t2\n     3\tthree\n",
    )
    expect(await agent.kind(tool, { command: 'undo_edit', path: 'f.txt' })).toBe('completed')
    expect(repo.read('f.txt')).toBe('one\ntwo\nthree\n')
    expect(await agent.text(tool, { command: 'undo_edit', path: 'f.txt' })).toContain('No edit history found')
    expect(
      await agent.kind(tool, { command: 'str_replace', path: 'f.txt', old_str: 'one', new_str: '1' }),
    ).toBe('completed')
  })

  test('its refusals', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\none\n' } })
    await using agent = await startTrusted(repo, 'anthropic-editor')
    const replace = (old: string) => ({ command: 'str_replace', path: 'f.txt', old_str: old, new_str: 'x' })
    expect(await agent.text(tool, replace('none'))).toMatch(
      /^No replacement was performed, old_str `none` did not appear verbatim in f\.txt\./,
    )
    expect(await agent.text(tool, replace('one'))).toBe(
      'No replacement was performed. Multiple occurrences of old_str `one` in lines [1,2]. Please ensure it is unique',
    )
    expect(await agent.text(tool, { command: 'view', path: 'none.txt' })).toBe(
      'The path none.txt does not exist. Please provide a valid path.',
    )
  })
})

describe('Claude Code, MCP filesystem, Gemini and Codex', () => {
  test('Claude Code: Read, Edit, MultiEdit, Write', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\ntwo\n' } })
    await using agent = await startTrusted(repo, 'claude-code')
    const path = join(repo.dir, 'f.txt')
    expect(await agent.text('Read', { file_path: path })).toBe('     1\tone\n     2\ttwo')
    expect(await agent.text('Edit', { file_path: path, old_string: 'two', new_string: '2' })).toBe(
      `The file ${path} has been updated. Here's the result of running \`cat -n\` on a snippet of the edited file:\n     1\tone\n     2\t2`,
    )
    const edits = [
      { old_string: 'one', new_string: '1' },
      { old_string: '1', new_string: 'uno' },
    ]
    expect(await agent.kind('MultiEdit', { file_path: path, edits })).toBe('completed')
    expect(await agent.text('Write', { file_path: join(repo.dir, 'n.txt'), content: 'n' })).toBe(
      `File created successfully at: ${join(repo.dir, 'n.txt')}`,
    )
    expect(await agent.text('Edit', { file_path: path, old_string: 'none', new_string: 'x' })).toMatch(
      /^String to replace not found in file\.\nString: none\n/,
    )
    expect(await agent.text('Read', { file_path: '/etc/hostname' })).toContain('not below the root')
    expect(repo.read('f.txt')).toBe('uno\n2\n')
  })

  test('MCP filesystem: read_text_file, edit_file with its diff, write_file, move_file', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\ntwo\n' } })
    await using agent = await startTrusted(repo, 'mcp-filesystem')
    expect(await agent.text('read_text_file', { path: 'f.txt' })).toBe('one\ntwo\n')
    expect(await agent.text('read_text_file', { path: 'f.txt', head: 1 })).toBe('one')
    const diff = await agent.text('edit_file', { path: 'f.txt', edits: [{ oldText: 'two', newText: '2' }] })
    expect(diff).toMatch(/^```diff\n[\s\S]*-two\n\+2\n```\n\n$/)
    expect(await agent.text('write_file', { path: 'n.txt', content: 'n' })).toBe(
      'Successfully wrote to n.txt',
    )
    expect(await agent.text('move_file', { source: 'n.txt', destination: 'm.txt' })).toBe(
      'Successfully moved n.txt to m.txt',
    )
    expect(repo.git('log', '-1', '--format=%s')).toBe('move n.txt to m.txt')
  })

  test('Gemini: read_file in parts, replace, write_file', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\ntwo\none\n' } })
    await using agent = await startTrusted(repo, 'gemini')
    expect(await agent.text('read_file', { file_path: 'f.txt' })).toBe('one\ntwo\none\n')
    expect(await agent.text('read_file', { file_path: 'f.txt', start_line: 2, end_line: 2 })).toMatch(
      /Showing lines 2-2 of 3 total lines[\s\S]*--- FILE CONTENT \(truncated\) ---\ntwo$/,
    )
    const all = { file_path: 'f.txt', old_string: 'one', new_string: '1', allow_multiple: true }
    expect(await agent.text('replace', all)).toBe('Successfully modified file: f.txt (2 replacements).')
    expect(await agent.text('write_file', { file_path: 'f.txt', content: 'x\n' })).toBe(
      'Successfully overwrote file: f.txt.',
    )
  })

  test('Codex: a patch over several files, in a shell call too', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\n', 'd.txt': 'd\n', 'm.txt': 'm\n' } })
    await using agent = await startTrusted(repo, 'codex')
    const patch = [
      '*** Begin Patch',
      '*** Delete File: d.txt',
      '*** Update File: f.txt',
      '@@',
      '-one',
      '+1',
      '*** Update File: m.txt',
      '*** Move to: n.txt',
      '@@',
      '-m',
      '+M',
      '*** Add File: a.txt',
      '+a',
      '*** End Patch',
    ].join('\n')
    expect(await agent.text('shell', { command: ['apply_patch', patch] })).toBe(
      'Success. Updated the following files:\nA a.txt\nM f.txt\nM n.txt\nD d.txt\n',
    )
    expect(repo.git('log', '-1', '--format=%s')).toBe('edit 5 files')
    expect(await agent.kind('shell', { command: ['ls'] })).toBe('invalid_arguments')
  })

  test('a call of no system, or of two that differ, is invalid', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\n' } })
    await using agent = await startTrusted(repo, undefined)
    expect(await agent.text('edit_fil', { path: 'f.txt' })).toContain('edit_file')
    expect(await agent.kind('edit_fil', { path: 'f.txt' })).toBe('invalid_arguments')
  })
})

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cli, cliHere, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import { always, startAgent, yes } from './call-harness.ts'

describe('approval, for systems whose approvals may come later', () => {
  const input = { file_path: 'f.txt', old_string: 'one', new_string: '1' }

  test('without anybody to ask the change stays staged; once approved, the same call lands it', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\n' } })
    await using agent = await startAgent(repo, 'claude-code')
    const none = { approval: { kind: 'none' } } as const
    const denied = await agent.call('Edit', input, none)
    expect(denied).toMatchObject({ ok: false, result: { kind: 'denied' }, change: { state: 'staged' } })
    const id = denied.change?.id ?? ''
    expect(denied.result.text).toContain(`galley approve ${id}`)
    expect((await agent.call('Edit', input, none)).change?.id).toBe(id)
    await agent.galley.approve({ id })
    expect(await agent.call('Edit', input, none)).toMatchObject({ ok: true, change: { id, state: 'landed' } })
    expect(repo.read('f.txt')).toBe('1\n')
  })

  test('an undo that waits for its approval is found again by the same call', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\n' } })
    await using agent = await startAgent(repo, 'anthropic-editor')
    const tool = 'str_replace_editor'
    await agent.call(
      tool,
      { command: 'str_replace', path: 'f.txt', old_str: 'one', new_str: '1' },
      { approval: always },
    )
    const undo = () =>
      agent.call(tool, { command: 'undo_edit', path: 'f.txt' }, { approval: { kind: 'none' } })
    const { change } = await undo()
    expect((await undo()).change?.id).toBe(change?.id)
    await agent.galley.approve({ id: change?.id ?? '' })
    expect(await undo()).toMatchObject({ ok: true, change: { id: change?.id, state: 'landed' } })
    expect(repo.read('f.txt')).toBe('one\n')
  })

  test('a no at the prompt rejects the change', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\n' } })
    await using agent = await startAgent(repo, 'claude-code')
    expect(await agent.call('Edit', input)).toMatchObject({
      result: { kind: 'denied' },
      change: { state: 'rejected' },
    })
    expect(agent.screens[0]?.native).toBeNull()
  })

  test('a rule of the policy approves, and nobody is asked', async () => {
    const policy = JSON.stringify({ autoApprove: { paths: ['f.txt'] } })
    using repo = makeRepo({ files: { 'f.txt': 'one\n', '.galley.json': policy } })
    await using agent = await startAgent(repo, 'claude-code')
    expect((await agent.call('Edit', input, { approval: { kind: 'none' } })).ok).toBe(true)
    expect(agent.screens).toHaveLength(0)
  })

  test('a failing check ends the call after its approval, and the change is kept', async () => {
    const policy = JSON.stringify({ checks: [{ name: 'never', run: ['false'] }] })
    using repo = makeRepo({ files: { 'f.txt': 'one\n', '.galley.json': policy } })
    await using agent = await startAgent(repo, 'claude-code')
    agent.answers.push(yes)
    const answer = await agent.call('Edit', input)
    expect(answer.result.kind).toBe('failed')
    expect(answer.result.text).toContain('never')
    expect(repo.read('f.txt')).toBe('one\n')
  })

  test('--yes where an agent is at work is refused before anything is done', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\n' } })
    const call = { input: JSON.stringify({ tool: 'Edit', input }), env: { GALLEY_AGENT: 'x' } }
    expect(await cliHere(repo, ['call', '--yes', '--json'], call)).toMatchObject({
      code: 1,
      json: { ok: false, error: { code: 'agent-may-not-approve' } },
    })
    await using agent = await startAgent(repo, 'claude-code', { env: { GALLEY_AGENT: 'x' } })
    expect((await refusal(() => agent.call('Edit', input, { approval: always }))).code).toBe(
      'agent-may-not-approve',
    )
    agent.answers.push(yes)
    // Nor may the agent answer the prompt.
    expect((await agent.call('Edit', input)).result.kind).toBe('denied')
    expect(agent.screens).toHaveLength(0)
  })

  test('--wait: a person decides elsewhere, and the change id is told on standard error', async () => {
    using repo = makeRepo({ files: { 'greet.go': 'const greeting = "hi"\n' } })
    const edit = { path: 'greet.go', old_string: '"hi"', new_string: '"hello"' }
    const program = join(import.meta.dirname, '../../dist/galley.js')
    const child = spawn(process.execPath, [program, 'call', '--wait', '60', '--json'], {
      cwd: repo.dir,
      env: repo.env,
    })
    child.stdin.end(JSON.stringify({ tool: 'edit_file', input: edit }))
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    const noted = await new Promise<string>((resolve) =>
      child.stderr.once('data', (chunk) => resolve(String(chunk))),
    )
    const id = /(g\w{9}) waits for approval/.exec(noted)?.[1] ?? ''
    expect(cli(repo, ['approve', id]).code).toBe(0)
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      result: { kind: 'completed' },
      change: { id, state: 'landed' },
    })
  })

  test('--wait: when the time is up nothing is written, and an approval for one call alone is over', async () => {
    using repo = makeRepo({ files: { 'greet.go': 'const greeting = "hi"\n', 'f.txt': 'one\n' } })
    const wait = async (call: object) =>
      (await cliHere(repo, ['call', '--wait', '0', '--json'], { input: JSON.stringify(call) })).json
    const mino = { tool: 'edit_file', input: { path: 'greet.go', old_string: '"hi"', new_string: '"hello"' } }
    expect(await wait(mino)).toMatchObject({ result: { kind: 'denied' }, change: { state: 'rejected' } })
    expect(await wait({ tool: 'Edit', input })).toMatchObject({
      result: { kind: 'denied' },
      change: { state: 'staged' },
    })
  })
})

describe('the command line', () => {
  test('wrong words end with code 2, everything about the call with code 1', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'one\n' } })
    for (const words of [
      ['--dialect', 'none'],
      ['--wait', 'x'],
      ['--yes', '--wait', '1'],
      ['--session', ''],
      ['a', 'b'],
      ['--permission-mode', 'some'],
      ['no-such-file.json'],
    ])
      expect((await cliHere(repo, ['call', ...words])).code, words.join(' ')).toBe(2)
    for (const input of [
      '',
      '[]',
      '{"tool":"Edit"}',
      '{"op":"delete","path":"f.txt"}',
      '{"tool":"none","input":{}}',
    ]) {
      const answer = await cliHere(repo, ['call', '--json'], { input })
      expect(answer).toMatchObject({
        code: 1,
        json: { ok: false, change: null, result: { kind: 'invalid_arguments' } },
      })
      expect(Object.keys(answer.json).sort()).toEqual(['change', 'ok', 'result'])
    }
  })

  test('a text is printed as it is: a read to the byte, anything else as a line', async () => {
    using repo = makeRepo({ files: { 'f.txt': 'no newline' } })
    writeFileSync(join(repo.home, 'call.json'), '{"tool":"read_file","input":{"path":"f.txt"}}')
    expect(cli(repo, ['call', '../call.json'])).toMatchObject({ code: 0, stdout: 'no newline', stderr: '' })
    const edit = await cliHere(repo, ['call', '--yes'], {
      input: '{"tool":"Write","input":{"file_path":"f.txt","content":"x"}}',
    })
    expect(edit.stdout).toMatch(/^The file f\.txt has been updated\.[\s\S]*\n$/)
  })
})

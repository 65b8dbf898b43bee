import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, test } from 'vitest'
import { builtProgram, cliHere } from '../helpers/galley.ts'
import { connectBuilt, connectHere, eras, type Given, givenOf, yes } from '../helpers/mcp.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const greet = { title: 'Greet', edits: [{ op: 'replace', path: 'a.txt', old: 'hello', new: 'goodbye' }] }
const idOf = ({ value }: Given): string => value.change.id

/** Read, propose, approve by the person before the client, land, undo. */
async function mainJob(repo: TestRepo, call: (name: string, input: object) => Promise<Given>): Promise<void> {
  const read = await call('read_file', { path: 'a.txt' })
  expect(read.value).toMatchObject({ ok: true, content: 'hello\nworld\n', totalLines: 2 })
  expect(read.text).toContain('hello\nworld')
  const before = repo.snapshot()
  const proposed = await call('propose_edits', greet)
  expect(proposed.value.change.state).toBe('staged')
  expect(repo.snapshot()).toEqual(before)
  const landed = await call('land_change', { id: idOf(proposed) })
  expect(landed.value.change).toMatchObject({ state: 'landed', approvals: [{ via: 'mcp-client' }] })
  expect(repo.read('a.txt')).toBe('goodbye\nworld\n')
  const undone = await call('undo_change', { target: idOf(proposed) })
  const back = await call('land_change', { id: idOf(undone) })
  expect(back.isError).toBe(false)
  expect(repo.read('a.txt')).toBe('hello\nworld\n')
}

describe('read, propose, approve, land, undo', () => {
  test.each(eras)('with the official client in the era of %s', async (era) => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\nworld\n' } })
    await using mcp = await connectHere(repo, { era, person: yes })
    await mainJob(repo, mcp.call)
  })

  test('with the official client on the built command', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\nworld\n' } })
    await using mcp = await connectBuilt(repo, { person: yes })
    await mainJob(repo, mcp.call)
  })

  test('with the client of the older package', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\nworld\n' } })
    const client = new OldClient({ name: 'old', version: '1' }, { capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept' as const,
      content: { decision: 'approve' },
    }))
    const args = [builtProgram, '-C', repo.dir, 'mcp']
    await client.connect(new OldTransport({ command: process.execPath, args, env: { ...repo.env } }))
    try {
      await mainJob(repo, async (name, input) =>
        givenOf((await client.callTool({ name, arguments: { ...input } })) as Record<string, unknown>),
      )
    } finally {
      await client.close()
    }
  })
})

describe('a change that nobody approved', () => {
  test.each([
    ['the client cannot ask', undefined],
    ['the person declines', () => ({ action: 'decline' as const })],
    ['the person closes the question', () => ({ action: 'cancel' as const })],
    ['the client says yes to nothing', () => ({ action: 'accept' as const, content: {} })],
    ['the client says another word', () => ({ action: 'accept' as const, content: { decision: 'yes' } })],
  ])('does not land where %s', async (_, person) => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    for (const era of eras) {
      await using mcp = await connectHere(repo, { era, ...(person === undefined ? {} : { person }) })
      const id = idOf(await mcp.call('propose_edits', greet))
      const before = repo.snapshot()
      const refused = await mcp.call('land_change', { id })
      expect(refused.isError).toBe(true)
      expect(refused.value.error.code).toBe('not-approved')
      expect(repo.snapshot()).toEqual(before)
      expect((await mcp.call('show_change', { id })).value.change).toMatchObject({
        state: 'staged',
        approvals: [],
      })
    }
  })

  test('is rejected where the person says so, with their words', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    const content = { decision: 'reject', comment: 'say hi instead' }
    await using mcp = await connectHere(repo, { person: () => ({ action: 'accept', content }) })
    const id = idOf(await mcp.call('propose_edits', greet))
    const refused = await mcp.call('land_change', { id })
    expect(refused.value.change).toMatchObject({ state: 'rejected', rejection: 'say hi instead' })
    expect(refused.text).toContain('say hi instead')
    const edits = [{ op: 'replace', path: 'a.txt', old: 'hello', new: 'hi' }]
    const revised = await mcp.call('revise_change', { id, title: 'Greet', edits })
    expect(revised.value.change).toMatchObject({ id, revision: 2, state: 'staged' })
  })

  test('lands once a person has approved it in a terminal', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    await using mcp = await connectHere(repo)
    const id = idOf(await mcp.call('propose_edits', greet))
    const listening = mcp.call('await_decision', { id, timeout_seconds: 30, comments_seen: 0 })
    expect((await cliHere(repo, ['comment', id, 'a.txt:1', '-m', 'why?'])).code).toBe(0)
    const heard = await listening
    expect(heard.value).toMatchObject({
      outcome: 'commented',
      change: { comments: [{ text: 'why?', about: { lines: ['goodbye'] } }] },
    })
    expect(heard.text).toContain('revise_change')
    expect(heard.text).toContain('  | goodbye\n  why?')
    const waiting = mcp.call('await_decision', { id, timeout_seconds: 30 })
    expect((await cliHere(repo, ['approve', id])).code).toBe(0)
    expect((await waiting).value.outcome).toBe('approved')
    expect((await mcp.call('land_change', { id })).isError).toBe(false)
    expect(repo.read('a.txt')).toBe('goodbye\n')
  })
})

describe("a client's yes", () => {
  const asked: string[] = []
  const person = (message: string) => {
    asked.push(message)
    return yes()
  }

  test.each([
    ['a protected path', '.github/workflows/ci.yml', {}],
    ['a policy that wants a terminal', 'a.txt', { '.galley.json': '{"approval":{"requires":"terminal"}}' }],
  ])('is not even asked for with %s', async (_, path, files) => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n', ...files } })
    await using mcp = await connectHere(repo, { person })
    const edits = [{ op: 'write', path, content: 'x\n' }]
    const id = idOf(await mcp.call('propose_edits', { title: 'x', edits }))
    const before = repo.snapshot()
    asked.length = 0
    const refused = await mcp.call('land_change', { id })
    expect(refused.value.error.code).toBe('not-approved')
    expect(refused.text).toContain(`galley approve ${id}`)
    expect(asked).toEqual([])
    expect(repo.snapshot()).toEqual(before)
  })

  test('is for the bytes that were shown: none for a revision that came meanwhile', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    await using other = await connectHere(repo)
    let id = ''
    const meanwhile = async () => {
      const edits = [{ op: 'write', path: 'a.txt', content: 'evil\n' }]
      await other.call('revise_change', { id, title: 'Greet', edits })
      return yes()
    }
    await using mcp = await connectHere(repo, { person: meanwhile })
    id = idOf(await mcp.call('propose_edits', greet))
    const refused = await mcp.call('land_change', { id })
    expect(refused.value.error.code).toBe('digest-mismatch')
    expect(repo.read('a.txt')).toBe('hello\n')
  })
})

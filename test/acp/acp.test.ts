import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type AcpMessage, choosing, startEditor, unhidden } from '../helpers/acp.ts'
import { openGalley } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const write = (path: string, text: string) => ({ do: 'write', path, text })

test('an agent works in a tree, its turn is one change, and a yes in the editor lands it', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n', 'b.txt': 'two\n' } })
  const before = repo.snapshot()
  const editor = startEditor(repo)
  const { result, error } = await editor.open()
  expect(error).toBeUndefined()
  const opened = unhidden(result._meta.opened)
  expect(opened.cwd).not.toBe(repo.dir)
  expect(opened.mcpServers).toMatchObject([{ name: 'galley', args: [expect.anything(), 'mcp', repo.dir] }])
  const asked: AcpMessage[] = []
  const meanwhile: unknown[] = []
  editor.onRequest = (message) => {
    asked.push(message)
    meanwhile.push(repo.snapshot())
    return choosing('land')(message)
  }
  const turn = await editor.prompt([write('a.txt', 'uno\n'), write('dir/new.txt', 'new\n')])
  expect(turn.result.stopReason).toBe('end_turn')
  expect(meanwhile).toEqual([before])
  expect(asked[0]?.params.toolCall.content).toEqual([
    { type: 'diff', path: join(repo.dir, 'a.txt'), oldText: 'one\n', newText: 'uno\n' },
    { type: 'diff', path: join(repo.dir, 'dir/new.txt'), oldText: null, newText: 'new\n' },
  ])
  expect(repo.read('a.txt') + repo.read('dir/new.txt')).toBe('uno\nnew\n')
  await editor.prompt([write('a.txt', 'uno due\n')])
  expect(repo.read('a.txt')).toBe('uno due\n')
  expect(await editor.close()).toBe(0)
  expect(editor.stderr()).not.toContain('your repository changed')
  expect(repo.git('log', '--format=%s').split('\n').length).toBe(3)
  await using galley = await openGalley(repo)
  expect((await galley.status()).pending).toEqual([])
})

test('a rejection and a comment reach the agent with its next prompt; its next turn is the next revision', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  const before = repo.snapshot()
  const editor = startEditor(repo)
  await editor.open()
  editor.onRequest = choosing('later')
  await editor.prompt([write('a.txt', 'two\n')])
  await using galley = await openGalley(repo)
  const id = (await galley.status()).pending[0]?.id ?? ''
  await galley.comment({ id, text: 'not two', path: 'a.txt', line: 1 })
  await galley.reject({ id, reason: 'say three' })
  const { result } = await editor.prompt([write('a.txt', 'three\n')])
  const [, news] = unhidden(result._meta.heard)
  for (const said of ['say three', 'not two', '| two', id]) expect(news.text).toContain(said)
  const again = await editor.prompt('and now?')
  expect(unhidden(again.result._meta.heard)).toHaveLength(1)
  expect((await galley.show(id)).change).toMatchObject({ revision: 2, state: 'staged' })
  // What the agent takes back itself, nobody is to decide about.
  await editor.prompt([write('a.txt', 'one\n')])
  expect((await galley.status()).pending).toEqual([])
  expect(await editor.close()).toBe(0)
  expect(repo.snapshot()).toEqual(before)
})

test('paths are changed both ways, contents and what is not known are not', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n', 'sub/b.txt': 'b\n' } })
  const editor = startEditor(repo)
  const { result } = await editor.open(1, join(repo.dir, 'sub'))
  const { cwd } = unhidden(result._meta.opened)
  const tree = dirname(cwd)
  expect(basename(cwd)).toBe('sub')
  const update = {
    sessionId: 's-1',
    update: {
      uri: 'file://{{cwd}}/b.txt',
      path: '{{cwd}}/b.txt',
      oldText: '{{cwd}}',
      rawInput: 'cat {{cwd}}/b.txt',
    },
  }
  const tell = { do: 'tell', method: 'session/update', params: update }
  const raw = '{"method":"_x/unknown", "jsonrpc":"2.0","params":{"n":12345678901234567890}}'
  const words = `see ${repo.dir}/a.txt, file://${repo.dir}/a.txt and ${repo.dir}2`
  const blocks = [
    { type: 'text', text: JSON.stringify([tell, { do: 'raw', text: raw }]) },
    { type: 'text', text: words },
    { type: 'resource', resource: { uri: `file://${repo.dir}/a.txt`, text: repo.dir } },
  ]
  const turn = await editor.ask('session/prompt', { sessionId: 's-1', prompt: blocks })
  const heard = unhidden(turn.result._meta.heard)
  expect(heard[1].text).toBe(`see ${tree}/a.txt, file://${tree}/a.txt and ${repo.dir}2`)
  expect(heard[2].resource).toEqual({ uri: `file://${tree}/a.txt`, text: repo.dir })
  const place = join(repo.dir, 'sub')
  expect(editor.seen.find(({ method }) => method === 'session/update')?.params.update).toEqual({
    uri: `file://${place}/b.txt`,
    path: `${place}/b.txt`,
    oldText: cwd,
    rawInput: `cat ${place}/b.txt`,
  })
  expect(editor.lines).toContain(raw)
  await editor.close()
})

test("an agent's files are those of its tree, and no other place is read or written", async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\ntwo\nthree\n' } })
  const before = repo.snapshot()
  const editor = startEditor(repo)
  const opened = await editor.open()
  const { cwd } = unhidden(opened.result._meta.opened)
  editor.onRequest = (message) =>
    message.method === 'terminal/create' ? { terminalId: 't' } : choosing('later')(message)
  const read = (path: string, more: object = {}) => ({
    do: 'ask',
    method: 'fs/read_text_file',
    params: { path, ...more },
  })
  const save = (path: string) => ({
    do: 'ask',
    method: 'fs/write_text_file',
    params: { path, content: 'new\n' },
  })
  const { result } = await editor.prompt([
    read('{{cwd}}/a.txt', { line: 2, limit: 1 }),
    save('{{cwd}}/dir/b.txt'),
    read(join(repo.dir, 'dir/b.txt')),
    read('{{cwd}}/absent.txt'),
    ...['/etc/passwd', '{{cwd}}/../x', 'a.txt', '{{cwd}}/.git/config'].flatMap((p) => [read(p), save(p)]),
    { do: 'ask', method: 'fs/delete', params: {} },
    { do: 'ask', method: 'terminal/create', params: { cwd: '{{cwd}}', command: 'ls' } },
  ])
  const told = unhidden(result._meta.told)
  expect(told.slice(0, 4)).toEqual([{ content: 'two\n' }, {}, { content: 'new\n' }, { content: '' }])
  const codes = told.slice(4, 13).map(({ error }: AcpMessage) => error.data?.code ?? error.code)
  const twice = (code: string) => [code, code]
  expect(codes).toEqual([
    ...['outside-repository', 'outside-repository', 'path-invalid', 'path-invalid'].flatMap(twice),
    -32601,
  ])
  expect(editor.seen.some(({ method }) => method?.startsWith('fs/'))).toBe(false)
  expect(editor.seen.find(({ method }) => method === 'terminal/create')?.params.cwd).toBe(cwd)
  expect(repo.snapshot()).toEqual(before)
  await editor.close()
})

test('the second version of the protocol: a turn ends idle, and the question has the patch', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  const editor = startEditor(repo)
  const { result } = await editor.open(2)
  expect(unhidden(result._meta.opened).mcpServers).toMatchObject([{ type: 'stdio', name: 'galley' }])
  editor.onRequest = choosing('land')
  const idle = editor.next((message) => message.params?.update?.state === 'idle')
  expect(await editor.prompt([write('a.txt', 'two\n')])).toMatchObject({ result: {} })
  await idle
  const question = editor.seen.find(({ method }) => method === 'session/request_permission')
  const [diff] = question?.params.subject.toolCall.content ?? []
  expect(diff.changes).toEqual([{ operation: 'modify', path: join(repo.dir, 'a.txt') }])
  expect(diff.patch.text).toContain('-one\n+two\n')
  expect(repo.read('a.txt')).toBe('two\n')
  await editor.close()
})

test.each([
  ['the agent ends in a turn', { do: 'exit', code: 3 }, 3],
  ['the editor goes away in a turn', { do: 'hang' }, 0],
])('where %s, its work is kept as a change, and all ends clean', async (_, last, code) => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  const before = repo.snapshot()
  const editor = startEditor(repo)
  await editor.open()
  const told = { do: 'tell', method: '_x/written', params: {} }
  const written = editor.next(({ method }) => method === '_x/written')
  const turn = editor.prompt([write('a.txt', 'two\n'), told, last])
  await written
  expect(code === 3 ? await editor.exited : await editor.close()).toBe(code)
  if (code === 3) expect((await turn).error.message).toContain('the agent has ended (exit code 3)')
  await using galley = await openGalley(repo)
  const { pending } = await galley.status()
  expect(pending).toHaveLength(1)
  expect(repo.snapshot()).toEqual(before)
})

test('answers a message that it cannot take, and goes on', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  const editor = startEditor(repo)
  const large = `{"jsonrpc":"2.0","id":9,"method":"x","params":"${'a'.repeat(34 << 20)}"}`
  const deep = `{"id":8,"params":${'['.repeat(100)}${']'.repeat(100)}}`
  const strange = [
    [large, 'too-large', 9],
    [deep, 'invalid-json', 8],
    ['hello', 'invalid-json', null],
    ['[{"id":1,"method":"fs/write_text_file"}]', 'no JSON-RPC message', null],
  ] as const
  for (const [text, why, id] of strange) {
    const answer = editor.next((message) => message.error !== undefined)
    editor.send(text)
    expect(await answer).toMatchObject({ id, error: { message: expect.stringContaining(why) } })
  }
  expect((await editor.open()).result.sessionId).toBe('s-1')
  await editor.close()
})

test('no setting of the repository points the agent elsewhere', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  using other = makeRepo({ files: { 'a.txt': 'other\n' } })
  const editor = startEditor(repo)
  await editor.ask('initialize', { protocolVersion: 1 })
  const evil = { name: 'galley', command: '/bin/evil', args: [], env: [] }
  const mine = { name: 'mine', command: '/bin/mine', args: [], env: [] }
  const opened = await editor.ask('session/new', { cwd: repo.dir, mcpServers: [evil, mine] })
  const { mcpServers } = unhidden(opened.result._meta.opened)
  expect(mcpServers.map(({ name, command }: typeof mine) => [name, command])).toEqual([
    ['mine', '/bin/mine'],
    ['galley', process.execPath],
  ])
  await editor.close()
  repo.git('config', 'core.worktree', other.dir)
  const moved = startEditor(repo)
  expect((await moved.open()).error).toBeDefined()
  await moved.close()
  expect(other.read('a.txt')).toBe('other\n')
})

test('a cancelled turn is staged and not asked about; a cancelled question decides nothing', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  const before = repo.snapshot()
  const editor = startEditor(repo)
  await editor.open()
  const asked = editor.next(({ method }) => method === 'session/request_permission')
  const turn = editor.prompt([write('a.txt', 'two\n')])
  const { id } = await asked
  editor.send(JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's-1' } }))
  expect((await turn).result.stopReason).toBe('end_turn')
  // An answer that comes late is nobody's.
  editor.send(JSON.stringify({ id, result: { outcome: { outcome: 'selected', optionId: 'land' } } }))
  const questions = () => editor.seen.filter(({ method }) => method === 'session/request_permission').length
  await editor.prompt([write('a.txt', 'three\n'), { do: 'stop', reason: 'cancelled' }])
  expect(questions()).toBe(1)
  expect(repo.snapshot()).toEqual(before)
  await editor.close()
})

test('a session elsewhere is refused; one that the agent refuses leaves its tree to the next', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  const editor = startEditor(repo, { env: { REFUSE_FIRST: '1' } })
  expect((await editor.open(1, '/')).error.data.code).toBe('outside-repository')
  expect((await editor.open()).error.code).toBe(-32000)
  const { result } = await editor.open()
  expect(unhidden(result._meta.opened).cwd).toMatch(/pool-1$/)
  await editor.close()
})

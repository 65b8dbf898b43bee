import { describe, expect, test } from 'vitest'
import { dialectFor } from '../../src/dialects/registry.ts'
import { batchJsonSchema, operationSchemas, toolSchema } from '../../src/intake/batch-schema.ts'
import { adapterForms, adapterNames } from '../../src/mcp/adapter-forms.ts'
import { editProperties, editsSchema } from '../../src/mcp/edits-schema.ts'
import { resultOf } from '../../src/mcp/result.ts'
import { connectHere, eras, yes } from '../helpers/mcp.ts'
import { makeRepo } from '../helpers/repo.ts'

const RESULT_MAX_BYTES = 50_000

describe('the list of tools', () => {
  test('is the same to the byte in both eras, plain objects at the root, with annotations and output forms', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    const lists: string[] = []
    for (const era of eras) {
      await using mcp = await connectHere(repo, { era })
      const { tools } = await mcp.client.listTools()
      lists.push(JSON.stringify(tools))
      for (const { name, inputSchema, outputSchema, annotations } of tools) {
        expect([name, inputSchema.type, outputSchema?.['type']]).toEqual([name, 'object', 'object'])
        expect(Object.keys(inputSchema)).not.toContain('anyOf')
        expect(annotations).toMatchObject({ openWorldHint: false, destructiveHint: false })
        expect(JSON.stringify(inputSchema)).not.toMatch(/"type":\[/)
      }
    }
    expect(lists[0]).toBe(lists[1])
  })

  test('says of an edit what the reader of batches takes, key for key', () => {
    const keys = Object.values(operationSchemas).flatMap((schema) => Object.keys(schema.shape))
    expect(Object.keys(editProperties).sort()).toEqual(
      [...new Set([...keys, ...Object.keys(toolSchema.shape)])].sort(),
    )
    expect(editProperties.op.enum).toEqual(Object.keys(operationSchemas))
    const batch = Object.keys(batchJsonSchema()['properties'] as object)
    expect(Object.keys(editsSchema({}).properties).sort()).toEqual([...batch, 'repository'].sort())
  })
})

describe('an answer', () => {
  test('says the same in text and in value: what happened, the id, the state, what to do next', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    await using mcp = await connectHere(repo)
    const edits = [{ op: 'replace', path: 'a.txt', old: 'hello', new: 'goodbye' }]
    const { text, value } = await mcp.call('propose_edits', { title: 'Greet', edits })
    expect(value).toMatchObject({
      ok: true,
      change: { state: 'staged' },
      next: expect.stringContaining('await_decision'),
    })
    for (const said of [value.message, value.next, value.change.id, value.change.state])
      expect(text).toContain(said)
  })

  test('to what is wrong carries the data that repairs it in both', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello world\n' } })
    await using mcp = await connectHere(repo)
    const edits = [{ op: 'replace', path: 'a.txt', old: 'helo world', new: 'x' }]
    const { isError, text, value } = await mcp.call('propose_edits', { title: 'x', edits })
    expect(isError).toBe(true)
    expect(value.error).toMatchObject({ code: 'no-match', hint: expect.any(String) })
    for (const said of ['no-match', 'hello world', value.error.hint]) {
      expect(text).toContain(said)
      expect(JSON.stringify(value)).toContain(said)
    }
  })

  test('is never longer than a client shows, whatever it is about', async () => {
    const long = 'ж'.repeat(200_000)
    const nested = Array.from({ length: 10_000 }, (_, n) => ({ n, long: 'y'.repeat(100) }))
    const { content, structuredContent } = resultOf({
      message: 'm',
      next: 'the next step',
      detail: long,
      value: { nested, long },
    })
    const [first] = content as unknown as [{ text: string }]
    expect(Buffer.byteLength(first.text)).toBeLessThan(RESULT_MAX_BYTES)
    expect(first.text).toContain('the next step')
    expect(Buffer.byteLength(JSON.stringify(structuredContent))).toBeLessThan(RESULT_MAX_BYTES)
    expect(structuredContent).toMatchObject({ message: 'm', next: 'the next step' })
  })

  test('about something long shows its beginning, and says where the rest is', async () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n + 1}\n`).join('')
    using repo = makeRepo({ files: { 'long.txt': lines } })
    await using mcp = await connectHere(repo)
    const read = await mcp.call('read_file', { path: 'long.txt' })
    expect(read.value).toMatchObject({ truncated: true, totalLines: 20_000 })
    expect(read.text).toContain(`from ${read.value.to + 1}`)
    const rest = await mcp.call('read_file', { path: 'long.txt', from: read.value.to + 1 })
    expect(rest.value.content.startsWith(`line ${read.value.to + 1}\n`)).toBe(true)
    // Lines that were not shown are no evidence.
    const edits = [{ op: 'lines', path: 'long.txt', from: 19_999, content: 'x\n' }]
    expect((await mcp.call('propose_edits', { title: 'x', edits })).value.error.code).toBe('not-read')
    const all = [{ op: 'write', path: 'long.txt', content: lines.replaceAll('line', 'LINE') }]
    const big = await mcp.call('propose_edits', { title: 'x', edits: all })
    const shown = await mcp.call('show_change', { id: big.value.change.id })
    expect(Buffer.byteLength(shown.text)).toBeLessThan(RESULT_MAX_BYTES)
    expect(shown.value.diffTo).toBeLessThan(shown.value.diffLines)
    const { contents } = await mcp.client.readResource({ uri: shown.links[0] ?? '' })
    expect((contents[0] as { text: string }).text.split('\n').length).toBeGreaterThan(40_000)
  })
})

describe('a conversation', () => {
  test('keeps its reads fresh over its own landings', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\ntwo\n' } })
    await using mcp = await connectHere(repo, { person: yes })
    await mcp.call('read_file', { path: 'a.txt' })
    for (const content of ['TWO\n', 'deux\n']) {
      const edits = [{ op: 'lines', path: 'a.txt', from: 2, to: 2, content }]
      const proposed = await mcp.call('propose_edits', { title: 'x', edits })
      expect(proposed.text).not.toContain('not-read')
      const { id } = proposed.value.change
      expect((await mcp.call('land_change', { id })).isError).toBe(false)
    }
    expect(repo.read('a.txt')).toBe('one\ndeux\n')
    const all = await mcp.call('undo_change', { whole_session: true })
    await mcp.call('land_change', { id: all.value.change.id })
    expect(repo.read('a.txt')).toBe('one\ntwo\n')
  })

  test('works in several repositories, each named by its path', async () => {
    using first = makeRepo({ files: { 'a.txt': 'first\n' } })
    using second = makeRepo({ files: { 'a.txt': 'second\n' } })
    await using mcp = await connectHere(first, { directories: [first.dir, second.dir] })
    expect((await mcp.call('read_file', { path: 'a.txt' })).value.error.code).toBe('usage')
    for (const [repo, content] of [
      [first, 'first\n'],
      [second, 'second\n'],
    ] as const) {
      const read = await mcp.call('read_file', { path: 'a.txt', repository: repo.dir })
      expect(read.value.content).toBe(content)
    }
  })
})

describe('the tools of other systems', () => {
  test.each(adapterNames)('%s: each is one that its adapter knows', (name) => {
    for (const form of adapterForms[name] ?? []) expect(dialectFor(name)?.tools).toContain(form.name)
  })

  test.each([
    [
      'codex',
      'apply_patch',
      { input: '*** Begin Patch\n*** Update File: a.txt\n@@\n-hello\n+goodbye\n*** End Patch' },
    ],
    ['claude-code', 'Edit', { file_path: 'a.txt', old_string: 'hello', new_string: 'goodbye' }],
    [
      'anthropic-editor',
      'str_replace_based_edit_tool',
      { command: 'str_replace', path: 'a.txt', old_str: 'hello', new_str: 'goodbye' },
    ],
    [
      'agent-zero',
      'text_editor_remote',
      { action: 'patch', path: 'a.txt', old_text: 'hello', new_text: 'goodbye' },
    ],
    ['mcp-filesystem', 'edit_file', { path: 'a.txt', edits: [{ oldText: 'hello', newText: 'goodbye' }] }],
    [
      'gemini',
      'replace',
      { file_path: 'a.txt', instruction: 'x', old_string: 'hello', new_string: 'goodbye' },
    ],
  ] as const)(
    '%s: %s takes effect once the person before the client says yes',
    async (adapter, name, input) => {
      using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
      for (const era of eras) {
        repo.write('a.txt', 'hello\n')
        repo.commit('again')
        await using mcp = await connectHere(repo, { era, adapter, person: yes })
        const done = await mcp.call(name, input)
        expect(done.value).toMatchObject({ ok: true, kind: 'completed' })
        expect(repo.read('a.txt')).toBe('goodbye\n')
      }
    },
  )

  test('stage and say who decides where nobody can be asked, and take effect when called again after that', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    const { cliHere } = await import('../helpers/galley.ts')
    await using mcp = await connectHere(repo, { adapter: 'claude-code' })
    const edit = { file_path: 'a.txt', old_string: 'hello', new_string: 'goodbye' }
    const staged = await mcp.call('Edit', edit)
    expect(staged.value).toMatchObject({ ok: false, kind: 'denied', change: { state: 'staged' } })
    expect(repo.read('a.txt')).toBe('hello\n')
    await cliHere(repo, ['approve', staged.value.change.id])
    expect((await mcp.call('Edit', edit)).value.kind).toBe('completed')
    expect(repo.read('a.txt')).toBe('goodbye\n')
  })
})

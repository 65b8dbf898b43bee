import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type AcpMessage, startEditor } from '../helpers/acp.ts'
import { openGalley } from '../helpers/galley.ts'
import { configure, installClient, realClients } from '../helpers/real-clients.ts'
import { makeRepo } from '../helpers/repo.ts'
import { type ModelCall, startModel, type Turn } from '../helpers/scripted-model.ts'

interface Tools {
  readonly args: readonly string[]
  readonly read: (path: string) => ModelCall
  readonly edit: (path: string, from: string, to: string) => ModelCall
  readonly create: (path: string, content: string) => ModelCall
}

/** How each client's agent is started, and its own tools. */
const agents: Readonly<Record<string, Tools>> = {
  'gemini-cli': {
    args: ['--acp', '--skip-trust'],
    read: (path: string) => ({ name: 'read_file', input: { file_path: path } }),
    edit: (path: string, from: string, to: string) => ({
      name: 'replace',
      input: { file_path: path, instruction: 'edit', old_string: from, new_string: to },
    }),
    create: (path: string, content: string) => ({ name: 'write_file', input: { file_path: path, content } }),
  },
  opencode: {
    args: ['acp'],
    read: (path: string) => ({ name: 'read', input: { filePath: path } }),
    edit: (path: string, from: string, to: string) => ({
      name: 'edit',
      input: { filePath: path, oldString: from, newString: to },
    }),
    create: (path: string, content: string) => ({ name: 'write', input: { filePath: path, content } }),
  },
}

/** The tree that the agent was given, as it told the model. */
const treeIn = (conversation: string) =>
  /\/\S*\/galley\/[\w.-]+\/pool-\d+/.exec(conversation)?.[0] ?? 'no tree'

/** Read; a stale edit; its repair and two more in one turn; galley's own server; after the rejection, the mended line. */
function script(tools: Tools, mcpTool: string): readonly Turn[] {
  const at = (conversation: string, path: string) => join(treeIn(conversation), path)
  return [
    (c) => [tools.read(at(c, 'a.txt')), tools.read(at(c, 'b.txt'))],
    (c) => [tools.edit(at(c, 'b.txt'), 'two wordz', 'x')],
    (c) => [
      tools.edit(at(c, 'b.txt'), 'two words', 'three'),
      tools.edit(at(c, 'a.txt'), 'hello', 'goodbye'),
      tools.create(at(c, 'dir/new.txt'), 'new\n'),
    ],
    () => [{ name: mcpTool, input: {} }],
    () => [],
    (c) => [tools.edit(at(c, 'a.txt'), 'goodbye', 'farewell')],
    () => [],
  ]
}

test.each(Object.entries(agents))(
  '%s behind `galley acp`: a change for its turn, a rejection in its next request, and a landing',
  async (name, tools) => {
    const client = realClients[name]
    const installed = client === undefined ? { why: 'unknown' } : installClient(client)
    if (client === undefined || 'why' in installed) {
      process.stderr.write(`not tried: ${name}: ${'why' in installed ? installed.why : ''}\n`)
      return
    }
    using repo = makeRepo({ files: { 'a.txt': 'hello\n', 'b.txt': 'one\ntwo words\n' } })
    const model = await startModel(script(tools, client.tool('galley_status')))
    try {
      configure(client, repo.home, model.url)
      repo.git('config', 'user.name', 'T')
      repo.git('config', 'user.email', 't@example.org')
      const before = repo.snapshot()
      const editor = startEditor(repo, {
        agent: [installed.path, ...tools.args],
        env: { ...client.env(model.url), XDG_CONFIG_HOME: join(repo.home, '.config') },
      })
      expect((await editor.open()).error).toBeUndefined()
      let answer = 'later'
      editor.onRequest = ({ method, params }: AcpMessage) => {
        const { options = [] } = params
        const own = options.find((option: { optionId: string }) => option.optionId === answer)
        const other = options.find((option: { kind: string }) => option.kind === 'allow_once')
        const { optionId } = own ?? other ?? {}
        return method === 'session/request_permission' ? { outcome: { outcome: 'selected', optionId } } : null
      }
      const turn = await editor.prompt('change the greeting')
      expect(turn.error, editor.stderr()).toBeUndefined()
      const { gitFiles: _, ...own } = repo.snapshot()
      expect(own).toEqual((({ gitFiles: __, ...rest }) => rest)(before))
      await using galley = await openGalley(repo)
      const [pending] = (await galley.status()).pending
      expect(pending).toMatchObject({ title: 'change the greeting', files: 3 })
      await galley.reject({ id: pending?.id ?? '', reason: 'say farewell, please' })
      answer = 'land'
      expect((await editor.prompt('go on')).error).toBeUndefined()
      expect(model.left(), editor.stderr()).toBe(0)
      const heard = model.conversations.at(-1) ?? ''
      for (const said of ['say farewell, please', '0 waiting, 0 landed']) expect(heard).toContain(said)
      expect(repo.read('a.txt') + repo.read('b.txt') + repo.read('dir/new.txt')).toBe(
        'farewell\none\nthree\nnew\n',
      )
      expect(await editor.close()).toBe(0)
    } finally {
      await model.close()
    }
  },
  240_000,
)

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { builtProgram, cliHere, openGalley } from '../helpers/galley.ts'
import { configure, installClient, realClients, runClient } from '../helpers/real-clients.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { startModel, type Turn } from '../helpers/scripted-model.ts'

const SESSION_MS = 120_000

const idOf = (conversation: string, title: string): string =>
  new RegExp(`(g[a-z0-9]{9}) revision 1, staged, on main: ${title}`).exec(conversation)?.[1] ?? `no ${title}`

/** Read; three proposals in one turn, one of them stale; its repair; a landing that nobody approved; a wait, and then the end. */
function script(tool: (name: string) => string): readonly Turn[] {
  const call = (name: string, input: object) => ({ name: tool(name), input })
  const propose = (title: string, ...edits: readonly object[]) => call('propose_edits', { title, edits })
  return [
    () => [call('read_file', { path: 'a.txt' })],
    () => [
      propose('First', { op: 'replace', path: 'a.txt', old: 'hello', new: 'goodbye' }),
      propose('Second', { op: 'write', path: 'dir/new.txt', content: 'new\n', mode: 'create' }),
      propose('Third', { op: 'replace', path: 'b.txt', old: 'two wordz', new: 'x' }),
    ],
    () => [propose('Third', { op: 'replace', path: 'b.txt', old: 'two words', new: 'three' })],
    (conversation) => [call('land_change', { id: idOf(conversation, 'Second') })],
    (conversation) => [call('await_decision', { id: idOf(conversation, 'First'), timeout_seconds: 40 })],
    () => [],
  ]
}

/** A person who looks in from elsewhere: rejects the first change, with words, as soon as it is there. */
async function rejectFirst(repo: TestRepo, isOver: () => boolean): Promise<void> {
  await using galley = await openGalley(repo)
  while (!isOver()) {
    const { pending } = await galley.status()
    const first = pending.find(({ title }) => title === 'First')
    if (first !== undefined && pending.length === 3) {
      await galley.reject({ id: first.id, reason: 'say farewell, please' })
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** All that is the user's, but for what opencode notes in the git directory by itself. */
function usersOwn(repo: TestRepo) {
  const { gitFiles, ...rest } = repo.snapshot()
  const { opencode: _, ...others } = gitFiles
  return { ...rest, gitFiles: others }
}

test.each(Object.keys(realClients))(
  '%s, as setup connects it, works through the gate',
  async (name) => {
    const client = realClients[name]
    const installed = client === undefined ? { why: 'unknown' } : installClient(client)
    if (client === undefined || 'why' in installed) {
      process.stderr.write(`not tried: ${name}: ${'why' in installed ? installed.why : ''}\n`)
      return
    }
    using repo = makeRepo({ files: { 'a.txt': 'hello\n', 'b.txt': 'one\ntwo words\n' } })
    const model = await startModel(script(client.tool))
    try {
      configure(client, repo.home, model.url)
      repo.git('config', 'user.name', 'T')
      repo.git('config', 'user.email', 't@example.org')
      const env = { XDG_CONFIG_HOME: join(repo.home, '.config') }
      const command = `${process.execPath} ${builtProgram} mcp`
      expect(
        (await cliHere(repo, ['setup', name, '--user', '--yes', '--command', command], { env })).code,
      ).toBe(0)
      const before = usersOwn(repo)
      let isOver = false
      const person = rejectFirst(repo, () => isOver)
      const place = { home: repo.home, cwd: repo.dir, modelUrl: model.url, timeoutMs: SESSION_MS }
      const { output } = await runClient(client, installed.path, place)
      isOver = true
      await person
      expect(model.left(), output).toBe(0)
      expect(usersOwn(repo)).toEqual(before)
      const heard = model.conversations.at(-1) ?? ''
      for (const said of ['no-match', 'two words', 'not-approved', 'say farewell, please'])
        expect(heard).toContain(said)
      await using galley = await openGalley(repo)
      const { pending } = await galley.status()
      expect(pending.map(({ title }) => title).sort()).toEqual(['Second', 'Third'])
      for (const { id } of pending) {
        await galley.approve({ id })
        await galley.land({ id })
      }
      expect(repo.read('b.txt') + repo.read('dir/new.txt')).toBe('one\nthree\nnew\n')
    } finally {
      await model.close()
    }
  },
  2 * SESSION_MS,
)

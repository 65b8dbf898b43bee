/**
 * Measures what the Model Context Protocol adds to a rule-approved edit: propose and land through the built `galley mcp`, against the
 * library's own time in the same repository. By hand:
 *
 *     npm run bench -- mcp [files, default 100000] [rounds, default 20]
 *
 * Bound: at most 15 ms at 100,000 files, two calls together. Start-up is shown besides: until the answer to `initialize`, and to `tools/list`.
 */
import { execFileSync } from 'node:child_process'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { open } from '../../src/flow/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const fileCount = Number(process.argv[2] ?? 100_000)
const rounds = Number(process.argv[3] ?? 20)
const POLICY = '{ "autoApprove": { "paths": ["**"] } }\n'

function fill(repo: TestRepo): void {
  const blob = (path: string, text: string) =>
    `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`
  const pathOf = (n: number) => `p${Math.floor(n / 1000)}/m${Math.floor((n % 1000) / 50)}/f${n % 50}.ts`
  const files = Array.from({ length: fileCount }, (_, n) => blob(pathOf(n), `file ${n}\n`)).join('')
  const own = `${blob('.galley.json', POLICY)}${blob('a.txt', 'round 0\n')}`
  const input = `commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 3\nall\n${files}${own}\n`
  execFileSync('git', ['fast-import', '--quiet'], { cwd: repo.dir, env: repo.env, input })
  repo.git('checkout', '--quiet', '-f', 'main')
}

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0
const shown = (times: readonly number[]): string =>
  `${median(times).toFixed(1)} ms (least ${Math.min(...times).toFixed(1)})`

using repo = makeRepo()
fill(repo)
const batchOf = (n: number, who: string) => ({
  title: `Round ${n} by ${who}`,
  edits: [{ op: 'write', path: 'a.txt', content: `round ${n} by ${who}\n` }],
})

const galley = await open(repo.dir, { env: repo.env })
const begun = performance.now()
const client = new Client({ name: 'bench', version: '1' }, { capabilities: {} })
const args = [new URL('../../dist/galley.js', import.meta.url).pathname, '-C', repo.dir, 'mcp']
await client.connect(new StdioClientTransport({ command: process.execPath, args, env: { ...repo.env } }))
const connected = performance.now() - begun
await client.listTools()
const listed = performance.now() - begun

async function byLibrary(n: number): Promise<void> {
  // In a session of its own, as the client's calls are: its journal is the library's work, not the protocol's.
  const agent = { name: 'bench', session: 'library' }
  const { change } = await galley.propose({ batch: { version: 1, agent, ...batchOf(n, 'library') } })
  await galley.land({ id: change.id })
}

async function byProtocol(n: number): Promise<void> {
  const proposed = await client.callTool({ name: 'propose_edits', arguments: batchOf(n, 'mcp') })
  const { change } = proposed.structuredContent as { change: { id: string } }
  const landed = await client.callTool({ name: 'land_change', arguments: { id: change.id } })
  if (landed.isError === true) throw new Error(JSON.stringify(landed.content))
}

const times: Record<'library' | 'protocol', number[]> = { library: [], protocol: [] }
for (let n = 1; n <= rounds + 2; n++) {
  for (const [name, run] of [
    ['library', byLibrary],
    ['protocol', byProtocol],
  ] as const) {
    const start = performance.now()
    await run(n)
    // The first two load what is loaded once.
    if (n > 2) times[name].push(performance.now() - start)
  }
}
await client.close()
await galley.close()
const added = median(times.protocol) - median(times.library)
process.stdout.write(
  `${fileCount} files, ${rounds} rounds\nstart: initialize ${connected.toFixed(0)} ms, tools/list ${listed.toFixed(0)} ms\nlibrary ${shown(times.library)}\nmcp     ${shown(times.protocol)}\nadds    ${added.toFixed(1)} ms (least ${(Math.min(...times.protocol) - Math.min(...times.library)).toFixed(1)})\n`,
)

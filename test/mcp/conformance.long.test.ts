import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openWorld } from '../../src/flow/world.ts'
import { httpHandler } from '../../src/mcp/http-handler.ts'
import { serveOverHttp } from '../../src/mcp/serve.ts'
import { serveHttp } from '../../src/mcp/serve-http.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { fixtureServer } from '../helpers/conformance-fixture.ts'
import { installPackage } from '../helpers/real-clients.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const token = 'a-token-for-this-test'

/** The runner sends no token: this puts it on, and hands everything else on as it came. */
async function withToken(url: string) {
  const target = new URL(url)
  const server = createServer((incoming, outgoing) => {
    const { host = '', ...headers } = incoming.headers
    const isLocal = /^(?:localhost|127\.0\.0\.1)(?::|$)/.test(host)
    const sent = request(
      url,
      {
        method: incoming.method,
        headers: { ...headers, host: isLocal ? target.host : host, authorization: `Bearer ${token}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      },
    )
    sent.on('error', () => outgoing.destroy())
    outgoing.on('close', () => sent.destroy())
    incoming.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => server.closeAllConnections() ?? server.close() }
}

/** Galley's own server, and one with the tools that the runner calls by name, on the same stack. */
const servers = {
  galley: (repo: TestRepo) =>
    serveOverHttp({
      directories: [repo.dir],
      open: (directory) => openWorld(directory, { env: repo.env, clock: systemClock }),
      clock: systemClock,
      adapter: null,
      port: 0,
      token,
    }),
  fixture: () => {
    const random = () => randomBytes(18).toString('hex')
    const handler = httpHandler({ perRequest: fixtureServer, sessions: { make: fixtureServer, random } })
    return serveHttp({ port: 0, token, handler })
  },
} as const

/** What galley's own tools let the runner try. */
const OWN = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection'],
  '2026-07-28': [
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'dns-rebinding-protection',
    'server-sse-multiple-streams',
    'input-required-result-unsupported-methods',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
    'http-header-validation',
  ],
}

/**
 * What the runner tries beside its requirements, and reports as failed on the fixture; none of it is scored.
 */
const LEFT_OUT: readonly (readonly [name: RegExp, why: string])[] = [
  [/^tasks-/, 'an extension that galley does not offer: await_decision is a call that waits, with progress'],
  [/^json-schema-2020-12$/, 'pending in the set itself, and wants a tool whose schema has references'],
  [
    /^http-custom-header-server-validation$/,
    'wants a tool whose arguments are told as headers; galley has none',
  ],
]

const revisions = Object.keys(OWN) as readonly (keyof typeof OWN)[]

/** Every server scenario that a revision requires, as the runner's own list has it. */
function required(runner: string, revision: string): readonly string[] {
  const list = readFileSync(join(dirname(runner), '../requirements', `${revision}.yaml`), 'utf8')
  const server = /^server:\n((?: {2}.*\n|\s*#.*\n|\n)*)/m.exec(list)?.[1] ?? ''
  return [...server.matchAll(/^ {2}- ([\w-]+)/gm)].map(([, name]) => name ?? '')
}

async function conform(kind: keyof typeof servers, revision: string) {
  const runner = installPackage(
    '@modelcontextprotocol/conformance',
    '0.2.0-alpha.12',
    'node_modules/@modelcontextprotocol/conformance/dist/index.js',
  )
  const system = `node-${process.platform}-${process.arch}`
  const node = installPackage(system, '22.23.5', `node_modules/${system}/bin/node`)
  if ('why' in runner || 'why' in node) {
    process.stderr.write(`not tried: ${'why' in runner ? runner.why : ''} ${'why' in node ? node.why : ''}\n`)
    return null
  }
  using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
  const serving = await servers[kind](repo)
  const front = await withToken(serving.url)
  try {
    const args = [runner.path, 'server', '--url', front.url, '--requirements', revision]
    const child = spawn(node.path, args, {
      cwd: repo.home,
      env: { ...repo.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const said = await text(child.stdout)
    const passed = [...said.matchAll(/✓ ([\w-]+): \d+ passed, 0 failed/g)].map(([, name]) => name ?? '')
    const failed = [...said.matchAll(/^✗ ([\w-]+): /gm)].map(([, name]) => name ?? '')
    return { passed, failed, required: required(runner.path, revision) }
  } finally {
    front.close()
    await serving.close()
  }
}

test.each(revisions)(
  'the conformance runner finds nothing against galley in the requirements of %s that it can try',
  async (revision) => {
    const found = await conform('galley', revision)
    if (found !== null) expect(found.passed).toEqual(expect.arrayContaining(OWN[revision]))
  },
  300_000,
)

test.each(revisions)(
  "every server requirement of %s passes with the runner's own tools on galley's stack",
  async (revision) => {
    const found = await conform('fixture', revision)
    if (found === null) return
    expect(found.required.length).toBeGreaterThan(25)
    expect(found.required.filter((name) => !found.passed.includes(name))).toEqual([])
    expect(found.failed.filter((name) => !LEFT_OUT.some(([left]) => left.test(name)))).toEqual([])
  },
  300_000,
)

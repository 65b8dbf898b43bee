import { spawn } from 'node:child_process'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openWorld } from '../../src/flow/world.ts'
import { serveOverHttp } from '../../src/mcp/serve.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { installPackage } from '../helpers/real-clients.ts'
import { makeRepo } from '../helpers/repo.ts'

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

/**
 * What galley's own tools let the runner try; the other scenarios call tools, prompts and resources by names that only a server made for
 * the runner has (`test_simple_text`, …), or extensions that galley does not offer (tasks, completion, prompts).
 */
const sets = [
  ['2025-11-25', ['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection']],
  [
    '2026-07-28',
    [
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
  ],
] as const

test.each(sets)(
  'the conformance runner finds nothing against galley in the requirements of %s that it can try',
  async (revision, scenarios) => {
    const runner = installPackage(
      '@modelcontextprotocol/conformance',
      '0.2.0-alpha.12',
      'node_modules/@modelcontextprotocol/conformance/dist/index.js',
    )
    const system = `node-${process.platform}-${process.arch}`
    const node = installPackage(system, '22.23.5', `node_modules/${system}/bin/node`)
    if ('why' in runner || 'why' in node) {
      process.stderr.write(
        `not tried: ${'why' in runner ? runner.why : ''} ${'why' in node ? node.why : ''}\n`,
      )
      return
    }
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    const serving = await serveOverHttp({
      directories: [repo.dir],
      open: (directory) => openWorld(directory, { env: repo.env, clock: systemClock }),
      clock: systemClock,
      adapter: null,
      port: 0,
      token,
    })
    const front = await withToken(serving.url)
    try {
      const args = [runner.path, 'server', '--url', front.url, '--requirements', revision]
      const child = spawn(node.path, args, {
        cwd: repo.home,
        env: { ...repo.env },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const said = await text(child.stdout)
      const passed = [...said.matchAll(/✓ ([\w-]+): \d+ passed, 0 failed/g)].map(([, name]) => name)
      expect(passed).toEqual(expect.arrayContaining([...scenarios]))
    } finally {
      front.close()
      await serving.close()
    }
  },
  300_000,
)

import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestRepo } from './repo.ts'

/** A bare repository behind HTTP on the loopback, for those who say the password. */
export interface HttpRemote {
  readonly url: string
  /** Requests that came with the password, and without. */
  readonly seen: { allowed: number; refused: number }
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Serves the repository by `git http-backend`, as a web server does. */
export async function serveHttp(bare: TestRepo, user: string, password: string): Promise<HttpRemote> {
  const seen = { allowed: 0, refused: 0 }
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const server = createServer((request, response) => {
    if (request.headers.authorization !== expected) {
      seen.refused++
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
      return
    }
    seen.allowed++
    const [path = '', query = ''] = (request.url ?? '').split('?')
    const backend = spawn('git', ['http-backend'], {
      env: {
        ...bare.env,
        GIT_PROJECT_ROOT: bare.dir,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: path,
        QUERY_STRING: query,
        REMOTE_USER: user,
        REQUEST_METHOD: request.method ?? 'GET',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
    })
    request.pipe(backend.stdin)
    const chunks: Buffer[] = []
    backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    backend.on('close', () => {
      const answer = Buffer.concat(chunks)
      const end = answer.indexOf('\r\n\r\n')
      for (const line of answer.toString('latin1', 0, end).split('\r\n')) {
        const [name = '', value = ''] = line.split(': ')
        if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
        else response.setHeader(name, value)
      }
      response.end(answer.subarray(end + 4))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}/`, seen, [Symbol.asyncDispose]: close }
}

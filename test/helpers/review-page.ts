import { join } from 'node:path'
import { openPlaces } from '../../src/flow/places.ts'
import { openWorld } from '../../src/flow/world.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { readPageFiles } from '../../src/web/page-files.ts'
import { serveReview } from '../../src/web/serve-review.ts'
import { builtProgram } from './galley.ts'
import type { TestRepo } from './repo.ts'

/** The server of the review page in this process, with the page as it was built; closed with the scope. */
export async function pageHere(repo: TestRepo, token = 'the-only-token') {
  const open = (directory: string) => openWorld(directory, { env: repo.env, clock: systemClock })
  const places = openPlaces({ directories: [repo.dir], open, idleMs: 5_000 })
  const server = await serveReview({
    port: 0,
    token,
    newSession: () => Buffer.from(systemClock.random(24)).toString('base64url'),
    places,
    repository: 'repo',
    assets: readPageFiles(builtProgram),
  })
  return {
    ...server,
    token,
    address: `${server.url}#token=${token}`,
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await places.close()
    },
  }
}

/** Asks as a program does. */
export async function asks(
  url: string,
  path: string,
  options: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
) {
  const { body, headers = {} } = options
  const request =
    body === undefined
      ? { headers }
      : {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }
  const response = await fetch(new URL(path, url), request)
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was answered
  const value: any = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
  return { status: response.status, value, headers: response.headers }
}

/** A session's cookie. */
export async function cookieOf({
  url,
  token,
}: {
  readonly url: string
  readonly token: string
}): Promise<Record<string, string>> {
  const { headers } = await asks(url, '/api/session', { body: { token } })
  return { cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}

/** Debian's browser. */
export const CHROMIUM = join('/usr/bin', 'chromium')

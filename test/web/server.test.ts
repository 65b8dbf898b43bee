import { request } from 'node:http'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { batch, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { asks, cookieOf, pageHere } from '../helpers/review-page.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

const numbered = Array.from({ length: 40 }, (_, n) => `line ${n + 1}`)
const text = (edits: Readonly<Record<number, string>> = {}) =>
  `${numbered.map((line, n) => edits[n + 1] ?? line).join('\n')}\n`

async function propose(repo: TestRepo, edits: Readonly<Record<number, string>>): Promise<string> {
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({
    batch: batch([{ op: 'write', path: 'a.txt', content: text(edits) }], { title: 'Edit' }),
  })
  return change.id
}

describe('the page is for one session', () => {
  test('which the token opens once', async () => {
    using repo = makeRepo({ files: { 'a.txt': text() } })
    await using page = await pageHere(repo)
    expect((await asks(page.url, '/api/changes')).status).toBe(401)
    expect((await asks(page.url, '/api/session', { body: { token: 'wrong' } })).status).toBe(401)
    const { cookie } = await cookieOf(page)
    expect((await asks(page.url, '/api/changes', { headers: { cookie: cookie ?? '' } })).status).toBe(200)
    expect((await asks(page.url, '/api/session', { body: { token: page.token } })).status).toBe(401)
    expect(
      (await asks(page.url, '/api/changes', { headers: { cookie: 'galley_review=guessed' } })).status,
    ).toBe(401)
  })

  test('of this address: another Host, another origin, another site get nothing', async () => {
    using repo = makeRepo({ files: { 'a.txt': text() } })
    await using page = await pageHere(repo)
    const headers = await cookieOf(page)
    const statusFor = (more: Readonly<Record<string, string>>, path = '/api/changes') =>
      new Promise<number>((resolve, reject) => {
        request(new URL(path, page.url), { headers: { ...headers, ...more } }, (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        })
          .on('error', reject)
          .end()
      })
    const { port } = new URL(page.url)
    expect(await statusFor({})).toBe(200)
    expect(await statusFor({ host: `localhost:${port}` })).toBe(200)
    for (const more of [
      { host: 'evil.example' },
      { host: `evil.example:${port}` },
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ])
      expect([more, await statusFor(more)]).toEqual([more, 403])
    expect(await statusFor({ host: 'evil.example' }, '/')).toBe(403)
  })

  test('and may load nothing from elsewhere, nor make markup of text', async () => {
    using repo = makeRepo({ files: { 'a.txt': text() } })
    await using page = await pageHere(repo)
    const { headers, value } = await asks(page.url, '/')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    expect(headers.get('content-security-policy')).toContain(
      "require-trusted-types-for 'script'; trusted-types 'none'",
    )
    expect([...value.matchAll(/(?:src|href)="([^"]+)"/g)].map((match: RegExpMatchArray) => match[1])).toEqual(
      ['/app.css', '/app.js'],
    )
  })
})

describe('a review by the page', () => {
  test('lands exactly what was accepted, and the rest reaches the agent with its reason', async () => {
    using repo = makeRepo({ files: { 'a.txt': text() } })
    const id = await propose(repo, { 3: 'three', 20: 'twenty', 38: 'thirty-eight' })
    await using page = await pageHere(repo)
    const headers = await cookieOf(page)
    const { value: change } = await asks(page.url, `/api/changes/${id}`, { headers })
    expect(
      change.pieces.map(({ number, lines }: { number: number; lines: object[] }) => [number, lines.length]),
    ).toEqual([
      [1, 7],
      [2, 8],
      [3, 7],
    ])
    const decide = (index: number, decision: object) => ({
      kind: 'decide',
      revision: 1,
      keys: [change.pieces[index].key],
      decision,
    })
    const actions = [
      decide(0, { kind: 'accepted' }),
      decide(1, { kind: 'rejected', reason: 'not this' }),
      decide(2, { kind: 'edited', text: change.pieces[2].newText.replace('thirty-eight', '38'), reason: '' }),
    ]
    const acted = await asks(page.url, `/api/changes/${id}/act`, { headers, body: { actions } })
    expect(acted.value.decided.map(({ via }: { via: string }) => via)).toEqual(['web', 'web', 'web'])
    const done = await asks(page.url, `/api/changes/${id}/finish`, {
      headers,
      body: { digest: change.digest, does: 'land' },
    })
    expect(done.value).toEqual({ kind: 'landed', state: 'landed', revision: 2 })
    expect(repo.read('a.txt')).toBe(text({ 3: 'three', 38: '38' }))
    await using galley = await openGalley(repo)
    expect(JSON.stringify(await galley.show(id))).toContain('not this')
  })

  test('with a stale page approves nothing, and changes nothing', async () => {
    using repo = makeRepo({ files: { 'a.txt': text() } })
    const id = await propose(repo, { 3: 'three' })
    await using page = await pageHere(repo)
    const headers = await cookieOf(page)
    const { value: change } = await asks(page.url, `/api/changes/${id}`, { headers })
    await using galley = await openGalley(repo)
    await galley.propose({
      batch: batch([{ op: 'write', path: 'a.txt', content: text({ 3: 'other' }) }], { title: 'Edit' }),
      revise: id,
    })
    const before = repo.snapshot()
    const stale = await asks(page.url, `/api/changes/${id}/act`, {
      headers,
      body: {
        actions: [
          { kind: 'decide', revision: 1, keys: [change.pieces[0].key], decision: { kind: 'accepted' } },
        ],
      },
    })
    expect(stale.status).toBe(200)
    const refused = await asks(page.url, `/api/changes/${id}/finish`, {
      headers,
      body: { digest: change.digest, does: 'land' },
    })
    expect([refused.status, refused.value.error.code]).toEqual([409, 'digest-mismatch'])
    expect((await galley.show(id)).change.state).toBe('staged')
    expect(repo.snapshot()).toEqual(before)
  })

  test('that is decided elsewhere meanwhile is told so', async () => {
    using repo = makeRepo({ files: { 'a.txt': text() } })
    const id = await propose(repo, { 3: 'three' })
    await using page = await pageHere(repo)
    const headers = await cookieOf(page)
    const { value: change } = await asks(page.url, `/api/changes/${id}`, { headers })
    await using galley = await openGalley(repo)
    await galley.reject({ id, reason: 'no' })
    const refused = await asks(page.url, `/api/changes/${id}/finish`, {
      headers,
      body: { digest: change.digest, does: 'send-back' },
    })
    expect([refused.status, refused.value.error.code]).toEqual([409, 'wrong-state'])
  })
})

test.each<[string, string, unknown, number]>([
  ['no JSON', '/act', 'x', 409],
  ['no list', '/act', { actions: {} }, 409],
  [
    'an action of no view',
    '/act',
    { actions: [{ kind: 'open', revision: 9, digest: '', pieces: { keys: [], fileKeys: [] } }] },
    409,
  ],
  [
    'another view’s name',
    '/act',
    { actions: [{ kind: 'decide', revision: 1, keys: 'all', decision: { kind: 'accepted' } }] },
    409,
  ],
  ['what was sent already', '/act', { actions: [{ kind: 'sent' }] }, 409],
  ['an end that is none', '/finish', { digest: 'x', does: 'force' }, 409],
  ['far too much', '/act', `"${'x'.repeat(9 * 1024 * 1024)}"`, 413],
])('%s is refused, and nothing changes', async (_name, path, body, status) => {
  using repo = makeRepo({ files: { 'a.txt': text() } })
  const id = await propose(repo, { 3: 'three' })
  await using page = await pageHere(repo)
  const headers = await cookieOf(page)
  const before = repo.snapshot()
  const { status: got, value } = await asks(page.url, `/api/changes/${id}${path}`, { headers, body })
  expect([got, typeof value.error.code]).toEqual([status, 'string'])
  expect(repo.snapshot()).toEqual(before)
})

test('a change that is none has a code; an image is served by its bytes alone', async () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  using repo = makeRepo({ files: { 'a.txt': text() } })
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({
    batch: batch([
      { op: 'write', path: 'a.png', encoding: 'base64', content: png.toString('base64') },
      { op: 'write', path: 'b.png', content: '<svg onload="alert(1)"/>\n' },
    ]),
  })
  await using page = await pageHere(repo)
  const headers = await cookieOf(page)
  expect((await asks(page.url, '/api/changes/gnothing00', { headers })).value.error.code).toBe(
    'unknown-change',
  )
  const { value } = await asks(page.url, `/api/changes/${change.id}`, { headers })
  const [image, fake] = value.files
  expect([image.image, fake.image]).toEqual([true, false])
  const shown = await asks(page.url, `/api/changes/${change.id}/image/${image.key}/after`, { headers })
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(
    (await asks(page.url, `/api/changes/${change.id}/image/${fake.key}/after`, { headers })).status,
  ).toBe(404)
})

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Places } from '../flow/places.ts'
import { finishReview } from '../flow/review/finish-review.ts'
import { actOnReview, openReview, readReviewDraft } from '../flow/review/open-review.ts'
import { status } from '../flow/status.ts'
import { GalleyError, refuse } from '../model/error.ts'
import { refusalOf } from '../model/refusal-of.ts'
import type { PageList } from '../page/page-values.ts'
import { visible } from '../review/visible.ts'
import { openAccess, type PageAccess, POLICY } from './page-access.ts'
import { readActions } from './read-actions.ts'
import { imageTypeOf, pageChange } from './review-value.ts'

const BODY_MAX_BYTES = 8 * 1024 * 1024

export interface ReviewServerOptions {
  /** 0 = any that is free. */
  readonly port: number
  readonly token: string
  readonly newSession: () => string
  readonly places: Places
  /** Name of the repository, for the page's head. */
  readonly repository: string
  /** The page's own files, by their paths. */
  readonly assets: ReadonlyMap<string, PageAsset>
}

export interface PageAsset {
  readonly type: string
  readonly bytes: Uint8Array
}

export interface ReviewServer {
  readonly url: string
  readonly close: () => Promise<void>
}

/**
 * Serves the review page on the loopback interface: to one browser session, which the one-time token opens.
 *
 * @throws GalleyError `io-error`, where the port cannot be had.
 */
export async function serveReview(options: ReviewServerOptions): Promise<ReviewServer> {
  const access = openAccess(options.token, options.newSession)
  const app = new Hono()
  let port = options.port
  app.use(async (context, next) => {
    const strange = strangeness(context, port)
    if (strange !== null)
      return refusalAs(context, 403, {
        code: 'wrong-server',
        message: strange,
        hint: 'Use the address that galley printed.',
      })
    await next()
    context.header('content-security-policy', POLICY)
    context.header('x-content-type-options', 'nosniff')
    context.header('referrer-policy', 'no-referrer')
    context.header('cache-control', 'no-store')
    context.header('cross-origin-resource-policy', 'same-origin')
    context.header('cross-origin-opener-policy', 'same-origin')
  })
  for (const [path, { type, bytes }] of options.assets)
    app.get(path, () => new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }))
  app.get('/favicon.ico', (context) => context.body(null, 204))
  addSession(app, access)
  addChanges(app, options)
  app.notFound((context) =>
    refusalAs(context, 404, { code: 'not-found', message: 'there is nothing here', hint: '' }),
  )
  app.onError((error, context) => {
    const { code, message, hint } = refusalOf(error)
    return refusalAs(context, code === 'internal' ? 500 : 409, {
      code,
      message: visible(message),
      hint: visible(hint ?? ''),
    })
  })
  const server = await listening(app, options.port)
  port = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

function listening(app: Hono, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => resolve(server as Server))
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new GalleyError({
          code: 'io-error',
          message: `cannot serve on port ${port}: ${error.code}`,
          data: { port },
        }),
      ),
    )
  })
}

/** Another name that leads here is a page's that was given it; another origin is another page's. */
function strangeness(context: Context, port: number): string | null {
  const names = [`127.0.0.1:${port}`, `localhost:${port}`]
  const host = context.req.header('host') ?? ''
  if (!names.includes(host)) return 'this page is not served under that name'
  const origin = context.req.header('origin')
  if (origin !== undefined && origin !== `http://${host}`)
    return 'this is for a page of the same address alone'
  const site = context.req.header('sec-fetch-site')
  const isOwn = site === undefined || site === 'same-origin' || site === 'none'
  return isOwn || context.req.path === '/' ? null : 'this is for a page of the same address alone'
}

const refusalAs = (context: Context, code: 401 | 403 | 404 | 409 | 413 | 500, error: object): Response =>
  context.json({ ok: false, error }, code)

function addSession(app: Hono, access: PageAccess): void {
  app.use(
    '/api/*',
    bodyLimit({
      maxSize: BODY_MAX_BYTES,
      onError: (context) =>
        refusalAs(context, 413, { code: 'too-large', message: 'the request is too large', hint: '' }),
    }),
  )
  app.post('/api/session', async (context) => {
    const { token } = await bodyOf(context)
    const cookie = typeof token === 'string' ? access.redeem(token) : null
    if (cookie === null)
      return refusalAs(context, 401, {
        code: 'denied',
        message: 'the token is wrong, or was used',
        hint: 'Start `galley review --web` again: it prints a new address.',
      })
    context.header('set-cookie', cookie)
    return context.json({ ok: true })
  })
  app.use('/api/*', async (context, next) => {
    if (!access.isKnown(context.req.header('cookie')))
      return refusalAs(context, 401, {
        code: 'denied',
        message: 'this browser has no session here',
        hint: 'Open the address that `galley review --web` printed; each is good for one browser.',
      })
    return next()
  })
}

async function bodyOf(context: Context): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = await context.req.json().catch(() => null)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse('invalid-json', 'the request is no JSON object', {})
  return value as Readonly<Record<string, unknown>>
}

function addChanges(app: Hono, { places, repository }: ReviewServerOptions): void {
  const use = places.use
  app.get('/api/changes', async (context) => {
    const { pending, landed } = await use(undefined, (world) => status(world))
    const list: PageList = {
      repository: visible(repository),
      landed,
      pending: pending.map(({ id, title, agent, state, revision, files, added, removed, proposedAt }) => ({
        id,
        title: visible(title),
        agent: visible(agent ?? ''),
        state,
        revision,
        files,
        added,
        removed,
        proposedAt,
      })),
    }
    return context.json(list)
  })
  app.get('/api/changes/:id', async (context) =>
    context.json(pageChange(await use(undefined, (world) => openReview(world, context.req.param('id'))))),
  )
  app.get('/api/changes/:id/draft', async (context) =>
    context.json(await use(undefined, (world) => readReviewDraft(world, context.req.param('id')))),
  )
  app.post('/api/changes/:id/act', async (context) => {
    const { actions } = await bodyOf(context)
    const read = readActions(actions)
    return context.json(await use(undefined, (world) => actOnReview(world, context.req.param('id'), read)))
  })
  app.post('/api/changes/:id/finish', async (context) => {
    const { digest, does } = await bodyOf(context)
    if (typeof digest !== 'string' || !isFinish(does))
      refuse('invalid-arguments', 'a review ends with a digest and what it does', {})
    const id = context.req.param('id')
    const done = await use(undefined, (world) => finishReview(world, { id, digest, does, via: 'web' }))
    return context.json({ kind: done.kind, state: done.change.state, revision: done.change.revision })
  })
  app.get('/api/changes/:id/image/:key/:side', async (context) => {
    const { id, key, side } = context.req.param()
    const { pieces } = await use(undefined, (world) => openReview(world, id))
    const file = pieces.find(({ fileKey }) => fileKey === key)?.piece.file
    const shown = side === 'before' ? (file?.before ?? null) : (file?.after ?? null)
    const type = imageTypeOf(shown)
    if (shown === null || type === null)
      return refusalAs(context, 404, { code: 'not-found', message: 'there is no image', hint: '' })
    return new Response(new Uint8Array(shown.bytes), { headers: { 'content-type': type } })
  })
}

const isFinish = (value: unknown): value is 'land' | 'approve' | 'send-back' | 'comment' =>
  ['land', 'approve', 'send-back', 'comment'].includes(String(value))

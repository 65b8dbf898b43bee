import type { ChangeView } from '../../src/flow/change-view.ts'
import { hostOperation } from '../../src/flow/host/host-operation.ts'
import { hostTree } from '../../src/flow/host/host-tree.ts'
import { openWorld } from '../../src/flow/world.ts'
import { type HostEvent, type HostOptions, makeHost } from '../../src/remote/host.ts'
import { openServer } from '../../src/remote/host-http.ts'
import { type HubOptions, serveHub } from '../../src/remote/hub.ts'
import { systemClock } from '../../src/sys/clock.ts'
import type { TestRepo } from './repo.ts'

export const hubToken = 'a token of twenty letters'

/** A hub in this process; closed with the scope. */
export async function hubHere(options: Partial<HubOptions> = {}) {
  const hub = await serveHub({
    port: 0,
    token: hubToken,
    clock: systemClock,
    version: '0',
    onHosts: () => undefined,
    ...options,
  })
  const call = (input: Readonly<Record<string, unknown>>, agent = 'agent', context: string | null = null) =>
    hub.call(input, { agent, context })
  return { ...hub, call, [Symbol.asyncDispose]: () => hub.close() }
}

/** A host in this process, connected; stopped with the scope. */
export async function hostHere(
  repo: TestRepo,
  url: string,
  options: Partial<HostOptions> & { readonly login?: readonly [string, string] | null } = {},
) {
  const { login = ['galley', hubToken], ...rest } = options
  const server = openServer(url)
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  const events: HostEvent[] = []
  const asked: ChangeView[] = []
  const waiting = new Set<() => void>()
  const host = makeHost({
    server,
    logIn: async () => {
      const { needsLogin } = await server.discover()
      if (needsLogin && login !== null && !(await server.isLoggedIn())) await server.logIn(...login)
    },
    clock: systemClock,
    root: repo.dir,
    context: null,
    allowsIgnored: false,
    writes: true,
    operate: (operation, rules) => hostOperation(world, operation, rules),
    tree: () => hostTree(world),
    ask: null,
    tell: (event) => {
      events.push(event)
      for (const wake of waiting) wake()
    },
    ...rest,
  })
  /** The first event that fits, past or to come. */
  const seen = async (fits: (event: HostEvent) => boolean): Promise<HostEvent> => {
    for (;;) {
      const found = events.find(fits)
      if (found !== undefined) return found
      await new Promise<void>((resolve) => {
        const wake = () => {
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
      })
    }
  }
  const running = host.run()
  const failed = new Promise<never>((_, reject) => running.catch(reject))
  await Promise.race([seen(({ kind }) => kind === 'connected'), failed])
  return {
    host,
    world,
    events,
    asked,
    seen,
    running,
    [Symbol.asyncDispose]: async () => {
      host.stop()
      await running
      await world.close()
    },
  }
}

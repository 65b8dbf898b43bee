import { type Direction, defaultRemote, remoteUrl } from '../../git/exchange.ts'
import { headBranch } from '../../git/refs.ts'
import { openTransport, type Transport, type TransportOptions } from '../../git/transport.ts'
import type { Store } from '../../store/open-store.ts'
import type { World } from '../world.ts'

/** Whom changes, approvals and logs are exchanged with. */
export interface RemoteSide {
  /** As the user names it: a remote of the configuration, a URL or a path. */
  readonly name: string
  readonly transport: Transport
}

/**
 * Opens the way to a remote, as git itself would find it for this repository.
 *
 * @param name - null = the one that git would use.
 * @throws GalleyError `not-found`, if there is no such remote.
 */
export async function openRemote(
  world: World,
  store: Store,
  request: TransportOptions & {
    readonly remote?: string
    readonly direction: Direction
    readonly settings?: readonly (readonly [key: string, value: string])[]
  },
): Promise<RemoteSide> {
  const config = await world.config()
  const branch = await headBranch(world.repository.door)
  const name =
    request.remote ?? defaultRemote(config, branch?.slice('refs/heads/'.length) ?? null, request.direction)
  const url = await remoteUrl(world.repository.door, config, name, request.direction)
  return {
    name: withoutSecrets(name),
    transport: await openTransport(world.repository, store.door, url, request.settings ?? [], request),
  }
}

/** A URL may carry a password; it is shown and logged without. */
const withoutSecrets = (name: string): string =>
  name.replace(/^([a-z+.-]+:\/\/)[^/@]*@/i, (_, scheme: string) => scheme)

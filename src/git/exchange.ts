import { refuse } from '../model/error.ts'
import { isObjectId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { GitConfig } from './config.ts'
import { type GitDoor, git } from './door.ts'
import type { RefRow } from './refs.ts'
import type { Transport } from './transport.ts'

export type Direction = 'fetch' | 'push'

/** The remote that git would use where none is named: of the branch, of the configuration, the only one, or `origin`. */
export function defaultRemote(config: GitConfig, branch: string | null, direction: Direction): string {
  const ofBranch = (key: string) => (branch === null ? undefined : config.get(`branch.${branch}.${key}`))
  const forPush =
    direction === 'push' ? (ofBranch('pushremote') ?? config.get('remote.pushdefault')) : undefined
  const named = forPush ?? ofBranch('remote')
  if (named !== undefined && named !== '.') return named
  const all = new Set([...config.keys()].flatMap((key) => /^remote\.(.+)\.url$/s.exec(key)?.[1] ?? []))
  const [only] = all
  return all.size === 1 && only !== undefined ? only : 'origin'
}

/**
 * The URL that git would use for a remote: `remote.<name>.url`, or `pushurl`, rewritten by the user's `insteadOf`. A name that no
 * remote has is a URL or a path itself.
 *
 * Of several push URLs the first is used.
 *
 * @throws GalleyError `not-found`, for a plain name that no remote has.
 */
export async function remoteUrl(
  user: GitDoor,
  config: GitConfig,
  remote: string,
  direction: Direction,
): Promise<string> {
  const isConfigured = config.has(`remote.${remote}.url`)
  if (!isConfigured && !/[/\\:]/.test(remote)) {
    refuse(
      'not-found',
      `no remote is called ${JSON.stringify(remote)}`,
      { remote },
      'See `git remote -v`; name one, or give a URL.',
    )
  }
  const args =
    isConfigured && direction === 'push'
      ? ['remote', 'get-url', '--push', '--end-of-options', remote]
      : ['ls-remote', '--get-url', '--end-of-options', remote]
  const [url] = (await git(user, { args })).stdout.toString('utf8').split('\n')
  if (!url || url.startsWith('-'))
    refuse('not-found', `the remote ${JSON.stringify(remote)} has no URL`, { remote })
  return url
}

/** What a remote lists: the refs that were asked for, and how many others lie among them, a few of them by name. */
export interface RemoteRefs {
  readonly rows: readonly RefRow[]
  readonly others: readonly RefRow[]
  readonly otherCount: number
}

/**
 * Lists refs of a remote. Anybody who may push there can make more of them: those that `isWanted` does not know are counted, a
 * few are named, and they stand in nobody's way.
 *
 * @param patterns - As `git ls-remote` takes them.
 * @throws GalleyError `io-error`, if it cannot be reached; `too-large`, if it lists more than `limits.exchangeMaxRefs` that are wanted.
 */
export async function listRemoteRefs(
  transport: Transport,
  patterns: readonly string[],
  isWanted: (ref: string) => boolean,
): Promise<RemoteRefs> {
  const args = ['ls-remote', '--refs', '--quiet', '--end-of-options', transport.url, ...patterns]
  const result = await transport.run(args)
  const rows: RefRow[] = []
  const others: RefRow[] = []
  let otherCount = 0
  for (const line of result.stdout.toString('utf8').split('\n')) {
    const [object, ref] = line.split('\t')
    if (object === undefined || ref === undefined || !isObjectId(object)) continue
    if (isWanted(ref)) rows.push({ object, ref })
    else if (++otherCount <= limits.exchangeForeignShown) others.push({ object, ref })
  }
  if (rows.length <= limits.exchangeMaxRefs) return { rows, others, otherCount }
  return refuse('too-large', `the remote lists ${rows.length} refs, more than ${limits.exchangeMaxRefs}`, {
    refs: rows.length,
  })
}

/** One ref to set on the remote, and what it must hold there before. */
export interface RemoteUpdate {
  readonly ref: string
  readonly next: string
  /** null = the ref must not exist. A lease: where it does not hold, the ref does not move. That it moves forward is for the caller to see to. */
  readonly expected: string | null
}

export type PushOutcome =
  | { readonly kind: 'done'; readonly ref: string }
  /** Another was first: the ref is not what was expected. */
  | { readonly kind: 'moved'; readonly ref: string; readonly reason: string }
  /** The server said no, by a hook or a rule of its own. */
  | { readonly kind: 'refused'; readonly ref: string; readonly reason: string }

/**
 * Sets refs on the remote, each by compare-and-swap: one push. Objects that the remote lacks go along.
 *
 * @param atomic - All refs or none.
 * @returns What became of each.
 */
export async function pushRefs(
  transport: Transport,
  updates: readonly RemoteUpdate[],
  atomic: boolean,
): Promise<readonly PushOutcome[]> {
  if (updates.length === 0) return []
  const leases = updates.map(({ ref, expected }) => `--force-with-lease=${ref}:${expected ?? ''}`)
  const how = ['--porcelain', '--no-verify', '--no-signed', '--no-follow-tags', '--recurse-submodules=no']
  const refspecs = updates.map(({ ref, next }) => `${next}:${ref}`)
  const end = ['--end-of-options', transport.url, ...refspecs]
  const result = await transport.run(['push', ...how, ...(atomic ? ['--atomic'] : []), ...leases, ...end])
  const said = new Map(result.stdout.toString('utf8').split('\n').flatMap(parseLine))
  return updates.map(
    ({ ref }) => said.get(ref) ?? { kind: 'refused', ref, reason: result.stderr.trim().slice(0, 400) },
  )
}

/** `<flag> TAB <from>:<to> TAB <summary> (<reason>)`, as git-push(1) has it under OUTPUT. */
function parseLine(line: string): readonly (readonly [string, PushOutcome])[] {
  const [flag, refspec, summary] = line.split('\t')
  if (flag === undefined || refspec === undefined || summary === undefined) return []
  const ref = refspec.slice(refspec.indexOf(':') + 1)
  if (flag !== '!') return [[ref, { kind: 'done', ref }]]
  return [[ref, { kind: LOST.test(summary) ? 'moved' : 'refused', ref, reason: summary }]]
}

/** What git and its server say when a ref is not what was expected. A push that failed as a whole lost nothing of its own. */
const LOST =
  /stale info|fetch first|non-fast-forward|needs force|already exists|failed to update ref|failed to lock|cannot lock ref|incorrect old value|atomic push failed|atomic transaction failed|transaction failed/i

/**
 * Brings the objects of some refs of the remote, with all that they need, into the store. Leaves objects and no ref: what they are worth is
 * for the caller to find out first.
 *
 * @throws GalleyError `io-error`, with git's words, also for objects that git finds broken.
 */
export async function fetchObjects(transport: Transport, refs: readonly string[]): Promise<void> {
  // No tag comes along, nothing is written beside the objects, nothing is started afterwards.
  const how = ['--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--recurse-submodules=no']
  const result = await transport.run(['fetch', ...how, '--end-of-options', transport.url, ...refs])
  if (result.exitCode === 0) return
  refuse('io-error', `git fetch did not get through: ${result.stderr.trim().slice(0, 2000)}`, {
    said: result.stderr.trim().slice(0, 2000),
  })
}

/** Objects of others are checked by git as they arrive. */
export const CHECKED_FETCH: readonly (readonly [string, string])[] = [['fetch.fsckObjects', 'true']]

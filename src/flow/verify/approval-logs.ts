import type { GitDoor } from '../../git/door.ts'
import type { ObjectReader } from '../../git/objects.ts'
import { type ReadObject, readNamed } from '../../git/read-batch.ts'
import type { ChangeEvent } from '../../model/change.ts'
import type { ChangeId, CommitId, Digest } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { readEventText } from '../../model/read-record.ts'
import {
  type ApprovedRevision,
  landingsIn,
  type Standing,
  standingOf,
} from '../../policy/approval-standing.ts'
import type { LandedHere } from './landed-here.ts'

/** Where changes' logs are read from. */
export interface LogSource {
  readonly door: GitDoor
  readonly reader: ObjectReader
  /** The newest commits of each change's log: in the store, in the repository, in an archive, or about to arrive. */
  readonly tips: ReadonlyMap<string, readonly CommitId[]>
  /** Which landings that a log tells of are true: asked where a log says so, and a no after it. */
  readonly landedHere: LandedHere
}

/** From so many on, one process reads them all; fewer are asked of a reader that runs already. */
const BATCHED = 50
/** Events of each log that are asked for at once: as many as a change that landed usually has. */
const AT_ONCE = 4
/** Logs whose objects are in memory at a time. */
const LOGS_AT_ONCE = 1000
/** Events of one log that a verifier reads: beyond that its approvals do not count. */
const EVENTS_MAX = 10_000

type Log =
  | { readonly kind: 'log'; readonly events: readonly ChangeEvent[] }
  | { readonly kind: 'refused'; readonly reason: string }

interface Chain {
  readonly tip: CommitId
  readonly at: CommitId
  /** Newest first. */
  readonly events: ChangeEvent[]
}

/**
 * What the logs say of approvals: a log that is not there, or cannot be read, lets none of its own change's count, and spoils no other's.
 */
export class ApprovalLogs {
  private readonly source: LogSource
  private readonly logs = new Map<CommitId, Log>()

  constructor(source: LogSource) {
    this.source = source
  }

  /** Reads at once the logs of many changes. */
  async prepare(ids: readonly ChangeId[]): Promise<void> {
    const tips = new Set(ids.flatMap((id) => this.source.tips.get(id) ?? []))
    const unknown = [...tips].filter((tip) => !this.logs.has(tip))
    for (let from = 0; from < unknown.length; from += LOGS_AT_ONCE)
      await this.readLogs(unknown.slice(from, from + LOGS_AT_ONCE))
  }

  private async readLogs(tips: readonly CommitId[]): Promise<void> {
    let open: Chain[] = tips.map((tip) => ({ tip, at: tip, events: [] }))
    while (open.length > 0) {
      const names = open.flatMap(({ at }) => pastOf(at).flatMap((name) => [name, `${name}:event.json`]))
      const found = await this.read(names)
      open = open.flatMap((chain, i) =>
        this.steps(chain, found.slice(2 * AT_ONCE * i, 2 * AT_ONCE * (i + 1))),
      )
    }
  }

  /** Whether the logs let the approvals of a revision count: no log may say no, and one must know the revision. */
  async standing(id: ChangeId, revision: ApprovedRevision & { readonly digest: Digest }): Promise<Standing> {
    await this.prepare([id])
    const tips = this.source.tips.get(id) ?? []
    if (tips.length === 0) return refused(`its log (refs/galley/log/${id}) is not here`)
    const found: Standing[] = []
    for (const tip of tips) found.push(await this.standingIn(this.logs.get(tip), revision))
    const no = found.find((one) => one.refusal !== null && one.revision !== null)
    return no ?? found.find((one) => one.refusal === null) ?? found[0] ?? refused('it has no log')
  }

  private async standingIn(
    log: Log | undefined,
    revision: ApprovedRevision & { readonly digest: Digest },
  ): Promise<Standing> {
    if (log?.kind !== 'log') return refused(`its log cannot be read: ${log?.reason ?? ''}`)
    const strict = standingOf(log.events, revision)
    if (strict.refusal === null) return strict
    const landings = await this.source.landedHere(landingsIn(log.events, revision), revision.digest)
    return landings.size === 0 ? strict : standingOf(log.events, revision, landings)
  }

  /** Goes on as far as what was found is the log: which commit is the parent is said by the commit alone, by no name. */
  private steps(chain: Chain, found: readonly (ReadObject | null)[]): readonly Chain[] {
    let open: readonly Chain[] = [chain]
    for (let i = 0; i < found.length; i += 2) {
      const [next] = open
      const commit = found[i] ?? null
      if (next === undefined || (i > 0 && commit?.object.id !== next.at)) return open
      open = this.step(next, commit, found[i + 1] ?? null)
    }
    return open
  }

  private step(chain: Chain, commit: ReadObject | null, blob: ReadObject | null): readonly Chain[] {
    const { tip, at, events } = chain
    const end = (log: Log): readonly Chain[] => {
      this.logs.set(tip, log)
      return []
    }
    if (commit?.object.type !== 'commit') return end({ kind: 'refused', reason: `${at} is no commit of it` })
    const event = blob?.object.type === 'blob' ? readEventText(blob.bytes.toString('utf8')) : null
    if (event === null) return end({ kind: 'refused', reason: `${at} holds no event` })
    events.push(event)
    const header = commit.bytes.toString('latin1', 0, commit.bytes.indexOf('\n\n') + 1)
    const [parent, ...more] = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map((match) => match[1])
    if (more.length > 0) return end({ kind: 'refused', reason: `${at} is a merge` })
    if (events.length > EVENTS_MAX)
      return end({ kind: 'refused', reason: `it has more than ${EVENTS_MAX} events` })
    if (parent !== undefined) return [{ tip, at: parent as CommitId, events }]
    if (event.kind !== 'proposed')
      return end({ kind: 'refused', reason: 'it does not begin with its proposal' })
    return end({ kind: 'log', events: events.reverse() })
  }

  private read(names: readonly string[]): Promise<readonly (ReadObject | null)[]> {
    const { door, reader } = this.source
    if (names.length > BATCHED) return readNamed(door, names, limits.eventMaxBytes)
    return Promise.all(
      names.map(async (name) => {
        const info = await reader.info(name)
        return info === null || info.size > limits.eventMaxBytes ? null : reader.contents(name)
      }),
    )
  }
}

const pastOf = (commit: CommitId): readonly string[] =>
  Array.from({ length: AT_ONCE }, (_, n) => (n === 0 ? commit : `${commit}~${n}`))

const refused = (refusal: string): Standing => ({ refusal, revision: null })

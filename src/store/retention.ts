import { dirname, join } from 'node:path'
import { git } from '../git/door.ts'
import type { RefUpdate } from '../git/refs.ts'
import { type ChangeState, isPending } from '../model/change.ts'
import { type ChangeId, changeId, isChangeId } from '../model/ids.ts'
import { agesIn, type FileAge } from '../sys/file-ages.ts'
import { standsAt } from '../sys/plain-file.ts'
import { BATCH_PREFIX, KEY_PREFIX } from './batch-keys.ts'
import type { ChangeSummary } from './change-log.ts'
import { leftSince } from './left-since.ts'
import { LEFT_DAYS, LEFT_PREFIX, runOfLeft } from './left-work.ts'
import type { Store } from './open-store.ts'

const DAY_MS = 24 * 3_600_000

/** How long what has been decided, or is not used any more, is kept. Nothing that waits for a decision has an age. */
export const kept = {
  rejectedMs: 30 * DAY_MS,
  /** The user's bytes, before a landing beneath uncommitted work. */
  backupsMs: 90 * DAY_MS,
  leftMs: LEFT_DAYS * DAY_MS,
  sessionsMs: 30 * DAY_MS,
  draftsMs: 90 * DAY_MS,
  poolMs: 30 * DAY_MS,
  /** Passing files of processes that were killed. */
  passingMs: DAY_MS,
} as const

/** Rejected changes that are old enough to go, on none of which a pending one stands. */
export function expiredChanges(
  changes: readonly ChangeSummary[],
  stackedOn: ReadonlySet<string>,
  nowMs: number,
): readonly ChangeId[] {
  return changes
    .filter(
      (c) => c.state === 'rejected' && nowMs - Date.parse(c.at) > kept.rejectedMs && !stackedOn.has(c.id),
    )
    .map((c) => c.id)
}

/** Refs that are old enough to go, or lead to a change that has gone. One process. */
export async function expiredRefs(
  store: Store,
  states: ReadonlyMap<ChangeId, ChangeState>,
  nowMs: number,
): Promise<readonly RefUpdate[]> {
  const format = '--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents:subject)%00'
  const prefixes = [KEY_PREFIX, BATCH_PREFIX, LEFT_PREFIX, 'refs/galley/backup/']
  const result = await git(store.door, { args: ['for-each-ref', format, ...prefixes] })
  const fields = result.stdout.toString('utf8').split('\0')
  const leftAt = await leftSince(store)
  const gone: RefUpdate[] = []
  for (let i = 0; i + 3 < fields.length; i += 4) {
    const [ref = '', expected = '', seconds = '', subject = ''] = fields.slice(i, i + 4).map((f) => f.trim())
    const isLeft = ref.startsWith(LEFT_PREFIX)
    const sinceMs = isLeft ? (leftAt.get(runOfLeft(ref)) ?? nowMs) : Number(seconds) * 1000
    const ageMs = nowMs - sinceMs
    const state = states.get(changeIn(subject) ?? ('' as ChangeId))
    if (hasGone(ref, ageMs, state)) gone.push({ ref, expected, next: null })
  }
  return gone
}

function hasGone(ref: string, ageMs: number, state: ChangeState | undefined): boolean {
  if (ref.startsWith(LEFT_PREFIX)) return ageMs > kept.leftMs
  if (ref.startsWith(KEY_PREFIX)) return state === undefined
  // Equal bytes only find a change that is still pending.
  if (ref.startsWith(BATCH_PREFIX)) return state === undefined || !isPending(state)
  return ageMs > kept.backupsMs
}

/** A key leads to the first commit of a log. */
function changeIn(subject: string): ChangeId | null {
  const id = /^proposed (g\w+)$/.exec(subject)?.[1] ?? ''
  return isChangeId(id) ? changeId(id) : null
}

/** Files and folders of galley's own that are old enough to go: sessions, and what killed processes left. */
export async function expiredFiles(store: Store, nowMs: number): Promise<readonly string[]> {
  const { galleyDir } = store
  const older = (file: FileAge, ms: number) => nowMs - file.modifiedMs > ms
  const pick = async (directory: string, isGone: (file: FileAge) => boolean) =>
    // What a link leads to is not galley's to remove.
    standsAt(directory) === 'directory' && standsAt(dirname(directory)) === 'directory'
      ? (await agesIn(directory)).filter(isGone).map((file) => join(directory, file.name))
      : []
  return [
    ...(await pick(join(galleyDir, 'sessions'), (file) => older(file, kept.sessionsMs))),
    ...(await pick(join(galleyDir, 'reviews'), (file) => older(file, kept.draftsMs))),
    ...(await pick(join(galleyDir, 'tmp'), (file) => older(file, kept.passingMs))),
    // A store that was being made; the one in use is called store.git.
    ...(await pick(galleyDir, (file) => /^store-/.test(file.name) && older(file, kept.passingMs))),
    ...(await pick(
      join(store.door.gitDir, 'objects', 'pack'),
      (file) => isPassing(file) && older(file, kept.passingMs),
    )),
  ]
}

/** As git itself calls what it has not finished. */
const isPassing = (file: FileAge): boolean => /^\.?tmp[-_]/.test(file.name)

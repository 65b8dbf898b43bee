import type { ChangeId } from './ids.ts'

/** One change that waits to land on a branch of a remote. */
export interface QueueEntry {
  readonly id: ChangeId
  readonly by: string
  /** ISO 8601. */
  readonly at: string
  /** Who is landing it, until when; it is anybody's after that, by the clock of whoever looks. */
  readonly claim: { readonly by: string; readonly until: string } | null
}

export interface QueueState {
  readonly version: 1
  /** First in line first. */
  readonly entries: readonly QueueEntry[]
  readonly landed: number
  readonly dropped: number
}

export type QueueEvent = { readonly id: ChangeId; readonly at: string; readonly by: string } & (
  | { readonly kind: 'enqueued' }
  | { readonly kind: 'claimed'; readonly until: string }
  | { readonly kind: 'landed'; readonly commit: string }
  | { readonly kind: 'dropped'; readonly reason: string }
)

export const emptyQueue: QueueState = { version: 1, entries: [], landed: 0, dropped: 0 }

/** The queue after an event; null where the event no longer applies, because somebody was first. */
export function applyQueueEvent(state: QueueState, event: QueueEvent): QueueState | null {
  const { id, at, by } = event
  const found = state.entries.find((entry) => entry.id === id)
  const others = state.entries.filter((entry) => entry.id !== id)
  if (event.kind === 'enqueued')
    return found === undefined ? { ...state, entries: [...state.entries, { id, by, at, claim: null }] } : null
  if (found === undefined) return null
  switch (event.kind) {
    case 'claimed': {
      if (isClaimed(found, by, Date.parse(at))) return null
      const claim = { by, until: event.until }
      return {
        ...state,
        entries: state.entries.map((entry) => (entry === found ? { ...entry, claim } : entry)),
      }
    }
    case 'landed':
      return { ...state, entries: others, landed: state.landed + 1 }
    case 'dropped':
      return { ...state, entries: others, dropped: state.dropped + 1 }
  }
}

/** Whether somebody else is landing it. */
export const isClaimed = ({ claim }: QueueEntry, by: string, nowMs: number): boolean =>
  claim !== null && claim.by !== by && Date.parse(claim.until) > nowMs

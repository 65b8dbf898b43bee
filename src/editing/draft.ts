import type { Tier } from '../model/edit.ts'
import type { FileState } from '../model/file-state.ts'
import { FileText } from './file-text.ts'
import { LineOrigins } from './line-origins.ts'
import type { Claim } from './outcome.ts'
import type { Work } from './work.ts'

/** A path as the steps judged so far leave it. */
export type DraftState = { readonly kind: 'absent' } | DraftFile

export interface DraftFile {
  readonly kind: 'file'
  readonly text: FileText
  readonly executable: boolean
  /** The path whose bytes at the batch's beginning these go back to; null = made by the batch. */
  readonly origin: string | null
  /** Whether it was written as a whole since: nothing of its origin's text is in it. */
  readonly isRewritten: boolean
  /** The path at the batch's beginning of the file that this one is, through moves; null = made or copied by the batch. */
  readonly identity: string | null
  /** The most lenient tier of any edit so far. */
  readonly tier: Tier
  /** Where its lines stood at the batch's beginning. */
  readonly origins: LineOrigins
}

/** What a byte costs that a step makes: it takes memory until the batch is done. */
const MADE_COST = 8

export const absentDraft: DraftState = { kind: 'absent' }

/** All paths of a batch while it is judged: what they began as, and what they are after the steps so far. */
export class Draft {
  private readonly beginning: ReadonlyMap<string, FileState>
  private readonly now = new Map<string, DraftState>()
  private readonly work: Work

  constructor(beginning: ReadonlyMap<string, FileState>, work: Work) {
    this.beginning = beginning
    this.work = work
  }

  before(path: string): FileState {
    return this.beginning.get(path) ?? { kind: 'absent' }
  }

  at(path: string): DraftState {
    const known = this.now.get(path)
    if (known !== undefined) return known
    const state = this.before(path)
    const fresh: DraftState =
      state.kind === 'absent'
        ? absentDraft
        : {
            kind: 'file',
            text: new FileText(state.bytes, state.blob, this.work),
            executable: state.executable,
            origin: path,
            isRewritten: false,
            identity: path,
            tier: 'exact',
            origins: LineOrigins.untouched,
          }
    this.now.set(path, fresh)
    return fresh
  }

  set(path: string, state: DraftState): void {
    this.now.set(path, state)
  }

  /** Text for bytes that a step made. */
  text(bytes: Uint8Array): FileText {
    this.work.spend(MADE_COST * bytes.length)
    return new FileText(bytes, null, this.work)
  }

  /** Text for what sorted claims made of another. */
  spliced(before: FileText, bytes: Buffer, claims: readonly Claim[]): FileText {
    this.work.spend(bytes.length + MADE_COST * Math.max(0, bytes.length - before.bytes.length))
    const start = claims[0]?.offset ?? 0
    const last = claims[claims.length - 1]
    const oldEnd = last === undefined ? start : last.offset + last.length
    return before.after(bytes, { start, oldEnd, newEnd: bytes.length - (before.bytes.length - oldEnd) })
  }

  /** Every path looked at so far. */
  paths(): readonly string[] {
    return [...this.now.keys()]
  }
}

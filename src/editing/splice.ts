import { markLength } from './lines.ts'
import type { Claim } from './outcome.ts'

const LF = 10

/** Orders claims as they stand in the file; insertions at one point keep the batch's order and precede what begins there. */
export function sortClaims(claims: readonly Claim[]): readonly Claim[] {
  return claims
    .map((claim, index) => ({ claim, index }))
    .sort(
      (a, b) =>
        a.claim.claimStart - b.claim.claimStart ||
        Number(a.claim.claimEnd > a.claim.claimStart) - Number(b.claim.claimEnd > b.claim.claimStart) ||
        a.index - b.index,
    )
    .map(({ claim }) => claim)
}

/** Two claims of one step on the same bytes. */
export interface Collision {
  readonly first: Claim
  readonly second: Claim
}

/**
 * Where a claim of the sorted list begins before one of an earlier place has ended: the first such place of each item.
 * An item that replaces text everywhere could name a million others.
 */
export function collisions(sorted: readonly Claim[]): readonly Collision[] {
  const found = new Map<number, Collision>()
  let reach: Claim | undefined
  for (const claim of sorted) {
    if (reach !== undefined && claim.claimStart < reach.claimEnd) {
      const item = Math.max(reach.item, claim.item)
      if (!found.has(item)) found.set(item, { first: reach, second: claim })
    }
    if (reach === undefined || claim.claimEnd > reach.claimEnd) reach = claim
  }
  return [...found.values()]
}

/** Replaces the spliced bytes; every other byte is copied as it stands. The claims are sorted and disjoint. */
export function applyClaims(bytes: Buffer, sorted: readonly Claim[]): Buffer {
  const output = new Output(markLength(bytes))
  let at = 0
  for (const claim of sorted) {
    output.push(bytes.subarray(at, claim.offset))
    if (claim.ownLine !== null && output.isInLine(claim.ownLine)) output.push(claim.ownLine)
    output.push(claim.replacement)
    at = claim.offset + claim.length
  }
  output.push(bytes.subarray(at))
  return output.bytes()
}

class Output {
  private readonly parts: Uint8Array[] = []
  private readonly markBytes: number
  private length = 0
  private last = 0

  constructor(markBytes: number) {
    this.markBytes = markBytes
  }

  push(part: Uint8Array): void {
    if (part.length === 0) return
    this.parts.push(part)
    this.length += part.length
    this.last = part[part.length - 1] ?? 0
  }

  /** Whether what stands so far leaves its last line open, in a file whose lines end like `ending`. */
  isInLine(ending: Buffer): boolean {
    return this.length > this.markBytes && this.last !== LF && this.last !== ending[ending.length - 1]
  }

  bytes(): Buffer {
    return Buffer.concat(this.parts)
  }
}

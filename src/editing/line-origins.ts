/** A place that a step changed: lines from `newFrom` up to `newEnd` are its own; later ones moved by `shift`. */
export interface ChangedRegion {
  readonly newFrom: number
  /** Exclusive. */
  readonly newEnd: number
  /** Lines that the step had added, less those removed, down to here. */
  readonly shift: number
}

/** Neighbouring lines that were neighbours at the beginning, or that the batch wrote. */
interface Segment {
  /** 1-based number of its first line now. */
  readonly from: number
  /** Number of that line at the beginning; null = the batch's own. */
  readonly origin: number | null
}

/** Where the lines of a file stood at the batch's beginning, after the steps so far. Line numbers count from 1. */
export class LineOrigins {
  /** From the top; each reaches down to the next. */
  private readonly segments: readonly Segment[]
  /** Lines that the file has more than at the beginning; infinite once it was written as a whole. */
  private readonly growth: number

  private constructor(segments: readonly Segment[], growth: number) {
    this.segments = segments
    this.growth = growth
  }

  /** No step has changed the file. */
  static readonly untouched = new LineOrigins([{ from: 1, origin: 1 }], 0)
  /** The file was written as a whole. */
  static readonly own = new LineOrigins([{ from: 1, origin: null }], Number.POSITIVE_INFINITY)

  get isUntouched(): boolean {
    return this === LineOrigins.untouched
  }

  /** For how many segments later calls have to be charged. */
  get size(): number {
    return this.segments.length
  }

  /**
   * The origins after a further step.
   *
   * @param regions - what it changed, from top to bottom.
   * @param lines - the file's lines before the step and after it.
   */
  after(
    regions: readonly ChangedRegion[],
    lines: { readonly before: number; readonly after: number },
  ): LineOrigins {
    const made = new SegmentList()
    let line = 1
    let shift = 0
    let at = 0
    for (const region of [...regions, { newFrom: lines.after + 1, newEnd: lines.after + 1, shift: 0 }]) {
      if (region.newFrom > line) {
        at = this.copy(made, { from: line, to: region.newFrom - 1, shift, at })
        line = region.newFrom
      }
      if (region.newEnd > line) {
        made.push(line, null)
        line = region.newEnd
      }
      shift = region.shift
    }
    return new LineOrigins(made.segments, this.growth + lines.after - lines.before)
  }

  /** Copies the origins of lines that stayed. Returns the index of the segment at which to go on. */
  private copy(
    made: SegmentList,
    kept: { readonly from: number; readonly to: number; readonly shift: number; readonly at: number },
  ): number {
    const { from, to, shift } = kept
    let at = kept.at
    while ((this.segments[at + 1]?.from ?? Number.POSITIVE_INFINITY) <= from - shift) at++
    for (let line = from; line <= to; at++) {
      const segment = this.segments[at]
      if (segment === undefined) break
      const { origin } = segment
      made.push(line, origin === null ? null : origin + line - shift - segment.from)
      line = (this.segments[at + 1]?.from ?? Number.POSITIVE_INFINITY) + shift
    }
    return Math.max(at - 1, 0)
  }

  /** The stretches of these lines that stood together at the beginning, by their numbers now and then. */
  *originals(
    from: number,
    to: number,
  ): Generator<{ readonly now: number; readonly from: number; readonly to: number }> {
    for (let at = this.segmentAt(from); at < this.segments.length; at++) {
      const segment = this.segments[at]
      if (segment === undefined || segment.from > to) return
      if (segment.origin === null) continue
      const now = Math.max(from, segment.from)
      const last = Math.min(to, this.endOf(at))
      const move = segment.origin - segment.from
      yield { now, from: now + move, to: last + move }
    }
  }

  /** How far lines of the beginning have moved, all together; null where they do not all stand any more, or apart. */
  moveOf(from: number, to: number): number | null {
    for (const [at, { from: now, origin }] of this.segments.entries()) {
      if (origin === null || origin > from) continue
      const move = now - origin
      if (to + move <= this.endOf(at)) return move
    }
    return null
  }

  /** Whether the line and all above it have the numbers that they, or what stood in their place, had at the beginning. */
  keepsNumbersTo(line: number): boolean {
    for (const [at, { from, origin }] of this.segments.entries()) {
      if (from > line) return true
      const next = this.segments[at + 1]
      if (origin !== null && origin !== from) return false
      if (origin === null && next !== undefined && next.origin !== next.from) return false
      if (origin === null && next === undefined && this.growth !== 0) return false
    }
    return true
  }

  /** Number of the segment's last line. */
  private endOf(at: number): number {
    return (this.segments[at + 1]?.from ?? Number.POSITIVE_INFINITY) - 1
  }

  private segmentAt(line: number): number {
    let low = 0
    let high = this.segments.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.segments[middle]?.from ?? 0) <= line) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** Segments from the top, those that continue one another made one. */
class SegmentList {
  readonly segments: Segment[] = []

  push(from: number, origin: number | null): void {
    const last = this.segments[this.segments.length - 1]
    if (last !== undefined) {
      const continued = last.origin === null ? null : last.origin + from - last.from
      if (continued === origin) return
    }
    this.segments.push({ from, origin })
  }
}

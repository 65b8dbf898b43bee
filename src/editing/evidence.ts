import type { LinesEdit } from '../model/edit.ts'
import { evidenceLines } from '../model/quoted-lines.ts'
import type { LineRange } from './line-range.ts'
import type { LineTable } from './lines.ts'
import type { Work } from './work.ts'

/** What reading and comparing one line costs beside its bytes. */
const LINE_COST = 512

/**
 * Lines of a file as quoted lines are compared with them (zapmyco's content rules, with multiplicity): curly quotes count
 * as straight ones, blanks at both ends and blank lines as nothing.
 */
class EvidenceIndex {
  /** Numbers of the lines with each content, ascending. */
  private readonly places = new Map<string, number[]>()

  constructor(table: LineTable, { from, to }: LineRange, work: Work) {
    work.spend(8 * (table.end(to - 1) - table.start(from - 1)) + LINE_COST * Math.max(0, to - from + 1))
    for (let number = from; number <= to; number++) {
      for (const line of evidenceLines([table.text(number - 1).toString('utf8')])) {
        const known = this.places.get(line)
        if (known === undefined) this.places.set(line, [number])
        else known.push(number)
      }
    }
  }

  /** Quoted lines that do not stand in the range below the one before. */
  missingInOrder(quoted: readonly string[], { from, to }: LineRange): readonly string[] {
    let at = from
    return quoted.filter((line) => {
      const numbers = this.places.get(line) ?? []
      const found = numbers[firstFrom(numbers, at)]
      if (found === undefined || found > to) return true
      at = found + 1
      return false
    })
  }

  /** Quoted lines that do not stand in the range as often as they are quoted. */
  missingAnywhere(quoted: readonly string[], { from, to }: LineRange): readonly string[] {
    const left = new Map<string, number>()
    return quoted.filter((line) => {
      const numbers = this.places.get(line) ?? []
      const count = left.get(line) ?? firstFrom(numbers, to + 1) - firstFrom(numbers, from)
      left.set(line, count - 1)
      return count <= 0
    })
  }
}

/** Index of the first number that is not below this one. */
function firstFrom(numbers: readonly number[], least: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) < least) low = middle + 1
    else high = middle
  }
  return low
}

/** The evidence of one file: few lines are read where few are named, and all of them once where many edits name many. */
export class Evidence {
  private readonly table: LineTable
  private readonly work: Work
  private whole: EvidenceIndex | undefined
  private linesRead = 0

  constructor(table: LineTable, work: Work) {
    this.table = table
    this.work = work
  }

  /** Which of the quoted lines do not stand in the range: one below the other, or wherever in it. */
  missing(quoted: readonly string[], range: LineRange, order: LinesEdit['expectedOrder']): readonly string[] {
    const index = this.indexOf(range)
    return order === 'in-order' ? index.missingInOrder(quoted, range) : index.missingAnywhere(quoted, range)
  }

  private indexOf(range: LineRange): EvidenceIndex {
    const { table, work } = this
    this.linesRead += range.to - range.from + 1
    if (this.whole === undefined && this.linesRead > 2 * table.count)
      this.whole = new EvidenceIndex(table, { from: 1, to: table.count }, work)
    return this.whole ?? new EvidenceIndex(table, range, work)
  }
}

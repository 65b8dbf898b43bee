import type { Hunk, HunkLine, HunksEdit, Tier } from '../model/edit.ts'
import { encode } from './bytes.ts'
import type { FileText } from './file-text.ts'
import { hasMark, isOld, withoutMark } from './hunk-block.ts'
import type { Ending } from './lines.ts'
import type { Reindent } from './match-request.ts'
import type { Claim } from './outcome.ts'

/** A hunk whose place is known. */
export interface PlacedHunk {
  readonly hunk: Hunk
  /** Index of the line at which its old lines begin; the line before which it inserts where it has none. */
  readonly line: number
  readonly tier: Tier
  readonly reindent: Reindent | null
}

/** Neighbouring lines of a hunk that change: some go, some come. */
interface Run {
  /** Index in the file of the first line that goes, or before which the new ones come. */
  readonly line: number
  readonly removed: readonly HunkLine[]
  readonly added: readonly HunkLine[]
}

/**
 * The splices of one placed hunk: its context keeps the file's bytes, each run of changed lines is one splice.
 *
 * The claims together cover all old lines, so that no other edit of the step may touch the context either.
 */
export function hunkClaims(file: FileText, edit: HunksEdit, placed: PlacedHunk): readonly Claim[] {
  const runs = runsOf(placed)
  const { lines } = file
  const oldCount = placed.hunk.lines.filter(isOld).length
  const blockEnd = lines.start(Math.min(placed.line + oldCount, lines.count))
  let claimStart = lines.start(placed.line)
  return runs.map((run, index) => {
    const offset = runStart(file, run)
    const end = run.removed.length === 0 ? offset : lines.end(run.line + run.removed.length - 1)
    const claim: Claim = {
      item: edit.item,
      offset,
      length: end - offset,
      replacement: Buffer.concat(
        run.added.map((line, i) => addedLine(file, edit, placed, { run, line, index: i })),
      ),
      tier: placed.tier,
      claimStart: Math.min(claimStart, offset),
      claimEnd: index === runs.length - 1 ? Math.max(end, blockEnd) : end,
      ownLine: run.removed.length === 0 ? encode(lines.endingNear(Math.max(run.line - 1, 0))) : null,
    }
    claimStart = claim.claimEnd
    return claim
  })
}

function runsOf({ hunk, line }: PlacedHunk): readonly Run[] {
  const runs: Run[] = []
  let at = line
  let removed: HunkLine[] = []
  let added: HunkLine[] = []
  const close = (): void => {
    if (removed.length + added.length > 0) runs.push({ line: at - removed.length, removed, added })
    removed = []
    added = []
  }
  for (const each of hunk.lines) {
    if (each.kind === 'context') close()
    if (each.kind === 'add') added.push(each)
    else at++
    if (each.kind === 'remove') removed.push(each)
  }
  close()
  return runs
}

/** A first line that goes together with its byte-order mark takes the mark along. */
function runStart(file: FileText, run: Run): number {
  const first = run.removed[0]
  return run.line === 0 && first !== undefined && hasMark(first.text) ? 0 : file.lines.start(run.line)
}

interface AddedLine {
  readonly run: Run
  readonly line: HunkLine
  readonly index: number
}

function addedLine(file: FileText, edit: HunksEdit, placed: PlacedHunk, added: AddedLine): Buffer {
  const { run, line, index } = added
  const keepsMark = index > 0 || run.line > 0 || runStart(file, run) === 0
  const raw = keepsMark ? Buffer.from(line.text) : withoutMark(line.text)
  if (edit.flavour === 'unified' && placed.tier === 'exact') {
    return line.unterminated === true ? raw : Buffer.concat([raw, encode('\n')])
  }
  const text = reindented(raw[raw.length - 1] === 13 ? raw.subarray(0, -1) : raw, placed.reindent)
  return Buffer.concat([text, encode(endingFor(file, edit, added))])
}

function reindented(text: Buffer, reindent: Reindent | null): Buffer {
  if (reindent === null) return text
  const moved = reindent(text.toString('utf8'))
  return moved === null ? text : encode(moved)
}

/** The ending of the removed line in the same position, of the last removed one, or of the line beside. */
function endingFor(file: FileText, edit: HunksEdit, { run, line, index }: AddedLine): Ending {
  const { lines } = file
  const isLast = index === run.added.length - 1
  const endsFile = run.line + run.removed.length >= lines.count
  if (edit.flavour === 'unified' && line.unterminated === true) return ''
  if (edit.flavour === 'envelope' && isLast && endsFile && lines.isUnterminated) return ''
  if (run.removed.length === 0) return lines.endingNear(run.line > 0 ? run.line - 1 : 0)
  return lines.endingNear(run.line + Math.min(index, run.removed.length - 1))
}

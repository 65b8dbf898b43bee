import type { DiffItem } from '../model/batch.ts'
import type { DialectContext, Translation } from '../model/dialect.ts'
import type { Edit } from '../model/edit.ts'
import { limits } from '../model/limits.ts'
import { checkPathBytes } from '../policy/paths.ts'
import { isWellFormed } from '../policy/quote.ts'
import { changeOf, type FileChange, reversed } from './diff-change.ts'
import { contentEdits, modeFault } from './diff-edits.ts'
import { fault, faultFailure, isFault, type ParseFault, pathFault } from './parse-fault.ts'
import { nameBytes } from './quoted-path.ts'
import { StepCounter } from './steps.ts'
import { parseDiff } from './unified-diff-parse.ts'

const NOT_BASE64 = /[^A-Za-z0-9+/]/

/**
 * Translates a unified diff, git's or plain, by bytes: what is not UTF-8 stays as it is.
 *
 * Order of the files is git's: renames and copies start from the files as they were, wherever they stand in the diff;
 * of two sections for one file the second sees the result of the first. With `reverse` the diff is taken back, last
 * section first. A text hunk keeps the old blob's abbreviated id as evidence of its place; a binary patch must meet
 * the very blob that it was made from. Never throws; linear in the size of the text.
 *
 * Refuses `parse-error` (data.line), `symlink`, `submodule`, `empty-batch`, `not-utf8`, `invalid-batch` (text that is
 * not base64), `too-large`, and with the codes of the path rules, which hold for every name on every side.
 */
export function translateDiff(item: DiffItem, context: DialectContext): Translation {
  const bytes = diffBytes(item)
  if (isFault(bytes)) return refused([bytes], context)
  const parsed = parseDiff(bytes)
  if (isFault(parsed)) return refused([parsed], context)
  const sections = item.reverse === true ? parsed.sections.toReversed() : parsed.sections
  const order = new DiffOrder(context)
  const edits: Edit[] = []
  const faults: ParseFault[] = []
  for (const section of sections) {
    const forward = changeOf(section, item.strip)
    const change = item.reverse === true && !isFault(forward) ? reversed(forward) : forward
    const made = isFault(change) ? change : order.edits(change)
    if (isFault(made)) faults.push(made)
    else for (const edit of made) edits.push(edit)
    if (edits.length <= limits.batchMaxEdits) continue
    const message = `the diff makes more than the ${limits.batchMaxEdits} edits that fit in a batch`
    faults.push(fault(section.header.line, message, { code: 'too-large' }))
    break
  }
  if (faults.length > 0) return refused(faults, context)
  return { kind: 'edits', edits, nextStep: order.nextStep }
}

function refused(faults: readonly ParseFault[], context: DialectContext): Translation {
  return { kind: 'refused', failures: faults.map((found) => faultFailure(found, context.item, 'diff')) }
}

function diffBytes({ text, encoding }: DiffItem): Uint8Array | ParseFault {
  if (encoding !== 'base64') {
    if (isWellFormed(text)) return new TextEncoder().encode(text)
    return fault(1, 'the text holds half of a surrogate pair', { code: 'not-utf8' })
  }
  // Tools wrap base64 at 64 or 76 characters.
  const joined = text.split(/\r?\n/).join('')
  const padding = joined.endsWith('==') ? 2 : joined.endsWith('=') ? 1 : 0
  if (joined.length % 4 === 0 && !NOT_BASE64.test(joined.slice(0, joined.length - padding))) {
    return Buffer.from(joined, 'base64')
  }
  return fault(1, 'the text is not base64 as "encoding" says', { code: 'invalid-batch' })
}

/** Gives the changes of one diff their steps. */
class DiffOrder {
  readonly #context: DialectContext
  readonly #steps: StepCounter
  /** Paths that a section before has edited, made, deleted or renamed away. */
  readonly #changed = new Set<string>()

  constructor(context: DialectContext) {
    this.#context = context
    this.#steps = new StepCounter(context.step)
  }

  get nextStep(): number {
    return this.#steps.next
  }

  edits(change: FileChange): readonly Edit[] | ParseFault {
    const mode = modeFault(change)
    if (mode !== null) return mode
    const old = pathOf(change.old, change.line)
    if (isFault(old)) return old
    const target = pathOf(change.new, change.line)
    if (isFault(target)) return target
    if (change.kind === 'rename') return this.#rename(change, old.path, target.path)
    if (change.kind === 'copy') return this.#copy(change, old.path, target.path)
    this.#changed.add(old.path)
    return contentEdits(change, this.#place(this.#steps.take(old.path), old.path))
  }

  /** A rename is of the file as it was; its hunks refer to the old path. */
  #rename(change: FileChange, path: string, to: string): readonly Edit[] | ParseFault {
    if (this.#changed.has(path)) {
      return fault(change.line, 'a section before changes or renames the file that is renamed here', { path })
    }
    this.#changed.add(path)
    const place = this.#place(this.#steps.first, path)
    this.#steps.touch(place.step, path, to)
    // New content as a whole cannot meet a move in one step: it is written where the move leads.
    if (replacesWhole(change)) {
      const content = contentEdits(change, this.#place(place.step + 1, to))
      this.#steps.touch(place.step + 1, to)
      return isFault(content) ? content : [{ op: 'move', ...place, to }, ...content]
    }
    const content = contentEdits(change, place)
    return isFault(content) ? content : [...content, { op: 'move', ...place, to }]
  }

  /** A copy is of the file as it was; its hunks refer to the copy, which is there a step later. */
  #copy(change: FileChange, path: string, to: string): readonly Edit[] | ParseFault {
    const place = this.#place(this.#steps.first, path)
    const content = contentEdits(change, this.#place(place.step + 1, to))
    if (isFault(content)) return content
    this.#steps.touch(content.length === 0 ? place.step : place.step + 1, to)
    return [{ op: 'copy', ...place, to }, ...content]
  }

  #place(step: number, path: string): Pick<Edit, 'item' | 'step' | 'path'> {
    return { item: this.#context.item, step, path }
  }
}

const replacesWhole = ({ binary }: FileChange): boolean =>
  binary !== null && binary !== 'no-data' && binary.forward.method === 'literal'

function pathOf(name: string, line: number): { readonly path: string } | ParseFault {
  const found = checkPathBytes(nameBytes(name))
  if (found.kind === 'path') return { path: found.path }
  return pathFault(line, Buffer.from(nameBytes(name)).toString('utf8'), found.refusal)
}

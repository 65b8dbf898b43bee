import type { BlocksItem } from '../model/batch.ts'
import type { DialectContext, Translation } from '../model/dialect.ts'
import type { Edit, Tier } from '../model/edit.ts'
import { limits } from '../model/limits.ts'
import type { Failure } from '../model/resolution.ts'
import { quote } from '../policy/quote.ts'
import { type Block, parseBlocks } from './blocks-parse.ts'
import { fault, faultFailure, isFault, type ParseFault, pathFault } from './parse-fault.ts'
import { requestPath } from './request-path.ts'

/** aider and Cline fall back to lines compared without their indentation. */
const maxTier: Tier = 'indent'

const encoder = new TextEncoder()

interface NamedBlock {
  readonly block: Block
  readonly path: string
}

/**
 * Translates SEARCH/REPLACE blocks (aider, Cline, Roo): whole lines, found in exactly one place.
 *
 * The blocks of one file see one another's results, except where one of them has a line hint: hints mean the file as
 * it was, so its blocks then share a step. A block without a file name takes that of the block before. An empty SEARCH
 * makes a file that must be absent. Never throws.
 *
 * Refuses `parse-error` (data.line), `not-utf8`, `too-large`, and with the codes of the path rules.
 */
export function translateBlocks(item: BlocksItem, context: DialectContext): Translation {
  const parsed = parseBlocks(item.text, item.path !== undefined)
  if (isFault(parsed)) return refusedBy([parsed], context)
  if (parsed.blocks.length > limits.batchMaxEdits) {
    const message = `the text has ${parsed.blocks.length} blocks; at most ${limits.batchMaxEdits} fit in a batch`
    return refusedBy([fault(1, message, { code: 'too-large' })], context)
  }
  const faults: ParseFault[] = []
  const named: NamedBlock[] = []
  let before: NamedBlock | null = null
  for (const block of parsed.blocks) {
    const found = nameBlock(block, before, item, context.root)
    if (isFault(found)) faults.push(found)
    else {
      named.push(found)
      before = found
    }
  }
  return faults.length > 0 ? refusedBy(faults, context) : translated(named, context)
}

function refusedBy(faults: readonly ParseFault[], context: DialectContext): Translation {
  const failures = faults.map((found): Failure => faultFailure(found, context.item, 'blocks'))
  return { kind: 'refused', failures }
}

function nameBlock(
  block: Block,
  before: NamedBlock | null,
  item: BlocksItem,
  root: string,
): NamedBlock | ParseFault {
  const { name, line } = block
  if (item.path !== undefined) return underPath(block, item.path, root)
  if (name.kind === 'none') {
    if (before !== null) return { block, path: before.path }
    return fault(line, 'no file name stands above the first block', { hint: nameHint })
  }
  if (name.kind === 'prose') {
    return fault(name.index + 1, 'what stands where the file name belongs reads like prose', {
      hint: nameHint,
    })
  }
  if (!name.isCertain && isBlank(block.search)) {
    const message = `${quote(name.name)} may be a file name or prose, and the block would make such a file`
    return fault(name.index + 1, message, { hint: nameHint })
  }
  const mapped = requestPath(name.name, root)
  if (mapped.kind === 'refused') return pathFault(name.index + 1, name.name, mapped.refusal)
  return { block, path: mapped.path }
}

const nameHint =
  'Put the path alone on the line above the fence or the SEARCH marker (in backticks if it has spaces), an empty line above prose.'

/** The path is given beside the text: a name in the text may only repeat it. */
function underPath(block: Block, path: string, root: string): NamedBlock | ParseFault {
  const mapped = requestPath(path, root)
  if (mapped.kind === 'refused') return pathFault(block.line, path, mapped.refusal)
  const { name } = block
  if (name.kind !== 'name' || !name.isCertain || !/[./]/.test(name.name)) return { block, path: mapped.path }
  const other = requestPath(name.name, root)
  if (other.kind === 'mapped' && other.path === mapped.path) return { block, path: mapped.path }
  const message = `the block names ${quote(name.name)}, and the item ${quote(path)}`
  return fault(name.index + 1, message, { path, hint: 'Leave one of them out.' })
}

function translated(named: readonly NamedBlock[], { item, step }: DialectContext): Translation {
  const hinted = new Set(named.filter(({ block }) => block.startLine !== null).map(({ path }) => path))
  const counts = new Map<string, number>()
  let nextStep = step + 1
  const edits = named.map(({ block, path }): Edit => {
    const earlier = hinted.has(path) ? 0 : (counts.get(path) ?? 0)
    counts.set(path, earlier + 1)
    nextStep = Math.max(nextStep, step + earlier + 1)
    return blockEdit(block, { item, step: step + earlier, path })
  })
  return { kind: 'edits', edits, nextStep }
}

function blockEdit(block: Block, place: Pick<Edit, 'item' | 'step' | 'path'>): Edit {
  if (isBlank(block.search)) {
    const content = encoder.encode(terminated(block.replace))
    return { ...place, op: 'write', content, mode: 'create', isText: true }
  }
  const hint = block.startLine === null ? {} : { startLine: block.startLine }
  const pair = { old: terminated(block.search), new: terminated(block.replace) }
  return { ...place, op: 'replace', ...pair, all: false, maxTier, wholeLines: true, ...hint }
}

const terminated = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

const isBlank = (lines: readonly string[]): boolean => lines.every((line) => line.trim() === '')

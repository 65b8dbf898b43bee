import type { ToolItem } from '../model/batch.ts'
import type { Dialect, DialectContext, ReadCall, Translation } from '../model/dialect.ts'
import type { Edit } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import { evidenceLines, weaknessOf } from '../model/quoted-lines.ts'
import type { Failure } from '../model/resolution.ts'
import { isWellFormed, quote } from '../policy/quote.ts'
import { readDefaultLines } from './answers/zapmyco.ts'
import {
  failureOf,
  isRecord,
  type JsonRecord,
  refusedWith,
  refusedWithAll,
  shortened,
  shown,
  translated,
} from './arguments.ts'
import { requestPath } from './request-path.ts'

const encoder = new TextEncoder()

/**
 * zapmyco's `file_edit` (line range, append, text, and the hidden `edits` list), `file_write` and `file_read`.
 *
 * Unknown arguments are ignored, as there. Failures carry zapmyco's own sentence in `data.native` where it has one.
 * Stricter than zapmyco: quoted lines count as often as they are quoted, notebooks are refused in every mode (a line
 * edit leaves invalid JSON), and CRLF in new text never doubles its CR.
 */
export const zapmyco: Dialect = {
  name: 'zapmyco',
  profile: { order: 'original', maxTier: 'unicode', needsRead: true, wholeFileUtf8: 'text-edits' },
  tools: ['file_edit', 'file_write', 'file_read'],
  fits: (call) => zapmyco.tools.includes(call.tool) && typeof own(call.input, 'file_path') === 'string',
  translate,
  readCall,
}

type Reply =
  | { readonly kind: 'edits'; readonly edits: readonly Edit[] }
  | { readonly kind: 'fault'; readonly faults: readonly Fault[] }
type Fault = Refusal & { readonly data: { readonly native?: string } }
type Base = Pick<Edit, 'item' | 'step' | 'path'>

function translate(call: ToolItem, context: DialectContext): Translation {
  if (call.tool === 'file_read') {
    const message = 'file_read edits nothing'
    return refusedWith(failureOf(call, context, { code: 'unknown-tool', message }))
  }
  const target = targetOf(call, context)
  if (target.kind === 'fault') return refusedWith(target.failure)
  const base = { item: context.item, step: context.step, path: target.path }
  const reply = call.tool === 'file_write' ? fileWrite(call.input, base) : fileEdit(call.input, base)
  if (reply.kind === 'edits') return translated(reply.edits, context)
  const failures = reply.faults.map((fault) => failureOf(call, context, { ...fault, path: target.path }))
  return refusedWithAll(failures)
}

function readCall(call: ToolItem, context: DialectContext): ReadCall | Failure | null {
  if (call.tool !== 'file_read') return null
  const target = targetOf(call, context)
  if (target.kind === 'fault') return target.failure
  const offset = own(call.input, 'offset') ?? 1
  const limit = own(call.input, 'limit') ?? readDefaultLines
  if (!isLine(offset) || !isLine(limit)) {
    const message = `'offset' is ${shown(offset)}, 'limit' is ${shown(limit)}; expected integers from 1`
    return failureOf(call, context, { code: 'out-of-range', message })
  }
  return {
    kind: 'read',
    path: target.path,
    from: offset,
    to: Math.min(offset + limit - 1, Number.MAX_SAFE_INTEGER),
  }
}

type Target =
  | { readonly kind: 'target'; readonly path: string }
  | { readonly kind: 'fault'; readonly failure: Failure }

function targetOf(call: ToolItem, context: DialectContext): Target {
  const text = own(call.input, 'file_path')
  if (typeof text !== 'string')
    return { kind: 'fault', failure: failureOf(call, context, missing('file_path')) }
  if (text === '') {
    const fault = faultOf('path-invalid', `'file_path' is empty`, 'file_path 不能为空')
    return { kind: 'fault', failure: failureOf(call, context, fault) }
  }
  const mapped = requestPath(text, context.root)
  if (mapped.kind === 'mapped') return { kind: 'target', path: mapped.path }
  return { kind: 'fault', failure: failureOf(call, context, mapped.refusal) }
}

/** The routing of `file_edit`, first match wins: the `edits` list, `mode`, a `start_line` that is a number, text. */
function fileEdit(input: JsonRecord, base: Base): Reply {
  if (base.path.toLowerCase().endsWith('.ipynb')) {
    const native = `文件 '${base.path}' 是 Jupyter Notebook，不支持编辑`
    return faulty(
      faultOf(
        'invalid-batch',
        `${quote(base.path)} is a Jupyter Notebook, which file_edit cannot keep valid`,
        native,
      ),
    )
  }
  const edits = own(input, 'edits')
  if (Array.isArray(edits)) return editList(edits, base)
  const mode = own(input, 'mode')
  if (mode === 'append') return append(input, base)
  if (mode === 'line_range') return lineRange(input, base, '')
  if (typeof mode === 'string') {
    return faulty(
      faultOf(
        'invalid-batch',
        `'mode' is ${quote(mode)}; expected "line_range" or "append"`,
        `不支持的编辑模式: '${shortened(mode)}'`,
      ),
    )
  }
  return isUnsigned(own(input, 'start_line')) ? lineRange(input, base, '') : replaceText(input, base)
}

/** All ranges are those of the file as it was; overlaps are the engine's to find. */
function editList(edits: readonly unknown[], base: Base): Reply {
  if (edits.length === 0)
    return faulty(faultOf('invalid-batch', `'edits' is an empty list`, 'edits 数组为空'))
  const replies = edits.map((edit, index) => lineRange(isRecord(edit) ? edit : {}, base, `edits[${index}]`))
  const faults = replies.flatMap((reply) => (reply.kind === 'fault' ? reply.faults : []))
  if (faults.length > 0) return { kind: 'fault', faults }
  return { kind: 'edits', edits: replies.flatMap((reply) => (reply.kind === 'edits' ? reply.edits : [])) }
}

/** @param place - `edits[2]` within a list, else empty. */
function lineRange(input: JsonRecord, base: Base, place: string): Reply {
  const from = own(input, 'start_line')
  const to = own(input, 'end_line')
  const expected = own(input, 'expected')
  const content = own(input, 'new_content')
  if (!isUnsigned(from)) return faulty(missing('start_line', place))
  if (!isUnsigned(to)) return faulty(missing('end_line', place))
  if (typeof expected !== 'string') return faulty(missing('expected', place))
  if (typeof content !== 'string') return faulty(missing('new_content', place))
  const fault =
    notUtf8({ expected, new_content: content }) ?? rangeFault(from, to) ?? weakEvidence(expected, from, to)
  if (fault !== null)
    return faulty(place === '' ? fault : { ...fault, message: `${place}: ${fault.message}` })
  // A final newline in the new content is the last line's own; no content at all deletes.
  const text = content === '' ? null : withoutCarriageReturns(content)
  return edits({ ...base, op: 'lines', from, to, content: text, expected, expectedOrder: 'any-order' })
}

function append(input: JsonRecord, base: Base): Reply {
  const content = own(input, 'content')
  if (typeof content !== 'string') return faulty(missing('content'))
  const fault = notUtf8({ content })
  if (fault !== null) return faulty(fault)
  return edits({ ...base, op: 'append', content: withoutCarriageReturns(content) })
}

function replaceText(input: JsonRecord, base: Base): Reply {
  const old = own(input, 'old_string')
  const text = own(input, 'new_string')
  if (typeof old !== 'string') {
    const native = "缺少 'old_string' 或 'start_line' 参数，请使用 old_string/new_string 或 line_range 模式"
    return faulty(faultOf('invalid-batch', `'old_string' or a numeric 'start_line' is missing`, native))
  }
  if (typeof text !== 'string') return faulty(missing('new_string'))
  if (old === text) {
    const native = 'old_string 和 new_string 相同，没有需要修改的内容'
    return faulty(faultOf('no-change', `'old_string' and 'new_string' are the same text`, native))
  }
  if (old === '') return faulty(faultOf('invalid-batch', `'old_string' is empty`, 'old_string 不能为空'))
  const fault = notUtf8({ old_string: old, new_string: text })
  if (fault !== null) return faulty(fault)
  const all = own(input, 'replace_all') === true
  const { maxTier } = zapmyco.profile
  return edits({ ...base, op: 'replace', old, new: withoutCarriageReturns(text), all, maxTier })
}

function fileWrite(input: JsonRecord, base: Base): Reply {
  const content = own(input, 'content')
  if (typeof content !== 'string') return faulty(missing('content'))
  const fault = notUtf8({ content })
  if (fault !== null) return faulty(fault)
  if (content.includes('\0'))
    return faulty(faultOf('binary', `'content' holds a NUL character`, '内容包含空字节，仅支持文本文件'))
  return edits({ ...base, op: 'write', content: encoder.encode(content), mode: 'either', isText: true })
}

function rangeFault(from: number, to: number): Fault | null {
  if (from >= 1 && to >= from) return null
  const native = `行号超出范围：start_line=${from}, end_line=${to}`
  const message = `lines ${from} to ${to} are no range; lines count from 1 and 'end_line' is not before 'start_line'`
  return { ...faultOf('out-of-range', message, native), data: { native, from, to } }
}

/** Names the rule that failed, which zapmyco's own answer leaves out. */
function weakEvidence(expected: string, from: number, to: number): Fault | null {
  const fault = weaknessOf(evidenceLines(expected.split('\n')))
  if (fault === null) return null
  const message =
    fault.rule === 'three-lines'
      ? `'expected' quotes ${fault.count} lines that are not blank; expected 3 or more (three-line rule)`
      : `'expected' quotes ${fault.count} lines and ${quote(fault.line)} is shorter than 3 bytes; expected 4 or more (short-line rule)`
  const native = `内容验证不通过：第 ${from}-${to} 行的实际内容与 expected 描述不一致。`
  const hint =
    'Widen the range until it holds enough lines, quote them, and repeat in new_content those that stay: lines around the range are not compared.'
  return { code: 'weak-evidence', message, data: { native, rule: fault.rule, count: fault.count }, hint }
}

function notUtf8(texts: Readonly<Record<string, string>>): Fault | null {
  const found = Object.entries(texts).find(([, text]) => !isWellFormed(text))
  return found === undefined ? null : faultOf('not-utf8', `'${found[0]}' holds half of a surrogate pair`)
}

function missing(name: string, place = ''): Fault {
  const native = place === '' ? `缺少必填参数 '${name}'` : `${place} 缺少 '${name}' 参数`
  const fault = faultOf(
    'invalid-batch',
    `${place === '' ? '' : `${place}: `}'${name}' is missing or of the wrong type`,
    native,
  )
  return { ...fault, data: { ...fault.data, argument: name } }
}

const faultOf = (code: ErrorCode, message: string, native?: string): Fault => ({
  code,
  message,
  data: native === undefined ? {} : { native },
})

const own = (input: JsonRecord, name: string): unknown =>
  Object.hasOwn(input, name) ? input[name] : undefined
const isUnsigned = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isLine = (value: unknown): value is number => isUnsigned(value) && value >= 1
const edits = (edit: Edit): Reply => ({ kind: 'edits', edits: [edit] })
const faulty = (...faults: readonly Fault[]): Reply => ({ kind: 'fault', faults })

/** zapmyco reads CRLF in a request as a newline; the engine gives each line the ending of its place. */
const withoutCarriageReturns = (text: string): string => text.replaceAll('\r\n', () => '\n')

import type { Refusal } from '../../model/error.ts'
import { hintFor } from '../../model/error-codes.ts'

/** Largest file that `file_read` reads, whatever lines are asked for. */
const readMaxBytes = 262_144
/** Largest answer of `file_read`, in bytes of UTF-8; a larger one is an error. */
const outputMaxBytes = 100_000
/** Lines shown when no `limit` is given. */
export const readDefaultLines = 2000
/** Bytes at a file's beginning in which a NUL makes it binary. */
const sniffedBytes = 8192
/** Bytes of an unchanged line that a listing shows. */
const contextMaxBytes = 60

const encoder = new TextEncoder()

export interface FileReadAnswer {
  readonly isError: boolean
  readonly text: string
}

/**
 * Reads lines of a file as zapmyco's `file_read` does: without the byte-order mark and line endings, each line behind
 * its number and a tab.
 *
 * @param offset - First line, from 1.
 * @param limit - Most lines shown.
 */
export function fileRead(path: string, bytes: Uint8Array, offset: number, limit: number): FileReadAnswer {
  if (bytes.length > readMaxBytes) {
    const advice = 'Use offset and limit to read portions of the file.'
    return readError(`File too large: ${bytes.length} bytes (max ${readMaxBytes} bytes). ${advice}`)
  }
  if (bytes.subarray(0, sniffedBytes).includes(0)) return readError(`Binary file: ${path}`)
  const text = decodeUtf8(bytes)
  if (text === null) return readError(`文件不是有效的 UTF-8 编码: ${path}`)
  const lines = linesOf(text)
  const answer = numbered(path, lines, offset, limit)
  const size = encoder.encode(answer).length
  if (size > outputMaxBytes) {
    return readError(`Output too large (${size} chars, max ${outputMaxBytes} chars)`)
  }
  return { isError: false, text: answer }
}

/** What was done, for {@link completedText}. Paths are as the call gave them. */
export type ZapmycoDone =
  | {
      readonly kind: 'lines'
      readonly path: string
      readonly from: number
      readonly to: number
      /** The lines as they were and as they are, with LF between them. */
      readonly before: string
      readonly after: string
    }
  | { readonly kind: 'append'; readonly path: string; readonly content: string }
  | { readonly kind: 'replace'; readonly path: string; readonly all: boolean }
  | { readonly kind: 'list'; readonly path: string; readonly edits: number }
  | { readonly kind: 'write'; readonly path: string; readonly bytes: number; readonly isNew: boolean }

/** The answer to an edit or a write that was done. */
export function completedText(done: ZapmycoDone): string {
  const file = `文件 '${done.path}'`
  switch (done.kind) {
    case 'lines':
      return linesText(file, done)
    case 'append':
      return `${file} 追加完成：在文件末尾添加了 ${linesOf(done.content).length} 行内容。`
    case 'replace':
      return `${file} 编辑完成${done.all ? '（全部替换 所有匹配 处）' : '（替换 1 处）'}`
    case 'list':
      return `${file} 批量编辑完成：${done.edits} 个编辑已全部执行`
    case 'write':
      return done.isNew
        ? `${file} 创建成功（${done.bytes} 字节）`
        : `${file} 写入完成（已覆盖原有内容，${done.bytes} 字节）`
  }
}

/**
 * The answer to a refused call: zapmyco's own sentence where it has one, behind its prefix for errors. Where galley
 * knows more (the rule that failed, the nearest place), that stands below.
 *
 * @param path - As the call gave it.
 */
export function errorText(refusal: Refusal, path: string): string {
  const native = refusal.data['native']
  const own = typeof native === 'string' ? native : sentenceFor(refusal, path)
  const found = `${refusal.message}\n${refusal.hint ?? hintFor(refusal.code)}`
  if (own === null) return `错误: ${found}`
  return detailed.has(refusal.code) ? `错误: ${own}\n${found}` : `错误: ${own}`
}

const detailed: ReadonlySet<string> = new Set([
  'weak-evidence',
  'no-match',
  'ambiguous-match',
  'out-of-range',
  'overlap',
  'stale-read',
])

function sentenceFor({ code, data }: Refusal, path: string): string | null {
  switch (code) {
    case 'not-found':
      return `文件不存在: ${path}`
    case 'is-directory':
      return `'${path}' 是一个目录，不能编辑`
    case 'binary':
      return `二进制文件: ${path}。仅支持文本文件编辑。`
    case 'not-utf8':
      return `文件不是有效的 UTF-8 编码: ${path}`
    case 'out-of-range':
      return data['totalLines'] === 0
        ? '文件为空，无法编辑'
        : `行号超出范围：文件共 ${String(data['totalLines'] ?? '?')} 行`
    case 'weak-evidence':
      return `内容验证不通过：文件 '${path}' 的实际内容与 expected 描述不一致。`
    case 'no-match':
      return Array.isArray(data['missing'])
        ? differenceText(data, path)
        : `在文件 '${path}' 中未找到指定的 old_string。请确认文件内容后重试。`
    case 'ambiguous-match':
      return `old_string 在文件中出现了 ${placesOf(data['lines'])} 次。请提供更多上下文使匹配唯一，或设置 replace_all=true。`
    case 'overlap':
      return '批量编辑范围重叠，请合并后重试'
    case 'not-read':
      return `文件 '${path}' 已存在，但未通过 file_read 读取。请先使用 file_read 读取文件内容后再进行写入操作。`
    case 'stale-read':
      return `文件 '${path}' 自读取后已被外部修改，请重新使用 file_read 读取后再操作。`
    case 'io-error':
      return `写入文件失败: ${path}`
    default:
      return null
  }
}

/** What is quoted and does not stand in the range, and what does, as far as the refusal holds it. */
function differenceText(data: Refusal['data'], path: string): string {
  const { from, to } = data
  const missing = textsIn(data['missing'])
  const found = textsIn(data['found'])
  const first = typeof from === 'number' ? from : 1
  return [
    `内容验证不通过：文件 '${path}' 的第 ${String(from)}-${String(to)} 行的实际内容与 expected 描述不一致。`,
    `expected 中有 ${missing.length} 行未在文件中找到:`,
    ...missing.map((line) => `  - '${line}'`),
    `当前第 ${String(from)}-${String(to)} 行的实际内容是:`,
    ...found.map((line, index) => `  ${first + index} | ${line}`),
    '建议：请使用 file_read 重新读取文件确认当前内容后重试。',
  ].join('\n')
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []

const placesOf = (lines: unknown): string => (Array.isArray(lines) ? String(lines.length) : '多')

const readError = (text: string): FileReadAnswer => ({ isError: true, text: `错误: ${text}` })

function numbered(path: string, lines: readonly string[], offset: number, limit: number): string {
  const total = lines.length
  if (total === 0) return `文件 ${path} (共 0 行)`
  if (offset > total) return `文件 ${path} (共 ${total} 行)\nOffset ${offset} 超出文件末尾。`
  const shown = lines.slice(offset - 1, offset - 1 + limit)
  const last = offset + shown.length - 1
  const body = shown.map((line, index) => `${offset + index}\t${line}\n`).join('')
  const head = `文件 ${path} (共 ${total} 行, 显示 ${offset}-${last} 行)\n\n${body}`
  if (last >= total) return head
  return `${head}\n---\n[显示 ${shown.length}/${total} 行，使用 offset=${last + 1} 查看后续内容]`
}

function linesText(file: string, done: Extract<ZapmycoDone, { readonly kind: 'lines' }>): string {
  const before = linesOf(done.before)
  const after = linesOf(done.after)
  const shift = after.length - before.length
  const shifted = shift === 0 ? '' : `（${shift > 0 ? '+' : ''}${shift} 行）`
  const counts = `（共 ${before.length} 行）→ 共 ${after.length} 行${shifted}`
  const listing = positionalListing(before, after).join('\n')
  return `${file} 编辑完成：替换 ${done.from}-${done.to} 行${counts}\n\ndiff:\n${listing}`
}

/** Compares line by line at the same position; no search for lines that moved. */
function positionalListing(before: readonly string[], after: readonly string[]): readonly string[] {
  const listing: string[] = []
  for (let i = 0; i < Math.max(before.length, after.length); i++) {
    const old = before[i]
    const fresh = after[i]
    if (old !== undefined && old === fresh) {
      listing.push(`  ${cut(old)}`)
      continue
    }
    if (old !== undefined) listing.push(`- ${old}`)
    if (fresh !== undefined) listing.push(`+ ${fresh}`)
  }
  return listing
}

/** Cuts a line to 60 bytes of UTF-8, at a character's end. */
function cut(line: string): string {
  const encoded = encoder.encode(line)
  if (encoded.length <= contextMaxBytes) return line
  let end = contextMaxBytes
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end--
  return `${new TextDecoder('utf-8', { ignoreBOM: true }).decode(encoded.subarray(0, end))}...`
}

/** Lines without their endings (LF or CRLF); a final newline begins no further line, and a last CR is text. */
function linesOf(text: string): readonly string[] {
  const parts = text.split('\n')
  const last = parts.pop() ?? ''
  const lines = parts.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  return last === '' ? lines : [...lines, last]
}

/** Text without its byte-order mark; null when the bytes are not UTF-8. */
function decodeUtf8(bytes: Uint8Array): string | null {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const isFaithful = Buffer.compare(encoder.encode(text), bytes) === 0
  if (!isFaithful) return null
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

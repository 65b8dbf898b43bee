import type { CellEdit } from '../model/edit.ts'
import { type JsonNode, stringValue } from './json-spans.ts'
import { indentAt, type Notebook } from './notebook.ts'

/** A source as nbformat keeps it: lines that own their newline. */
function sourceLines(source: string): readonly string[] {
  const lines: string[] = []
  let start = 0
  while (start < source.length) {
    const newline = source.indexOf('\n', start)
    const end = newline === -1 ? source.length : newline + 1
    lines.push(source.slice(start, end))
    start = end
  }
  return lines
}

/** The JSON of a cell's new source in the form of its old one: a string, or a list whose unchanged lines keep their bytes. */
export function cellSource({ text, layout }: Notebook, old: JsonNode, source: string): string {
  if (old.kind !== 'array') return JSON.stringify(source)
  const lines = sourceLines(source)
  if (lines.length === 0) return '[]'
  const items = keptItems(text, old.items, lines)
  const [first, second] = old.items
  const last = old.items[old.items.length - 1]
  if (first !== undefined && last !== undefined) {
    const lead = text.slice(old.start + 1, first.start)
    const between =
      second === undefined ? `,${lead === '' ? ' ' : lead}` : text.slice(first.end, second.start)
    return `[${lead}${items.join(between)}${text.slice(last.end, old.end - 1)}]`
  }
  if (layout === null) return `[${items.join(', ')}]`
  const base = layout.newline + indentAt(text, old.start)
  return `[${base}${layout.unit}${items.join(`,${base}${layout.unit}`)}${base}]`
}

/** Lines as JSON strings; those that stand at the same end of the old list are taken from it as they are written. */
function keptItems(text: string, old: readonly JsonNode[], lines: readonly string[]): readonly string[] {
  const values = old.map((node) => (node.kind === 'string' ? stringValue(text, node) : null))
  const most = Math.min(old.length, lines.length)
  let head = 0
  while (head < most && values[head] === lines[head]) head++
  let tail = 0
  while (head + tail < most && values[old.length - 1 - tail] === lines[lines.length - 1 - tail]) tail++
  return lines.map((line, index) => {
    const node =
      index < head
        ? old[index]
        : index >= lines.length - tail
          ? old[old.length - lines.length + index]
          : undefined
    return node === undefined ? JSON.stringify(line) : text.slice(node.start, node.end)
  })
}

/** A new cell's JSON, with the blanks that go around it in an empty list. */
export interface NewCell {
  readonly lead: string
  readonly text: string
  readonly trail: string
}

export function newCell(notebook: Notebook, edit: CellEdit): NewCell {
  const type = edit.cellType ?? 'code'
  const id = notebook.hasIds ? { id: freshId(notebook, edit.source) } : {}
  const source = sourceLines(edit.source)
  const cell =
    type === 'code'
      ? { cell_type: type, execution_count: null, ...id, metadata: {}, outputs: [], source }
      : { cell_type: type, ...id, metadata: {}, source }
  const { layout, text, cells } = notebook
  if (layout === null) return { lead: '', text: JSON.stringify(cell), trail: '' }
  const first = cells.items[0]
  const outer = indentAt(text, cells.start)
  const base = layout.newline + (first === undefined ? outer + layout.unit : indentAt(text, first.start))
  return {
    lead: base,
    text: JSON.stringify(cell, null, layout.unit).split('\n').join(base),
    trail: layout.newline + outer,
  }
}

/** An id that no cell has, made from the source alone so that the same edit gives the same bytes. */
function freshId({ ids }: Notebook, source: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < source.length; i++) hash = Math.imul(hash ^ source.charCodeAt(i), 0x01000193)
  for (;;) {
    const id = (hash >>> 0).toString(16).padStart(8, '0')
    if (!ids.has(id)) return id
    hash++
  }
}

/** The cell as another type: code cells have outputs and an execution count, others must not. */
export function retypedCell(
  { text }: Notebook,
  cell: JsonNode,
  change: { readonly type: 'code' | 'markdown'; readonly source: string },
): string {
  if (cell.kind !== 'object') throw new Error('BUG: a cell is an object')
  const raw = new Map(cell.members.map(({ key, value }) => [key, text.slice(value.start, value.end)]))
  raw.set('cell_type', JSON.stringify(change.type))
  raw.set('source', change.source)
  if (change.type === 'markdown') {
    raw.delete('outputs')
    raw.delete('execution_count')
  } else {
    if (!raw.has('execution_count')) raw.set('execution_count', 'null')
    if (!raw.has('outputs')) raw.set('outputs', '[]')
  }
  const [first] = cell.members
  const last = cell.members[cell.members.length - 1]
  const lead = first === undefined ? '' : text.slice(cell.start + 1, first.start)
  const trail = last === undefined ? '' : text.slice(last.value.end, cell.end - 1)
  const members = [...raw].map(([key, value]) => `${JSON.stringify(key)}: ${value}`)
  return `{${lead}${members.join(`,${lead === '' ? ' ' : lead}`)}${trail}}`
}

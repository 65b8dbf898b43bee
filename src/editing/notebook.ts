import { ByteOffsets } from './byte-offsets.ts'
import { JsonFault, type JsonMember, type JsonNode, parseJsonSpans, stringValue } from './json-spans.ts'
import type { Work } from './work.ts'

type JsonArray = Extract<JsonNode, { kind: 'array' }>
type JsonObject = Extract<JsonNode, { kind: 'object' }>

/** What reading JSON costs for each byte. */
const BYTE_COST = 32

/** A Jupyter notebook with the places of its cells. */
export interface Notebook {
  readonly text: string
  readonly offsets: ByteOffsets
  readonly cells: JsonArray
  /** Indexes of the cells with each id. */
  readonly ids: ReadonlyMap<string, readonly number[]>
  /** Column style: what one level of indentation is, and how its lines end; null = all on one line. */
  readonly layout: { readonly unit: string; readonly newline: string } | null
  /** Cells of this notebook carry ids. */
  readonly hasIds: boolean
}

export interface NotebookFault {
  readonly fault: string
  readonly isEncoding?: true
}

/** The notebook, or what is wrong with the file. */
export function readNotebook(bytes: Buffer, work: Work): Notebook | NotebookFault {
  work.spend(BYTE_COST * bytes.length)
  const text = bytes.toString('utf8')
  if (!Buffer.from(text, 'utf8').equals(bytes)) return { fault: 'the file is not UTF-8', isEncoding: true }
  const root = rootOf(text)
  if (typeof root === 'string') return { fault: root }
  const cells = memberOf(root, 'cells')
  if (cells?.kind !== 'array') return { fault: 'the file is no notebook: it has no list "cells"' }
  if (cells.items.some((cell) => cell.kind !== 'object'))
    return { fault: 'the file is no notebook: a cell is no object' }
  return {
    text,
    offsets: new ByteOffsets(text, bytes.length),
    cells,
    ids: idsOf(text, cells),
    layout: layoutOf(text, root),
    hasIds: hasIds(text, root, cells),
  }
}

function idsOf(text: string, cells: JsonArray): ReadonlyMap<string, readonly number[]> {
  const ids = new Map<string, number[]>()
  cells.items.forEach((cell, index) => {
    const id = stringMember(text, cell, 'id')
    const known = id === undefined ? undefined : ids.get(id)
    if (known !== undefined) known.push(index)
    else if (id !== undefined) ids.set(id, [index])
  })
  return ids
}

function rootOf(text: string): JsonObject | string {
  try {
    const root = parseJsonSpans(text)
    return root.kind === 'object' ? root : 'the file is no notebook: its JSON is no object'
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    return `the file is no JSON: see line ${text.slice(0, error.offset).split('\n').length}`
  }
}

export const memberOf = (node: JsonNode, key: string): JsonNode | undefined =>
  node.kind === 'object'
    ? node.members.findLast((member: JsonMember) => member.key === key)?.value
    : undefined

/** The value of a string member, or undefined. */
export function stringMember(text: string, node: JsonNode, key: string): string | undefined {
  const value = memberOf(node, key)
  return value?.kind === 'string' ? stringValue(text, value) : undefined
}

function layoutOf(text: string, root: JsonObject): Notebook['layout'] {
  const first = root.members[0]
  if (first === undefined) return null
  const space = text.slice(root.start + 1, first.start)
  const newline = space.includes('\r\n') ? '\r\n' : '\n'
  return space.includes('\n') ? { newline, unit: space.slice(space.lastIndexOf('\n') + 1) } : null
}

/** Ids came with nbformat 4.5. */
function hasIds(text: string, root: JsonObject, cells: JsonArray): boolean {
  if (cells.items.some((cell) => memberOf(cell, 'id') !== undefined)) return true
  const numberOf = (key: string): number => {
    const value = memberOf(root, key)
    return value?.kind === 'scalar' ? Number(text.slice(value.start, value.end)) : 0
  }
  const major = numberOf('nbformat')
  return major > 4 || (major === 4 && numberOf('nbformat_minor') >= 5)
}

/** The blanks with which the line begins that holds this offset. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  let end = start
  while (text[end] === ' ' || text[end] === '\t') end++
  return text.slice(start, end)
}

import {
  applyEdits,
  createScanner,
  findNodeAtLocation,
  modify,
  type Node,
  type ParseError,
  parseTree,
} from 'jsonc-parser'
import { type Edited, faulty, isSameValue, type SettingsText } from './settings-text.ts'

/** Settings in JSON, with comments and commas at the end of lists where a client allows them. What is not touched stays as it is. */
export const jsonText: SettingsText = { find, set, remove }

function find(text: string, way: readonly string[]): unknown {
  const root = rootOf(text)
  return root === null ? undefined : valueAt(root, way)
}

function set(text: string, way: readonly string[], value: Readonly<Record<string, unknown>>): Edited {
  const root = rootOf(text)
  if (root === null && text.trim() !== '') return faulty('it is no JSON object')
  if (root !== null && hasDouble(root, way)) return faulty(`it has "${way[0]}" twice`)
  const next =
    root === null ? `${valueText(nested(way, value), '', '  ', '\n')}\n` : put(text, root, way, value)
  const isDone = next !== null && isSameValue(find(next, way), value)
  return isDone ? { kind: 'text', text: next } : faulty(`its "${way[0]}" is no object`)
}

/** A splice where the value stands, or behind the last member of the innermost object that is there. */
function put(text: string, root: Node, way: readonly string[], value: unknown): string | null {
  const old = findNodeAtLocation(root, [...way])
  if (old !== undefined) {
    const { unit, lineEnd } = habitsOf(text)
    return splice(text, old.offset, old.length, valueText(value, indentAt(text, old.offset), unit, lineEnd))
  }
  const [key = '', ...rest] = way
  const inner = findNodeAtLocation(root, [key])
  if (inner === undefined) return withMember(text, root, key, nested(rest, value))
  return inner.type === 'object' && rest.length === 1 ? withMember(text, inner, rest[0] ?? '', value) : null
}

const nested = (way: readonly string[], value: unknown): unknown =>
  way.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)

/** Adds a member at the end of an object, in the form that the object has. */
function withMember(text: string, object: Node, key: string, value: unknown): string {
  const { unit, lineEnd } = habitsOf(text)
  const close = object.offset + object.length - 1
  const last = object.children?.at(-1)
  const name = `${JSON.stringify(key)}: `
  const comma = last === undefined ? -1 : commaAfter(text, last.offset + last.length, close)
  const withComma =
    last === undefined || comma !== -1 ? text : splice(text, last.offset + last.length, 0, ',')
  const end = close + withComma.length - text.length
  const isOneLine = last !== undefined && !text.slice(object.offset, close).includes('\n')
  const at = withComma.slice(0, end).trimEnd().length
  if (isOneLine) return splice(withComma, at, 0, ` ${name}${JSON.stringify(value)}`)
  const outer = indentAt(text, object.offset)
  const indent = last === undefined ? `${outer}${unit}` : indentAt(text, last.offset)
  const tail = comma === -1 ? '' : ','
  const member = `${lineEnd}${indent}${name}${valueText(value, indent, unit, lineEnd)}${tail}`
  return splice(withComma, at, end - at, `${member}${lineEnd}${outer}`)
}

/** Where the comma behind a member is; -1 = there is none. */
function commaAfter(text: string, from: number, close: number): number {
  const scanner = createScanner(text, true)
  scanner.setPosition(from)
  scanner.scan()
  const at = scanner.getTokenOffset()
  return at < close && text[at] === ',' ? at : -1
}

const splice = (text: string, at: number, length: number, by: string): string =>
  `${text.slice(0, at)}${by}${text.slice(at + length)}`

/** The blanks at the beginning of the line. */
function indentAt(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? ''
}

const valueText = (value: unknown, indent: string, unit: string, lineEnd: string): string =>
  JSON.stringify(value, null, unit).replaceAll('\n', () => `${lineEnd}${indent}`)

function remove(text: string, way: readonly string[]): Edited {
  const root = rootOf(text)
  if (root === null) return faulty('it is no JSON object')
  const next = applyEdits(text, modify(text, [...way], undefined, {}))
  return find(next, way) === undefined ? { kind: 'text', text: next } : faulty('galley cannot take it out')
}

/** null = it cannot be read as an object. */
function rootOf(text: string): Node | null {
  const errors: ParseError[] = []
  const body = text.startsWith('\ufeff') ? ` ${text.slice(1)}` : text
  const root = parseTree(body, errors, { allowTrailingComma: true })
  return root?.type === 'object' && errors.length === 0 ? root : null
}

function valueAt(root: Node, way: readonly string[]): unknown {
  const node = findNodeAtLocation(root, [...way])
  return node === undefined ? undefined : plainValue(node)
}

function plainValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(plainValue)
  if (node.type !== 'object') return node.value
  return Object.fromEntries(
    (node.children ?? []).flatMap(({ children = [] }) => {
      const [key, value] = children
      return key === undefined || value === undefined ? [] : [[String(key.value), plainValue(value)]]
    }),
  )
}

/** Of a key that stands twice a client takes the last one, and an editor the first. */
function hasDouble(root: Node, [key]: readonly string[]): boolean {
  return (root.children ?? []).filter(({ children }) => children?.[0]?.value === key).length > 1
}

/** The file's own indentation and line ends. */
const habitsOf = (text: string) => ({
  unit: /^([ \t]+)["/]/m.exec(text)?.[1] ?? '  ',
  lineEnd: text.includes('\r\n') ? '\r\n' : '\n',
})

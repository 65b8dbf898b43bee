import { pathToFileURL } from 'node:url'
import { isObject } from './json-rpc.ts'

/** A place as one side knows it and as the other does: absolute paths without a slash at the end. */
export interface PathPair {
  readonly from: string
  readonly to: string
}

/** What stands in a file is nobody's to rewrite. */
const CONTENTS = new Set(['oldText', 'newText', 'data', 'blob', 'patch'])

/** Characters that go on with a name, so that `/work/app` is not found in `/work/app2`. */
const NAME = '[\\p{L}\\p{N}_~%+@-]'
const START = `(?<!${NAME}|[.])(?<!(?<!:/)/)`
const END = `(?!${NAME}|[.][\\p{L}\\p{N}_])`

/**
 * Makes what rewrites the paths of one side as those of the other, wherever they stand in a message: in fields, in addresses of files, and in
 * the middle of a text. The contents of files stay as they are.
 *
 * @param leave - Places that are known to the other side already, and may lie in one of the pairs.
 */
export function pathMap(pairs: readonly PathPair[], leave: readonly string[] = []): <T>(value: T) => T {
  const table = new Map<string, string>()
  for (const place of leave) for (const form of formsOf(place)) table.set(form, form)
  for (const { from, to } of pairs) {
    const forms = formsOf(to)
    for (const [i, form] of formsOf(from).entries()) if (form !== '/') table.set(form, forms[i] ?? to)
  }
  if (table.size === 0) return (value) => value
  // The longest first: a tree may lie in the repository, or the other way round.
  const places = [...table.keys()].sort((a, b) => b.length - a.length).map(escaped)
  const expression = new RegExp(`${START}(?:${places.join('|')})${END}`, 'gu')
  const text = (value: string) => value.replace(expression, (found) => table.get(found) ?? found)
  return (value) => mapped(value, text) as typeof value
}

/** The plain path, and as it stands in a file's address. */
const formsOf = (path: string): readonly [string, string] => [path, pathToFileURL(path).pathname]

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, (sign) => `\\${sign}`)

/** The same object where nothing in it changes. */
function mapped(value: unknown, text: (value: string) => string): unknown {
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => mapped(item, text))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  if (!isObject(value)) return value
  const isResource = typeof value['uri'] === 'string'
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => {
    const isContent =
      CONTENTS.has(key) ||
      (typeof member === 'string' && (key === 'content' || (isResource && key === 'text')))
    return [text(key), isContent ? member : mapped(member, text)]
  })
  const isSame = entries.every(([key, member]) => Object.hasOwn(value, key) && value[key] === member)
  // `fromEntries` defines: a member named __proto__ stays one.
  return isSame ? value : Object.fromEntries(entries)
}

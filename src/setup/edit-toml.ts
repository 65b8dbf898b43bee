import { parse, stringify, TomlError } from 'smol-toml'
import { type Edited, faulty, isSameValue, type SettingsText } from './settings-text.ts'

/**
 * Settings in TOML. An entry is a table of its own at the end of the file, so that no other byte is touched; the parser then says whether
 * the file means what it meant, and that entry besides.
 */
export const tomlText: SettingsText = { find, set, remove }

function find(text: string, way: readonly string[]): unknown {
  const read = parsed(text)
  return read === null ? undefined : valueAt(read, way)
}

function set(text: string, way: readonly string[], value: Readonly<Record<string, unknown>>): Edited {
  const before = parsed(text)
  if (before === null) return faulty('it is no TOML')
  if (valueAt(before, way) !== undefined)
    return faulty(`it has another [${way.join('.')}] already: take that out first`)
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = text === '' ? '' : text.endsWith('\n') ? lineEnd : `${lineEnd}${lineEnd}`
  const next = `${text}${gap}${block(way, value, lineEnd)}`
  const after = parsed(next)
  const isDone = after !== null && isSameValue(after, withValue(before, way, value))
  return isDone ? { kind: 'text', text: next } : faulty(`"${way[0]}" is not written as tables there`)
}

/** Takes out the table as galley writes it; one that was written otherwise is its owner's. */
function remove(text: string, way: readonly string[]): Edited {
  const before = parsed(text)
  if (before === null) return faulty('it is no TOML')
  const value = valueAt(before, way) as Readonly<Record<string, unknown>> | undefined
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const own = value === undefined ? '' : block(way, value, lineEnd)
  const at = own === '' ? -1 : text.indexOf(own)
  if (at === -1) return faulty(`its [${way.join('.')}] is not written as galley writes it`)
  const from = text.slice(0, at).endsWith(`${lineEnd}${lineEnd}`) ? at - lineEnd.length : at
  const next = `${text.slice(0, from)}${text.slice(at + own.length)}`
  const after = parsed(next)
  const isDone = after !== null && isSameValue(after, withValue(before, way, undefined))
  return isDone ? { kind: 'text', text: next } : faulty('galley cannot take it out')
}

const block = (way: readonly string[], value: Readonly<Record<string, unknown>>, lineEnd: string): string =>
  `[${way.join('.')}]\n${stringify(value)}`
    .trimEnd()
    .concat('\n')
    .replaceAll('\n', () => lineEnd)

type Table = Readonly<Record<string, unknown>>

function parsed(text: string): Table | null {
  try {
    return parse(text.replace(/^\ufeff/, '')) as Table
  } catch (error) {
    if (error instanceof TomlError) return null
    throw error
  }
}

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const valueAt = (table: unknown, way: readonly string[]): unknown =>
  way.reduce<unknown>((at, key) => (isTable(at) && Object.hasOwn(at, key) ? at[key] : undefined), table)

/** The same table with one value set, or taken out; a table that is empty then goes too. */
function withValue(table: Table, [key = '', ...rest]: readonly string[], value: unknown): Table {
  const { [key]: old, ...others } = table
  const next = rest.length === 0 ? value : withValue(isTable(old) ? old : {}, rest, value)
  const isGone =
    next === undefined ||
    (rest.length > 0 && value === undefined && isTable(next) && Object.keys(next).length === 0)
  return isGone ? others : { ...others, [key]: next }
}

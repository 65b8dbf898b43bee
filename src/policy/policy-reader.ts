import { isJsonObject, type ParsedJson, pointerOf } from '../intake/json.ts'
import { nearestName } from '../model/nearest-name.ts'
import type { PolicyFault } from '../model/policy.ts'
import { describe, quote } from './quote.ts'

/** A value of the policy file and where it stands. Readers of it note faults instead of throwing. */
export interface Field {
  readonly value: unknown
  readonly way: readonly PropertyKey[]
  readonly notes: FaultNotes
}

/** What a reader found: the value, or nothing where it noted a fault. */
export type Read<T> = (field: Field) => T | undefined

/** Collects the faults of one file. */
export class FaultNotes {
  readonly #json: ParsedJson
  readonly #faults: PolicyFault[] = []

  constructor(json: ParsedJson) {
    this.#json = json
  }

  /** @param part - Whether the value or its key is wrong. */
  add(way: readonly PropertyKey[], message: string, part: 'value' | 'key' = 'value'): void {
    const pointer = pointerOf(way)
    const place = part === 'key' ? this.#json.keyPositionOf(pointer) : this.#json.positionOf(pointer)
    this.#faults.push({ ...place, pointer, message })
  }

  /** All faults in the order of the text. */
  sorted(): readonly PolicyFault[] {
    return [...this.#faults].sort((a, b) => a.line - b.line || a.column - b.column)
  }
}

/** Notes that the field does not hold what was expected. */
export function fail(field: Field, expected: string): undefined {
  field.notes.add(field.way, `expected ${expected}, found ${describe(field.value)}`)
}

/** Reads an object and notes every key that is not known; returns the look-up of its members. */
export function readMembers(field: Field, known: readonly string[]): ((key: string) => Field) | undefined {
  const object = field.value
  if (!isJsonObject(object)) return fail(field, 'an object')
  for (const key of Object.keys(object)) {
    if (known.includes(key)) continue
    const near = nearestName(key, known)
    const advice = near === null ? `known here: ${known.join(', ')}` : `the nearest known is "${near}"`
    field.notes.add([...field.way, key], `unknown key ${quote(key)}; ${advice}`, 'key')
  }
  return (key) => ({ value: object[key], way: [...field.way, key], notes: field.notes })
}

/** The member's value, or the fallback where the key is left out or its value faulty. */
export function orElse<T>(field: Field, read: Read<T>, fallback: T): T {
  return field.value === undefined ? fallback : (read(field) ?? fallback)
}

/** The member's value; that it is left out is a fault. */
export function needed<T>(field: Field, read: Read<T>): T | undefined {
  if (field.value !== undefined) return read(field)
  field.notes.add(field.way, `"${String(field.way.at(-1))}" is missing`)
  return undefined
}

/** As `orElse`, where the file may also say `null` for "none". */
export const orNull = <T>(field: Field, read: Read<T>): T | null =>
  field.value === undefined || field.value === null ? null : (read(field) ?? null)

export const readFlag: Read<boolean> = (field) =>
  typeof field.value === 'boolean' ? field.value : fail(field, 'true or false')

export const readText: Read<string> = (field) =>
  typeof field.value === 'string' && field.value.trim() !== ''
    ? field.value
    : fail(field, 'text that is not empty')

/** Makes the reader of one of these words. */
export const wordOf =
  <T extends string>(words: readonly T[]): Read<T> =>
  (field) => {
    const word = words.find((known) => known === field.value)
    if (word !== undefined) return word
    const near = typeof field.value === 'string' ? nearestName(field.value, words) : null
    const advice = near === null ? '' : ` (most likely "${near}")`
    return fail(field, `one of ${words.map((known) => `"${known}"`).join(', ')}${advice}`)
  }

/** Makes the reader of a whole number between two bounds, both included. */
export const wholeNumber =
  ({ least, most }: { readonly least: number; readonly most: number }): Read<number> =>
  (field) =>
    typeof field.value === 'number' &&
    Number.isInteger(field.value) &&
    field.value >= least &&
    field.value <= most
      ? field.value
      : fail(field, `a whole number from ${least} to ${most}`)

/** Makes the reader of a number above 0, fractions included, up to a bound. */
export const positiveNumber =
  (most: number): Read<number> =>
  (field) =>
    typeof field.value === 'number' && field.value > 0 && field.value <= most
      ? field.value
      : fail(field, `a number above 0, at most ${most}`)

/** Makes the reader of a list; faulty items are noted and left out. */
export const listOf =
  <T>(read: Read<T>): Read<readonly T[]> =>
  (field) => {
    if (!Array.isArray(field.value)) return fail(field, 'a list')
    return field.value.flatMap((value: unknown, index) => {
      const item = read({ value, way: [...field.way, index], notes: field.notes })
      return item === undefined ? [] : [item]
    })
  }

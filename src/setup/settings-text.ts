/** What an edit of a client's settings came to: the text, or why it cannot be done. */
export type Edited =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'faulty'; readonly why: string }

export const faulty = (why: string): Edited => ({ kind: 'faulty', why })

/** A form of settings: how one entry is found, set and taken out, with all else kept as it is. */
export interface SettingsText {
  /** undefined = there is none, or the text cannot be read. */
  readonly find: (text: string, way: readonly string[]) => unknown
  readonly set: (text: string, way: readonly string[], value: Readonly<Record<string, unknown>>) => Edited
  readonly remove: (text: string, way: readonly string[]) => Edited
}

/** Whether two plain values are the same, whatever the order of their keys. */
export const isSameValue = (one: unknown, other: unknown): boolean => stable(one) === stable(other)

function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${stable(item)}`)
  return `{${entries.sort().join(',')}}`
}

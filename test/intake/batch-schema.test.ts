import { describe, expect, test } from 'vitest'
import { parseBatch } from '../../src/intake/batch.ts'
import { batchJsonSchema, batchSchema, operationSchemas } from '../../src/intake/batch-schema.ts'

type Schema = {
  readonly properties: Record<string, Schema>
  readonly items: { readonly anyOf: readonly Schema[] }
  readonly required: readonly string[]
  readonly const?: string
  readonly additionalProperties: boolean
}

describe('the published schema', () => {
  const schema = batchJsonSchema() as unknown as Schema & Record<string, unknown>
  const variants = schema.properties['edits']?.items.anyOf ?? []

  test('is a JSON Schema of draft 2020-12 that needs version, title and edits', () => {
    expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema')
    expect(schema.required).toEqual(['version', 'title', 'edits'])
    expect(schema.additionalProperties).toBe(false)
  })

  test('describes every operation, and tool calls, without other keys', () => {
    const names = variants.map((variant) => variant.properties['op']?.const ?? 'tool')
    // A tool call has arguments, or is one text.
    expect(names).toEqual([...Object.keys(operationSchemas), 'tool', 'tool'])
    expect(variants.every((variant) => variant.additionalProperties === false)).toBe(true)
  })

  test('lets blob be null', () => {
    expect(JSON.stringify(variants[0]?.properties['blob'])).toContain('"null"')
  })
})

test('the schema of a whole batch takes what the parser takes', () => {
  const batches = [
    { version: 1, title: 'T', edits: [{ op: 'delete', path: 'a' }] },
    { version: 1, title: 'T', edits: [{ op: 'delete', path: 'a', x: 1 }] },
    { version: 1, title: 'T', edits: [{ tool: 'x', input: {} }], reads: [] },
    { version: 1, title: '\n', edits: [{ tool: 'x', input: {} }] },
    { version: 1, title: 'T', edits: [] },
    { version: 1, title: 'T', edits: [{ tool: 'apply_patch', input: 'x' }] },
    { version: 1, title: 'T', edits: [{ tool: 'Edit', input: 'x' }] },
    { version: 1, title: 'T', edits: [{ op: 'lines', path: 'a', from: 1, content: null, blob: null }] },
  ]
  for (const batch of batches) {
    const taken = parseBatch(new TextEncoder().encode(JSON.stringify(batch))).kind === 'batch'
    expect(batchSchema.safeParse(batch).success, JSON.stringify(batch)).toBe(taken)
  }
})

import * as z from 'zod'
import { dialectNames, freeFormTools } from '../model/batch.ts'
import type { BlobId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { isJsonObject } from './json.ts'

// The message of every part is the phrase that follows "expected" in a fault; see `batch.ts`.

const text = z.string('text')
const filled = (expected: string) => z.string(expected).min(1, expected)
const someText = filled('text that is not empty')
const flag = z.boolean('true or false')
const path = filled('a path')
const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`)

const wholeNumber = (least: number, most: number = Number.MAX_SAFE_INTEGER) => {
  const expected = `a whole number of at least ${least}, at most ${most}`
  return z.int(expected).min(least, expected).max(most, expected)
}

const CONTROL = /\p{Cc}/u
const CONTROL_IN_TEXT = /[^\P{Cc}\t\n\r]/u

/** One line without control characters and with something to read on it; blanks around it do not count. */
const line = (maxCharacters: number) => {
  const expected = `one line of 1 to ${maxCharacters} characters without control characters`
  const isLine = (value: string): boolean => {
    const cleaned = value.trim()
    return cleaned !== '' && cleaned.length <= maxCharacters && !CONTROL.test(cleaned)
  }
  return z.string(expected).refine(isLine, expected).meta({ minLength: 1, maxLength: maxCharacters })
}

const name = line(limits.nameMaxCharacters)

const bodyExpected = `text of at most ${limits.bodyMaxBytes} bytes without control characters other than tabs and line ends`
const isBody = (value: string): boolean =>
  value.length <= limits.bodyMaxBytes &&
  new TextEncoder().encode(value).length <= limits.bodyMaxBytes &&
  !CONTROL_IN_TEXT.test(value)

const blobExpected = 'a blob id of 40 or 64 lower-case hexadecimal digits, or null'
const blobText = z.string(blobExpected).regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, blobExpected)
// The pattern makes it a blob id; this cast is where the text becomes one.
const blob = (blobText as unknown as z.ZodType<BlobId, string>).nullable()

const common = { path, blob: blob.exactOptional() }
const encoding = oneOf(['utf8', 'base64']).exactOptional()

/** Every operation of a batch with the keys that it knows (DESIGN.md section 4). */
export const operationSchemas = {
  replace: z.strictObject({
    op: z.literal('replace'),
    ...common,
    old: someText,
    new: text,
    all: flag.exactOptional(),
  }),
  lines: z.strictObject({
    op: z.literal('lines'),
    ...common,
    from: wholeNumber(1),
    to: wholeNumber(1).exactOptional(),
    content: z.string('text or null').nullable(),
    expected: text.exactOptional(),
  }),
  insert: z.strictObject({ op: z.literal('insert'), ...common, after: wholeNumber(0), content: text }),
  append: z.strictObject({ op: z.literal('append'), ...common, content: text }),
  write: z.strictObject({
    op: z.literal('write'),
    ...common,
    content: text,
    mode: oneOf(['create', 'overwrite']).exactOptional(),
    encoding,
    executable: flag.exactOptional(),
  }),
  delete: z.strictObject({ op: z.literal('delete'), ...common }),
  move: z.strictObject({ op: z.literal('move'), ...common, to: path }),
  chmod: z.strictObject({ op: z.literal('chmod'), ...common, executable: flag }),
  patch: z.strictObject({ op: z.literal('patch'), text: someText }),
  diff: z.strictObject({
    op: z.literal('diff'),
    text: someText,
    strip: wholeNumber(0, limits.pathMaxDepth).exactOptional(),
    reverse: flag.exactOptional(),
    encoding,
  }),
  blocks: z.strictObject({ op: z.literal('blocks'), text: someText, path: path.exactOptional() }),
} as const

export type OperationName = keyof typeof operationSchemas

const input = z.custom<Readonly<Record<string, unknown>>>(isJsonObject, 'an object').meta({ type: 'object' })

/** An agent's tool call. `input` is handed on as it came (the same object); its adapter judges it. */
export const toolSchema = z.strictObject({ tool: name, input })

/** A call of a tool that takes one text. */
export const freeFormSchema = z.strictObject({ tool: z.enum(freeFormTools), input: someText })

export const agentSchema = z.strictObject(
  { name, model: name.exactOptional(), session: name.exactOptional() },
  'an object with a "name"',
)
export const readSchema = z.strictObject({ path, blob }, 'an object with "path" and "blob"')

const head = {
  version: z.literal(1, 'the number 1'),
  title: line(limits.titleMaxCharacters),
  body: z.string(bodyExpected).refine(isBody, bodyExpected).exactOptional(),
  agent: agentSchema.exactOptional(),
  base: name.exactOptional(),
  onto: name.exactOptional(),
  key: name.exactOptional(),
  order: oneOf(['original', 'sequential']).exactOptional(),
  reads: z
    .array(readSchema, 'a list')
    .max(limits.batchMaxEdits, `a list of at most ${limits.batchMaxEdits} reads`)
    .exactOptional(),
  dialect: oneOf([...dialectNames, 'auto']).exactOptional(),
}

/** A batch with its edits unread: each is then judged by the schema of its own kind, for messages that fit. */
export const batchHeadSchema = z.strictObject(
  { ...head, edits: z.array(z.unknown(), 'a list of edits') },
  'an object',
)

const operations = Object.values(operationSchemas)

/** A whole batch, version 1. */
export const batchSchema = z.strictObject({
  ...head,
  edits: z
    .array(z.union([...operations, toolSchema, freeFormSchema]))
    .min(1)
    .max(limits.batchMaxEdits),
})

/** The JSON Schema (draft 2020-12) of a batch, as the package publishes it in `schema/batch.schema.json`. */
export function batchJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(batchSchema, { io: 'input', unrepresentable: 'any' })
  return {
    ...schema,
    $id: 'https://unpkg.com/git-galley/schema/batch.schema.json',
    title: 'galley batch, version 1',
  }
}

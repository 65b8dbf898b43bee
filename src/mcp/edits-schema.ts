import { dialectNames } from '../model/batch.ts'

/** Of several types. A list of types is no form that all clients' validators take without a complaint. */
const either = (types: readonly string[], description: string) => ({
  anyOf: types.map((type) => ({ type })),
  description,
})

const text = (description: string) => ({ type: 'string', description })

/**
 * One edit, for whoever writes one. Flat on purpose: clients rewrite or refuse unions. What each operation takes is judged by the reader
 * of batches, which names every fault.
 */
export const editProperties = {
  op: {
    type: 'string',
    enum: [
      'replace',
      'lines',
      'insert',
      'append',
      'write',
      'delete',
      'move',
      'chmod',
      'patch',
      'diff',
      'blocks',
    ],
    description:
      'replace: "old" (must stand in exactly one place, or "all") becomes "new". lines: lines "from" to "to" become "content"; without "to" it goes in before line "from". insert: "content" after line "after" (0 = top). append: "content" at the end. write: the whole file. delete. move: to "to". chmod: "executable". patch: "text" as *** Begin Patch. diff: "text" as a unified diff. blocks: "text" as SEARCH/REPLACE blocks.',
  },
  path: text('Path from the root of the repository. For all but patch and diff.'),
  blob: either(
    ['string', 'null'],
    'Blob id of the file as you read it (null = absent): the edit is refused where it is another by now.',
  ),
  old: text('replace: the text as it stands in the file, exactly.'),
  new: text('replace: the text in its place.'),
  all: { type: 'boolean', description: 'replace: in every place.' },
  from: { type: 'integer', description: 'lines: first line, from 1.' },
  to: either(
    ['integer', 'string'],
    'lines: last line, included; the same as "from" for one line. move: the new path.',
  ),
  content: either(
    ['string', 'null'],
    'lines (null = delete them), insert, append, write: the text, line ends included.',
  ),
  expected: text('lines: the lines as you expect them, as evidence where you have not read the file.'),
  after: { type: 'integer', description: 'insert: the line after which it stands; 0 = top.' },
  mode: {
    type: 'string',
    enum: ['create', 'overwrite'],
    description: 'write: refuse where the file exists, or where it does not.',
  },
  encoding: {
    type: 'string',
    enum: ['utf8', 'base64'],
    description: 'write, diff: how content or text is encoded.',
  },
  executable: { type: 'boolean', description: 'write, chmod.' },
  text: text('patch, diff, blocks: the whole text.'),
  strip: { type: 'integer', description: 'diff: leading parts of its paths to drop.' },
  reverse: { type: 'boolean', description: 'diff: apply it backwards.' },
  tool: text(
    'In place of "op": the name of an editing tool of your own system (Edit, apply_patch, str_replace_based_edit_tool, …).',
  ),
  input: either(['object', 'string'], 'With "tool": its arguments, as your own system has them.'),
} as const

/** A batch as the tools take it: its own keys, "version" optional. */
export const editsSchema = (more: Readonly<Record<string, object>>) => ({
  type: 'object',
  properties: {
    ...more,
    title: text('One line: what the change does. Becomes the subject of the commit.'),
    body: text('Why; becomes the body of the commit message.'),
    edits: {
      type: 'array',
      minItems: 1,
      description: 'All of them apply, or none.',
      items: { type: 'object', properties: editProperties },
    },
    reads: {
      type: 'array',
      description:
        'Files that you relied on without editing them: the change is stale where one moves before it lands.',
      items: {
        type: 'object',
        properties: {
          path: text('Path.'),
          blob: either(['string', 'null'], 'Blob id as read; null = absent.'),
        },
        required: ['path', 'blob'],
      },
    },
    order: {
      type: 'string',
      enum: ['original', 'sequential'],
      description:
        'sequential: each edit sees the result of those before it. Default: all refer to the files as they are now.',
    },
    base: text('Stage on this commit, or on this pending change, instead of HEAD.'),
    onto: text('Branch to land on; default: the one that is checked out.'),
    key: text('The same key names the same change, however often the call is made.'),
    dialect: { type: 'string', enum: [...dialectNames, 'auto'], description: 'Whose tools "tool" means.' },
    agent: {
      type: 'object',
      properties: { name: text('Who you are.'), model: text('Your model.') },
      description: 'Default: the name of your client.',
    },
    version: { type: 'integer', enum: [1], description: 'Of the batch format; may be left out.' },
    repository: text('Path of the repository; needed only where the server was started with several.'),
  },
  required: [...Object.keys(more), 'title', 'edits'],
  additionalProperties: false,
})

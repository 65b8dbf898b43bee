import type { DialectName } from '../model/batch.ts'

/** One tool of another system, as its own agent knows it. */
export interface AdapterForm {
  readonly name: string
  readonly description: string
  readonly properties: Readonly<Record<string, object>>
  readonly required: readonly string[]
  readonly isRead?: true
}

const text = (description = '') => (description === '' ? { type: 'string' } : { type: 'string', description })
const number = { type: 'integer' }
const flag = { type: 'boolean' }
const listOf = (properties: Readonly<Record<string, object>>, required: readonly string[]) => ({
  type: 'array',
  items: { type: 'object', properties, required },
})

const path = text('Path of the file.')
const THROUGH_GATE =
  'Goes through the gate: it takes effect once a rule or a person has approved exactly this edit; the same call, made again after that, does it.'
const edits = (what: string) => `${what} ${THROUGH_GATE}`

const pair = { old_string: text('Text as it stands in the file.'), new_string: text('Text in its place.') }

/**
 * The tools that `--tools <adapter>` offers. What a call means, and what is wrong with one, the adapter itself says; these are the forms
 * that a model is shown.
 */
export const adapterForms: Readonly<Partial<Record<DialectName, readonly AdapterForm[]>>> = {
  codex: [
    {
      name: 'apply_patch',
      description: edits('Applies a patch (*** Begin Patch … *** End Patch).'),
      properties: { input: text('The whole patch.') },
      required: ['input'],
    },
  ],
  'claude-code': [
    {
      name: 'Read',
      description: 'Reads a file, with line numbers.',
      properties: { file_path: path, offset: number, limit: number },
      required: ['file_path'],
      isRead: true,
    },
    {
      name: 'Edit',
      description: edits('Replaces a text that stands once in a file, or everywhere.'),
      properties: { file_path: path, ...pair, replace_all: flag },
      required: ['file_path', 'old_string', 'new_string'],
    },
    {
      name: 'MultiEdit',
      description: edits('Makes several replacements in one file, each on the result of those before it.'),
      properties: {
        file_path: path,
        edits: listOf({ ...pair, replace_all: flag }, ['old_string', 'new_string']),
      },
      required: ['file_path', 'edits'],
    },
    {
      name: 'Write',
      description: edits('Writes a whole file.'),
      properties: { file_path: path, content: text() },
      required: ['file_path', 'content'],
    },
    {
      name: 'NotebookEdit',
      description: edits('Replaces, inserts or deletes a cell of a notebook.'),
      properties: {
        notebook_path: path,
        cell_id: text(),
        new_source: text(),
        cell_type: { type: 'string', enum: ['code', 'markdown'] },
        edit_mode: { type: 'string', enum: ['replace', 'insert', 'delete'] },
      },
      required: ['notebook_path', 'new_source'],
    },
  ],
  'anthropic-editor': [
    {
      name: 'str_replace_based_edit_tool',
      description: edits('Views, creates and edits files.'),
      properties: {
        command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert'] },
        path,
        view_range: { type: 'array', items: number },
        file_text: text(),
        old_str: text(),
        new_str: text(),
        insert_line: number,
        insert_text: text(),
      },
      required: ['command', 'path'],
    },
  ],
  'mcp-filesystem': [
    {
      name: 'read_text_file',
      description: 'Reads a file.',
      properties: { path, head: number, tail: number },
      required: ['path'],
      isRead: true,
    },
    {
      name: 'edit_file',
      description: edits('Makes replacements in a file, each on the result of those before it.'),
      properties: { path, edits: listOf({ oldText: text(), newText: text() }, ['oldText', 'newText']) },
      required: ['path', 'edits'],
    },
    {
      name: 'write_file',
      description: edits('Writes a whole file.'),
      properties: { path, content: text() },
      required: ['path', 'content'],
    },
    {
      name: 'move_file',
      description: edits('Moves a file.'),
      properties: { source: text(), destination: text() },
      required: ['source', 'destination'],
    },
  ],
  gemini: [
    {
      name: 'read_file',
      description: 'Reads a file.',
      properties: { file_path: path, start_line: number, end_line: number },
      required: ['file_path'],
      isRead: true,
    },
    {
      name: 'replace',
      description: edits('Replaces a text in a file.'),
      properties: { file_path: path, instruction: text(), ...pair, allow_multiple: flag },
      required: ['file_path', 'instruction', 'old_string', 'new_string'],
    },
    {
      name: 'write_file',
      description: edits('Writes a whole file.'),
      properties: { file_path: path, content: text() },
      required: ['file_path', 'content'],
    },
  ],
  mino: [
    {
      name: 'read_file',
      description: 'Reads a file.',
      properties: { path },
      required: ['path'],
      isRead: true,
    },
    {
      name: 'write_file',
      description: 'Writes a whole file, once a person has approved it; waits for that.',
      properties: { path, content: text(), mode: { type: 'string', enum: ['create', 'overwrite'] } },
      required: ['path', 'content', 'mode'],
    },
    {
      name: 'edit_file',
      description:
        'Replaces a text that stands once in a file, once a person has approved it; waits for that.',
      properties: { path, ...pair },
      required: ['path', 'old_string', 'new_string'],
    },
  ],
  zapmyco: [
    {
      name: 'file_read',
      description: 'Reads a file, with line numbers.',
      properties: { file_path: path, offset: number, limit: number },
      required: ['file_path'],
      isRead: true,
    },
    {
      name: 'file_edit',
      description: edits(
        'Replaces lines (start_line, end_line, expected, new_content) or a text, or appends.',
      ),
      properties: {
        file_path: path,
        mode: text(),
        start_line: number,
        end_line: number,
        expected: text('The lines as they are.'),
        new_content: text(),
        ...pair,
        replace_all: flag,
        content: text(),
      },
      required: ['file_path'],
    },
    {
      name: 'file_write',
      description: edits('Writes a whole file.'),
      properties: { file_path: path, content: text() },
      required: ['file_path', 'content'],
    },
  ],
  'agent-zero': [
    {
      name: 'text_editor_remote',
      description: edits('Reads, writes and patches files.'),
      properties: {
        action: { type: 'string', enum: ['read', 'write', 'patch'] },
        path,
        line_from: number,
        line_to: number,
        content: text(),
        edits: listOf({ from: number, to: number, content: text() }, ['from']),
        patch_text: text(),
        old_text: text(),
        new_text: text(),
      },
      required: ['action', 'path'],
    },
  ],
}

/** Names of the adapters that have tools to offer. */
export const adapterNames = Object.keys(adapterForms) as readonly DialectName[]

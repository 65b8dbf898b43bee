import type { DialectContext } from '../model/dialect.ts'
import type { CellEdit } from '../model/edit.ts'
import type { ArgumentReader } from './arguments.ts'

const NAMES = ['notebook_path', 'cell_id', 'cell_number', 'new_source', 'cell_type', 'edit_mode'] as const

/**
 * Reads Claude Code's `NotebookEdit`: the cell by `cell_id`, or by `cell_number` from 0 as in earlier versions.
 *
 * `insert` puts the new cell behind the cell with `cell_id` (without one: first), or makes it the cell number
 * `cell_number`. Faults are left in the reader; the edit is then of no use.
 */
export function cellEdit(reader: ArgumentReader, { item, step, root }: DialectContext): CellEdit {
  reader.allowOnly(NAMES)
  const path = reader.requirePath('notebook_path', root)
  if (path !== '' && !path.endsWith('.ipynb')) {
    reader.refuse('invalid-batch', 'the file of a NotebookEdit must be a notebook (.ipynb)', { path })
  }
  const mode = reader.has('edit_mode')
    ? reader.requireOneOf('edit_mode', ['replace', 'insert', 'delete'])
    : 'replace'
  const source =
    mode === 'delete' ? (reader.optionalString('new_source') ?? '') : reader.requireString('new_source')
  const cellType =
    mode === 'insert' || reader.has('cell_type')
      ? reader.requireOneOf('cell_type', ['code', 'markdown'])
      : undefined
  const cell = cellOf(reader, mode)
  const action = mode === 'insert' ? 'insert-after' : mode
  const typed = cellType === undefined ? {} : { cellType }
  return { op: 'cell', item, step, path, cell, action, source, ...typed }
}

function cellOf(reader: ArgumentReader, mode: 'replace' | 'insert' | 'delete'): CellEdit['cell'] {
  const id = reader.optionalString('cell_id')
  const number = reader.optionalInteger('cell_number')
  if (id !== undefined && number !== undefined) {
    reader.refuse('invalid-batch', 'both "cell_id" and "cell_number" are given; expected one', {})
  }
  if (number !== undefined && number < 0) {
    reader.refuse('out-of-range', `"cell_number" is ${number}; cells count from 0`, { cell_number: number })
  }
  if (id !== undefined) return { id }
  if (number === undefined) {
    if (mode !== 'insert') reader.refuse('invalid-batch', `"cell_id" is missing; ${mode} needs the cell`, {})
    return null
  }
  if (mode !== 'insert') return { index: number }
  return number === 0 ? null : { index: number - 1 }
}

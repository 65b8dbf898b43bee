import type { CellEdit } from '../model/edit.ts'
import { limits } from '../model/limits.ts'
import { encode } from './bytes.ts'
import { cellSource, newCell, retypedCell } from './cell-text.ts'
import type { FileText } from './file-text.ts'
import { memberOf, type Notebook, stringMember } from './notebook.ts'
import { failed, type Outcome } from './outcome.ts'

/** What a character of a new or changed cell costs: it may be a blank of the file's layout, repeated. */
const CHARACTER_COST = 64

/** A replacement in the notebook's text, in characters. */
interface TextSplice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Resolves an edit of one cell; all bytes of the notebook but the cell's own source, or the cell as a whole, stay. */
export function resolveCell(file: FileText, edit: CellEdit): Outcome {
  const what = `${edit.action} cell of ${edit.path}`
  const { notebook } = file
  if ('fault' in notebook) {
    return failed(notebook.isEncoding === true ? 'not-utf8' : 'parse-error', `${what}: ${notebook.fault}`)
  }
  const isAtTop = edit.action === 'insert-after' && edit.cell === null
  const index = isAtTop ? -1 : indexOf(notebook, edit, what)
  if (typeof index !== 'number') return index
  const splice = spliceOf(notebook, edit, index)
  if (splice === null) return failed('parse-error', `${what}: cell ${index} has no "source"`)
  file.work.spend(CHARACTER_COST * splice.text.length)
  return claim(notebook, edit, splice)
}

/** @returns null where the cell to replace has no source. */
function spliceOf(notebook: Notebook, edit: CellEdit, index: number): TextSplice | null {
  switch (edit.action) {
    case 'insert-after':
      return insertion(notebook, edit, index)
    case 'delete':
      return deletion(notebook, index)
    case 'replace':
      return replacement(notebook, edit, index)
  }
}

function claim({ offsets }: Notebook, edit: CellEdit, splice: TextSplice): Outcome {
  const offset = offsets.at(splice.start)
  const end = offsets.at(splice.end)
  return {
    kind: 'claims',
    claims: [
      {
        item: edit.item,
        offset,
        length: end - offset,
        replacement: encode(splice.text),
        tier: 'exact',
        claimStart: offset,
        claimEnd: end,
        ownLine: null,
      },
    ],
    tier: 'exact',
    carried: false,
    remarks: [],
  }
}

/** The cell's index, by its id, by `cell-<n>` where no cell has that id, or by number. */
function indexOf(notebook: Notebook, edit: CellEdit, what: string): number | Outcome {
  const { items } = notebook.cells
  if (edit.cell === null) return failed('no-match', `${what}: the request names no cell`)
  if ('index' in edit.cell) {
    const { index } = edit.cell
    if (Number.isInteger(index) && index >= 0 && index < items.length) return index
    return failed(
      'out-of-range',
      `${what}: cell ${index} asked for; the notebook has ${items.length}, counted from 0`,
      {
        totalCells: items.length,
      },
    )
  }
  const { id } = edit.cell
  const found = notebook.ids.get(id) ?? []
  const numbered = /^cell-([0-9]{1,9})$/.exec(id)
  if (found.length === 0 && numbered !== null && Number(numbered[1]) < items.length)
    return Number(numbered[1])
  const [index] = found
  if (index === undefined) {
    const ids = [...notebook.ids.keys()].slice(0, limits.candidatesShown)
    return failed('no-match', `${what}: no cell has the id ${JSON.stringify(id.slice(0, 80))}`, { ids })
  }
  if (found.length > 1) {
    return failed(
      'ambiguous-match',
      `${what}: ${found.length} cells have the id ${JSON.stringify(id.slice(0, 80))}`,
      { cells: found.slice(0, limits.candidatesShown) },
    )
  }
  return index
}

function deletion({ cells }: Notebook, index: number): TextSplice {
  const cell = cells.items[index]
  const next = cells.items[index + 1]
  const previous = cells.items[index - 1]
  if (cell === undefined) throw new Error('BUG: the cell to delete is there')
  if (next !== undefined) return { start: cell.start, end: next.start, text: '' }
  if (previous !== undefined) return { start: previous.end, end: cell.end, text: '' }
  return { start: cells.start + 1, end: cells.end - 1, text: '' }
}

/** @param after - index of the cell above; -1 = at the top. */
function insertion(notebook: Notebook, edit: CellEdit, after: number): TextSplice {
  const { cells, text } = notebook
  const cell = newCell(notebook, edit)
  const above = cells.items[after]
  const first = cells.items[0]
  if (above !== undefined) {
    const space = first === undefined ? '' : text.slice(cells.start + 1, first.start)
    return { start: above.end, end: above.end, text: `,${space}${cell.text}` }
  }
  if (first !== undefined) {
    const space = text.slice(cells.start + 1, first.start)
    return { start: first.start, end: first.start, text: `${cell.text},${space}` }
  }
  return { start: cells.start + 1, end: cells.end - 1, text: `${cell.lead}${cell.text}${cell.trail}` }
}

function replacement(notebook: Notebook, edit: CellEdit, index: number): TextSplice | null {
  const cell = notebook.cells.items[index]
  const source = cell === undefined ? undefined : memberOf(cell, 'source')
  if (cell === undefined || source === undefined) return null
  const text = cellSource(notebook, source, edit.source)
  const type = stringMember(notebook.text, cell, 'cell_type')
  if (edit.cellType === undefined || edit.cellType === type) {
    return { start: source.start, end: source.end, text }
  }
  return {
    start: cell.start,
    end: cell.end,
    text: retypedCell(notebook, cell, { type: edit.cellType, source: text }),
  }
}

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJsonSpans } from '../../src/editing/json-spans.ts'
import type { CellEdit } from '../../src/model/edit.ts'
import { pureRuns } from '../helpers/runs.ts'
import { type Draft, edited, filesAfter, refused, submit } from './submit.ts'

const notebook = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\\n",
    "text \\u00e9"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "calc",
   "metadata": { "x":1 },
   "outputs": [],
   "source": "a = 1"
  }
 ],
 "metadata": {"odd" :  true},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

const cell = (edit: Partial<CellEdit>): Draft =>
  ({ op: 'cell', cell: null, action: 'replace', source: '', ...edit }) as Draft

const cellsOf = (text: string | null | undefined): { id?: string; source: unknown; cell_type: string }[] =>
  JSON.parse(text ?? '{}').cells

describe('replacing a cell', () => {
  test('splices its source alone, and lines that stay keep their bytes', () => {
    const after = edited(notebook, [cell({ cell: { id: 'intro' }, source: '# New\nmore\ntext é' })])
    expect(after).toBe(notebook.replace('"# Title\\n",', '"# New\\n",\n    "more\\n",'))
  })

  test('keeps a source that is one string one string', () => {
    const after = edited(notebook, [cell({ cell: { index: 1 }, source: 'b = "2"\n' })])
    expect(after).toBe(notebook.replace('"a = 1"', '"b = \\"2\\"\\n"'))
  })

  test('fills and empties a list of lines', () => {
    const emptied = edited(notebook, [cell({ cell: { id: 'intro' }, source: '' })])
    expect(cellsOf(emptied)[0]?.source).toEqual([])
    const filled = edited(emptied ?? '', [cell({ cell: { id: 'intro' }, source: 'x\ny' })])
    expect(filled).toContain('"source": [\n    "x\\n",\n    "y"\n   ]')
  })

  test('finds a cell by its number where no cell has the id', () => {
    expect(cellsOf(edited(notebook, [cell({ cell: { id: 'cell-1' }, source: 'z' })]))[1]?.source).toBe('z')
  })

  test('may change the type: code has outputs, text has none', () => {
    const code = cellsOf(
      edited(notebook, [cell({ cell: { id: 'intro' }, source: 'x', cellType: 'code' })]),
    )[0]
    expect(code).toEqual({
      cell_type: 'code',
      id: 'intro',
      metadata: {},
      source: ['x'],
      outputs: [],
      execution_count: null,
    })
    const markdown = cellsOf(
      edited(notebook, [cell({ cell: { id: 'calc' }, source: 'x', cellType: 'markdown' })]),
    )[1]
    expect(markdown).toEqual({ cell_type: 'markdown', id: 'calc', metadata: { x: 1 }, source: 'x' })
  })

  test('works in CRLF and without line breaks', () => {
    const crlf = notebook.split('\n').join('\r\n')
    expect(edited(crlf, [cell({ cell: { id: 'intro' }, source: '# New\ntext é' })])).toBe(
      crlf.replace('# Title', '# New'),
    )
    const compact = '{"cells":[{"source":["a"]}]}'
    expect(edited(compact, [cell({ cell: { index: 0 }, source: 'b\nc' })])).toBe(
      '{"cells":[{"source":["b\\n", "c"]}]}',
    )
  })
})

describe('inserting and deleting cells', () => {
  test('puts a new cell below the one named, in the notebook\u2019s layout', () => {
    const after = edited(notebook, [
      cell({ action: 'insert-after', cell: { id: 'intro' }, source: 'x\ny', cellType: 'code' }),
    ])
    expect(cellsOf(after).map(({ source }) => source)).toEqual([
      ['# Title\n', 'text é'],
      ['x\n', 'y'],
      'a = 1',
    ])
    const fresh = cellsOf(after)[1]?.id
    expect(fresh).toMatch(/^[0-9a-f]{8}$/)
    const added = `  {\n   "cell_type": "code",\n   "execution_count": null,\n   "id": "${fresh}",\n   "metadata": {},\n   "outputs": [],\n   "source": [\n    "x\\n",\n    "y"\n   ]\n  },\n`
    expect(after).toBe(notebook.replace('  {\n   "cell_type": "code"', `${added}  {\n   "cell_type": "code"`))
  })

  test('puts it first where no cell is named, and last behind the last', () => {
    const first = edited(notebook, [cell({ action: 'insert-after', source: 'x', cellType: 'markdown' })])
    expect(cellsOf(first).map(({ cell_type }) => cell_type)).toEqual(['markdown', 'markdown', 'code'])
    const last = edited(notebook, [cell({ action: 'insert-after', cell: { index: 1 }, source: 'x' })])
    expect(cellsOf(last)[2]?.source).toEqual(['x'])
  })

  test('fills an empty notebook', () => {
    const after = edited('{\n "cells": [],\n "nbformat": 4\n}\n', [
      cell({ action: 'insert-after', source: 'x', cellType: 'markdown' }),
    ])
    expect(after).toBe(
      '{\n "cells": [\n  {\n   "cell_type": "markdown",\n   "metadata": {},\n   "source": [\n    "x"\n   ]\n  }\n ],\n "nbformat": 4\n}\n',
    )
    expect(
      edited('{"cells":[]}', [cell({ action: 'insert-after', source: 'x', cellType: 'markdown' })]),
    ).toBe('{"cells":[{"cell_type":"markdown","metadata":{},"source":["x"]}]}')
  })

  test('deletes a cell with its comma', () => {
    expect(
      cellsOf(edited(notebook, [cell({ action: 'delete', cell: { id: 'intro' } })])).map(({ id }) => id),
    ).toEqual(['calc'])
    const without = edited(notebook, [cell({ action: 'delete', cell: { id: 'calc' } })])
    expect(cellsOf(without).map(({ id }) => id)).toEqual(['intro'])
    expect(cellsOf(edited(without ?? '', [cell({ action: 'delete', cell: { index: 0 } })]))).toEqual([])
  })

  test('of one step all refer to the notebook as it was', () => {
    const edits = [
      cell({ cell: { index: 1 }, source: 'b' }),
      cell({ action: 'delete', cell: { index: 0 } }),
      cell({ action: 'insert-after', cell: { index: 1 }, source: 'c' }),
    ]
    expect(
      cellsOf(filesAfter(submit({ 'a.txt': notebook }, edits))['a.txt']).map(({ source }) => source),
    ).toEqual(['b', ['c']])
  })
})

describe('a cell edit is refused', () => {
  test.each([
    ['no-match', notebook, { cell: { id: 'nope' }, source: 'x' }],
    ['no-match', notebook, { cell: null, source: 'x' }],
    ['out-of-range', notebook, { cell: { index: 2 }, source: 'x' }],
    ['out-of-range', notebook, { cell: { index: -1 }, source: 'x' }],
    ['ambiguous-match', notebook.replace('"calc"', '"intro"'), { cell: { id: 'intro' }, source: 'x' }],
    ['parse-error', 'no JSON', { cell: { index: 0 }, source: 'x' }],
    ['parse-error', '[]', { cell: { index: 0 }, source: 'x' }],
    ['parse-error', '{"cells": {}}', { cell: { index: 0 }, source: 'x' }],
    ['parse-error', '{"cells": [1]}', { cell: { index: 0 }, source: 'x' }],
    ['parse-error', '{"cells": [{}]}', { cell: { index: 0 }, source: 'x' }],
    ['parse-error', `${'['.repeat(100)}`, { cell: { index: 0 }, source: 'x' }],
    ['no-change', notebook, { cell: { index: 1 }, source: 'a = 1' }],
    ['not-utf8', notebook, { cell: { index: 1 }, source: '\ud800' }],
    ['omission', notebook, { cell: { index: 1 }, source: 'a\n# ... rest of the cell unchanged ...' }],
  ] as const)('with %s', (code, before, edit) => {
    expect(refused(before, [cell(edit)]).code).toBe(code)
  })

  test('with not-utf8 where the notebook is not', () => {
    expect(
      refused(Buffer.from('{"cells":[{"source":"\xe9"}]}', 'latin1'), [
        cell({ cell: { index: 0 }, source: 'x' }),
      ]).code,
    ).toBe('not-utf8')
  })
})

describe('the places of JSON values', () => {
  test('are found in whatever JSON.parse reads, and in nothing else', () => {
    const mutated = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', ',', '{', '\\', '0', '\n', 'x'))
    fc.assert(
      fc.property(mutated, ([json, at, piece]) => {
        const cut = at % (json.length + 1)
        const text = json.slice(0, cut) + piece + json.slice(cut)
        let parses = true
        try {
          JSON.parse(text)
        } catch {
          parses = false
        }
        let spans = true
        try {
          const { start, end } = parseJsonSpans(text)
          expect(JSON.stringify(JSON.parse(text.slice(start, end)))).toBe(JSON.stringify(JSON.parse(text)))
        } catch (error) {
          spans = !(error instanceof Error && error.name === 'JsonFault')
          if (spans) throw error
        }
        expect(spans).toBe(parses)
      }),
      { numRuns: pureRuns(3000) },
    )
  })
})

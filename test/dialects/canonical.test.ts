import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { translateOperation } from '../../src/dialects/canonical.ts'
import type { OperationItem } from '../../src/model/batch.ts'
import type { Edit } from '../../src/model/edit.ts'
import { blobId } from '../../src/model/ids.ts'
import { pureRuns } from '../helpers/runs.ts'

const context = { item: 4, step: 2 }
const base = { item: 4, step: 2, path: 'a.ts' }
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

const editOf = (operation: OperationItem): Edit | null => {
  const result = translateOperation(operation, context)
  return result.kind === 'edit' ? result.edit : null
}

const codesOf = (operation: OperationItem): readonly string[] => {
  const result = translateOperation(operation, context)
  return result.kind === 'refused' ? result.failures.map(({ code }) => code) : []
}

describe('an operation becomes its edit', () => {
  test.each<[OperationItem, Partial<Edit>]>([
    [
      { op: 'replace', path: 'a.ts', old: 'x', new: 'y' },
      { op: 'replace', old: 'x', new: 'y', all: false },
    ],
    [
      { op: 'replace', path: 'a.ts', old: 'x', new: '', all: true },
      { op: 'replace', old: 'x', new: '', all: true },
    ],
    [
      { op: 'lines', path: 'a.ts', from: 2, to: 3, content: 'x', expected: 'y' },
      { op: 'lines', from: 2, to: 3, content: 'x', expected: 'y', expectedOrder: 'in-order' },
    ],
    [
      { op: 'lines', path: 'a.ts', from: 2, content: 'x' },
      { op: 'lines', from: 2, to: null, content: 'x', expectedOrder: 'in-order' },
    ],
    [
      { op: 'lines', path: 'a.ts', from: 2, content: null },
      { op: 'lines', from: 2, to: null, content: null, expectedOrder: 'in-order' },
    ],
    [
      { op: 'insert', path: 'a.ts', after: 0, content: 'x' },
      { op: 'insert', after: 0, content: 'x' },
    ],
    [
      { op: 'append', path: 'a.ts', content: 'x' },
      { op: 'append', content: 'x' },
    ],
    [
      { op: 'write', path: 'a.ts', content: 'é' },
      { op: 'write', content: encode('é'), mode: 'either', isText: true },
    ],
    [
      { op: 'write', path: 'a.ts', content: 'x', mode: 'create', executable: true },
      { op: 'write', content: encode('x'), mode: 'create', isText: true, executable: true },
    ],
    [{ op: 'delete', path: 'a.ts' }, { op: 'delete' }],
    [
      { op: 'move', path: 'a.ts', to: 'b.ts' },
      { op: 'move', to: 'b.ts' },
    ],
    [
      { op: 'chmod', path: 'a.ts', executable: false },
      { op: 'chmod', executable: false },
    ],
  ])('%j', (operation, edit) => {
    expect(editOf(operation)).toEqual({ ...base, ...edit })
  })

  test.each([[blobId('a'.repeat(40))], [null]])('with the blob that it names: %j', (blob) => {
    expect(editOf({ op: 'append', path: 'a.ts', content: 'x', blob })).toHaveProperty('blob', blob)
  })

  test('base64 is decoded, wrapped or not, and is no text', () => {
    const bytes = Buffer.from([0, 1, 2, 253, 254, 255, 0])
    const text = bytes.toString('base64')
    for (const content of [text, `${text.slice(0, 4)}\r\n${text.slice(4)}\n`]) {
      const edit = editOf({ op: 'write', path: 'a.ts', content, encoding: 'base64' })
      expect(edit).toMatchObject({ isText: false })
      expect(Buffer.compare(edit?.op === 'write' ? edit.content : encode(''), bytes)).toBe(0)
    }
  })
})

describe('an operation is refused', () => {
  test.each<[OperationItem, readonly string[]]>([
    [{ op: 'replace', path: 'a.ts', old: '', new: 'y' }, ['invalid-batch']],
    [{ op: 'replace', path: 'a.ts', old: 'x', new: 'x' }, ['no-change']],
    [{ op: 'replace', path: 'a.ts', old: 'x\ud800', new: '\udc00' }, ['not-utf8', 'not-utf8']],
    [{ op: 'lines', path: 'a.ts', from: 0, content: 'x' }, ['out-of-range']],
    [{ op: 'lines', path: 'a.ts', from: 1.5, content: 'x' }, ['out-of-range']],
    [{ op: 'lines', path: 'a.ts', from: 3, to: 2, content: 'x' }, ['out-of-range']],
    [{ op: 'insert', path: 'a.ts', after: -1, content: 'x' }, ['out-of-range']],
    [{ op: 'write', path: 'a.ts', content: 'not base64!', encoding: 'base64' }, ['invalid-batch']],
    [{ op: 'write', path: 'a.ts', content: 'abc', encoding: 'base64' }, ['invalid-batch']],
    [{ op: 'write', path: 'a.ts', content: '====', encoding: 'base64' }, ['invalid-batch']],
    [{ op: 'write', path: 'a.ts', content: '\ud800' }, ['not-utf8']],
    [{ op: 'move', path: 'a.ts', to: 'a.ts' }, ['no-change']],
    [{ op: 'move', path: 'a.ts', to: '../b.ts' }, ['outside-repository']],
    [{ op: 'delete', path: '/etc/passwd' }, ['outside-repository']],
    [{ op: 'delete', path: '.git/config' }, ['path-invalid']],
    [{ op: 'chmod', path: '', executable: true }, ['path-invalid']],
  ])('%j', (operation, codes) => {
    expect(codesOf(operation)).toEqual(codes)
  })

  test('every fault of an item is listed', () => {
    expect(codesOf({ op: 'move', path: '../a', to: '../a' })).toEqual([
      'outside-repository',
      'outside-repository',
      'no-change',
    ])
  })
})

test('base64 of any bytes comes back as those bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const content = Buffer.from(bytes).toString('base64')
      const edit = editOf({ op: 'write', path: 'a.ts', content, encoding: 'base64' })
      expect(edit?.op === 'write' && Buffer.compare(edit.content, bytes) === 0).toBe(true)
    }),
    { numRuns: pureRuns(1000) },
  )
})

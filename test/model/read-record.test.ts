import { describe, expect, test } from 'vitest'
import { readEventText } from '../../src/model/read-record.ts'
import { remarkKinds } from '../../src/model/resolution.ts'

const ID = '1'.repeat(40)
const proposed = {
  kind: 'proposed',
  at: '2026-11-30T00:00:00Z',
  by: 'A <a@example.org>',
  title: 'A change',
  body: '',
  agent: null,
  onto: 'refs/heads/main',
  stackedOn: null,
  key: null,
  batchHash: '',
  undoes: [],
  redoes: [],
}
const staged = (file: object, remarks: readonly object[] = []) => ({
  kind: 'staged',
  at: proposed.at,
  by: proposed.by,
  reason: 'proposed',
  revision: {
    number: 1,
    commit: ID,
    tree: ID,
    base: null,
    digest: '2'.repeat(64),
    manifest: [],
    files: [{ path: 'a.txt', tier: 'exact', added: 1, removed: 0, ...file }],
    remarks,
    reads: [],
  },
})
const reads = (event: object) => readEventText(JSON.stringify(event)) !== null

describe('an event of a log is read', () => {
  test.each([
    ['that says nothing of a capture', {}, true],
    ['of a capture', { captured: true }, true],
    ['whose capture is no such mark', { captured: 'yes' }, false],
    ['that says it is none, which nobody writes', { captured: false }, false],
  ])('%s', (_, more, isOne) => {
    expect(reads({ ...proposed, ...more })).toBe(isOne)
  })

  test.each([
    ['none', {}, true],
    ['two blobs', { working: { old: ID, new: null } }, true],
    ['a path', { working: { old: '../x', new: ID } }, false],
    ['something else', { working: 'x' }, false],
    ['a half', { working: { old: ID } }, false],
  ])('with the working file told by %s', (_, file, isOne) => {
    expect(reads(staged(file))).toBe(isOne)
  })

  test.each([
    ['a mode and an id', { mode: '100755', id: ID }, true],
    ['null, where it was deleted', null, true],
    ['no mode', { mode: '777', id: ID }, false],
    ['no id', { mode: '100644', id: 'x' }, false],
    ['a half', { mode: '100644' }, false],
    ['something else', 'x', false],
  ])('with the file that it takes along told by %s', (_, taken, isOne) => {
    expect(reads(staged({ taken }))).toBe(isOne)
  })

  const remark = (kind: unknown) => ({ kind, item: 0, path: 'a.txt', text: '' })

  test.each(remarkKinds)('with a remark of the kind %s', (kind) => {
    expect(reads(staged({}, [remark(kind)]))).toBe(true)
  })

  test.each([['takes-Uncommitted'], ['toString'], [''], [1], [null], [['rewritten']]])(
    'not with a remark of the kind %j',
    (kind) => {
      expect(reads(staged({}, [remark(kind)]))).toBe(false)
    },
  )
})

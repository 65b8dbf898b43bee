import { describe, expect, test } from 'vitest'
import { readEventText } from '../../src/model/read-record.ts'

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
const staged = (file: object) => ({
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
    remarks: [],
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
})

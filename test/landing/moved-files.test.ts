import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { land } from '../../src/flow/land/land.ts'
import { undo } from '../../src/flow/undo/undo.ts'
import type { PathFacts } from '../../src/landing/decide-path.ts'
import { movedFiles } from '../../src/landing/moved-files.ts'
import type { StandingFile } from '../../src/sys/file-key.ts'
import { openFor, stage } from '../flow/gc-world.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const file = (permissions: number): StandingFile => ({
  kind: 'file',
  id: 'raw',
  executable: false,
  permissions,
  owner: 1,
  group: 1,
  links: 1,
  identity: '1:1',
})

const leaves = (path: string, id: string, permissions: number) => ({
  path,
  base: { mode: '100644', id },
  next: null,
  standing: file(permissions),
})
const comes = (path: string, id: string) => ({
  path,
  base: null,
  next: { mode: '100644', id },
  standing: { kind: 'absent' as const },
})
const stays = (path: string, id: string) => ({
  path,
  base: { mode: '100644', id },
  next: { mode: '100644', id: 'other' },
  standing: file(0o600),
})

const origins = (facts: readonly object[], renames: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    [...movedFiles(facts as PathFacts[], new Map(Object.entries(renames)))].map(([path, { permissions }]) => [
      path,
      permissions.toString(8),
    ]),
  )

describe('a new file takes the rights along', () => {
  test.each([
    [
      'of the file with its content that goes away',
      [leaves('a', 'x', 0o600), comes('b', 'x')],
      {},
      { b: '600' },
    ],
    [
      'of the file that it is called after, changed or not',
      [leaves('a', 'x', 0o640), comes('b', 'y')],
      { b: 'a' },
      { b: '640' },
    ],
    [
      'through the names in between',
      [leaves('a', 'x', 0o600), comes('c', 'y')],
      { c: 'b', b: 'a' },
      { c: '600' },
    ],
    [
      'of the one that fewest may read, among equals',
      [leaves('a', 'x', 0o644), leaves('k', 'x', 0o600), comes('b', 'x')],
      {},
      { b: '600' },
    ],
    ['of none where nothing goes away', [stays('a', 'x'), comes('b', 'x')], { b: 'a' }, {}],
    ['of none where names lead in a circle', [comes('b', 'x')], { b: 'c', c: 'b' }, {}],
  ] as const)('%s', (_, facts, renames, expected) => {
    expect(origins(facts, renames)).toEqual(expected)
  })
})

const bits = (repo: TestRepo, path: string) => (statSync(join(repo.dir, path)).mode & 0o777).toString(8)

test('moving a private file, there and back, opens it to nobody; a mode that the change sets is added to its bits', async () => {
  using repo = makeRepo({
    files: { 'key.txt': 'secret\n', 'tool.sh': '#!/bin/sh\nold\n', 'open.txt': 'o\n' },
  })
  chmodSync(join(repo.dir, 'key.txt'), 0o600)
  chmodSync(join(repo.dir, 'tool.sh'), 0o640)
  await using open = await openFor(repo)
  const { world } = open
  const move = (path: string, to: string) => ({ op: 'move', path, to })
  const { id } = await stage(world, [
    move('key.txt', 'conf/key.txt'),
    { op: 'replace', path: 'tool.sh', old: 'old', new: 'new' },
    move('tool.sh', 'bin/tool.sh'),
    move('open.txt', 'conf/open.txt'),
  ])
  await approve(world, { id, via: 'cli' })
  await land(world, { id })
  expect(['conf/key.txt', 'bin/tool.sh', 'conf/open.txt'].map((path) => bits(repo, path))).toEqual([
    '600',
    '640',
    '644',
  ])
  const { change } = await undo(world, { target: id })
  await approve(world, { id: change.id, via: 'cli' })
  await land(world, { id: change.id })
  expect(['key.txt', 'tool.sh', 'open.txt'].map((path) => bits(repo, path))).toEqual(['600', '640', '644'])
  expect(repo.git('status', '--porcelain')).toBe('')
})

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

interface Kind {
  readonly attributes: string
  readonly committed: string
  /** What stands in the work tree, which git calls unchanged though a checkout would write something else. */
  readonly stand: (repo: TestRepo) => void
}

const kinds: Readonly<Record<string, Kind>> = {
  'an ident of an earlier checkout': {
    attributes: '*.txt ident\n',
    committed: '/* $Id$ */\none\ntwo\n',
    stand: (repo) => repo.write('a.txt', `/* $Id: ${'1'.repeat(40)} $ */\none\ntwo\n`),
  },
  'line feeds where CRLF would be checked out': {
    attributes: '*.txt text eol=crlf\n',
    committed: 'one\ntwo\n',
    stand: (repo) => repo.write('a.txt', 'one\ntwo\n'),
  },
  'mixed line endings': {
    attributes: '*.txt text eol=lf\n',
    committed: 'one\ntwo\n',
    stand: (repo) => repo.write('a.txt', 'one\r\ntwo\n'),
  },
}

describe('a file that is unchanged for git, though a checkout would write other bytes', () => {
  test.each(Object.keys(kinds))('lands and is undone: %s', async (name) => {
    const kind = kinds[name] as Kind
    using repo = makeRepo({ files: { '.gitattributes': kind.attributes, 'a.txt': kind.committed } })
    rmSync(join(repo.dir, 'a.txt'))
    kind.stand(repo)
    repo.git('add', '--renormalize', 'a.txt')
    expect(repo.git('status', '--porcelain')).toBe('')
    await using galley = await openGalley(repo)
    const edit = { op: 'replace', path: 'a.txt', old: 'two', new: 'TWO' }
    const { change } = await galley.apply({ batch: batch([edit]) })
    expect(repo.git('show', 'HEAD:a.txt')).toBe(kind.committed.replace('two', 'TWO').trim())
    expect(repo.git('status', '--porcelain')).toBe('')
    const undo = await galley.undo({ target: change.id })
    await galley.approve({ id: undo.change.id })
    await galley.land({ id: undo.change.id })
    expect(repo.git('show', 'HEAD:a.txt')).toBe(kind.committed.trim())
    expect(repo.git('status', '--porcelain')).toBe('')
  })
})

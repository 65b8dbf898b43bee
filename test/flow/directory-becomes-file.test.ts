import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import { land } from './undo-world.ts'

const FILES = { 'd/a.txt': 'a\n', 'd/e/b.txt': 'b\n', 'other.txt': 'o\n' }
const EMPTIED = [
  { op: 'delete', path: 'd/a.txt' },
  { op: 'delete', path: 'd/e/b.txt' },
] as const
const make = { op: 'write', path: 'd', content: 'a file now\n' } as const

describe('a file in the place of a directory', () => {
  test('lands where the batch empties the directory, and goes back by undo', async () => {
    using repo = makeRepo({ files: FILES })
    await using galley = await openGalley(repo)
    const { id } = await land(galley, 'one file', [...EMPTIED, make])
    expect(repo.read('d')).toBe('a file now\n')
    expect(repo.git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('d\nother.txt')
    expect(repo.git('status', '--porcelain')).toBe('')
    const { change } = await galley.undo({ target: id })
    await galley.approve({ id: change.id, digest: change.digest })
    await galley.land({ id: change.id })
    expect([repo.read('d/a.txt'), repo.read('d/e/b.txt')]).toEqual(['a\n', 'b\n'])
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('lands where all of it moves elsewhere, and where a file moves into its place', async () => {
    using repo = makeRepo({ files: FILES })
    await using galley = await openGalley(repo)
    await land(galley, 'moved', [
      { op: 'move', path: 'd/a.txt', to: 'a.txt' },
      { op: 'move', path: 'd/e/b.txt', to: 'b.txt' },
      { op: 'move', path: 'other.txt', to: 'd' },
    ])
    expect(repo.git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('a.txt\nb.txt\nd')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('lands where an empty directory stands that git does not know', async () => {
    using repo = makeRepo({ files: FILES })
    mkdirSync(join(repo.dir, 'new/deep'), { recursive: true })
    await using galley = await openGalley(repo)
    await land(galley, 'new', [{ op: 'write', path: 'new', content: 'n\n', mode: 'create' }])
    expect(repo.read('new')).toBe('n\n')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test.each([
    ['a directory', [...EMPTIED, make]],
    [
      'a file',
      [
        { op: 'delete', path: 'other.txt' },
        { op: 'write', path: 'other.txt/in', content: 'in\n' },
      ],
    ],
  ])(
    'one in the place of %s lands with its approval after the branch has moved elsewhere',
    async (_, edits) => {
      using repo = makeRepo({ files: { ...FILES, 'else.txt': 'e\n' } })
      await using galley = await openGalley(repo)
      const { change } = await galley.propose({ batch: batch(edits) })
      await galley.approve({ id: change.id, digest: change.digest })
      repo.write('else.txt', 'else\n')
      repo.git('commit', '-qam', 'elsewhere')
      const landed = await galley.land({ id: change.id })
      expect(landed.change).toMatchObject({ state: 'landed', revision: 1, digest: change.digest })
      expect(repo.git('status', '--porcelain')).toBe('')
    },
  )

  test('one that was proposed before what stands in its place has changed needs another look', async () => {
    using repo = makeRepo({ files: FILES })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch([...EMPTIED, make]) })
    await galley.approve({ id: change.id, digest: change.digest })
    repo.write('d/more.txt', 'more\n')
    repo.git('add', 'd')
    repo.git('commit', '-qm', 'more')
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('conflict')
  })

  test('one in the place of a directory that the scratch tree of another change leaves out: that one is merged and lands', async () => {
    using repo = makeRepo({ files: { ...FILES, 'sub/c.txt': 'c\n2\n3\n4\n5\n' } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch([{ op: 'append', path: 'sub/c.txt', content: 'C\n' }]),
    })
    await galley.approve({ id: change.id, digest: change.digest })
    const first = { op: 'replace', path: 'sub/c.txt', old: 'c\n', new: 'first\n' } as const
    await land(galley, 'one file', [...EMPTIED, make, first])
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('not-approved')
    const { digest } = (await galley.show(change.id)).change
    await galley.approve({ id: change.id, digest })
    await galley.land({ id: change.id })
    expect(repo.read('sub/c.txt')).toBe('first\n2\n3\n4\n5\nC\n')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  const refused: readonly (readonly [
    why: string,
    edits: readonly object[],
    others: readonly string[],
    code: string,
  ])[] = [
    ['one of its files stays', [EMPTIED[0], make], [], 'is-directory'],
    ['an untracked file is in it', [...EMPTIED, make], ['d/e/mine.txt'], 'is-directory'],
    ['another repository is in it', [...EMPTIED, make], ['d/sub/.git'], 'is-directory'],
    [
      'one of its files moves away and back',
      [
        ...EMPTIED.slice(1),
        { op: 'move', path: 'd/a.txt', to: 'x' },
        { op: 'move', path: 'x', to: 'd/a.txt' },
        make,
      ],
      [],
      'is-directory',
    ],
    [
      'one of its files is made again',
      [...EMPTIED, { op: 'write', path: 'd/a.txt', content: 'again\n' }, make],
      [],
      'is-directory',
    ],
    [
      'the directory is edited, not replaced',
      [...EMPTIED, { op: 'replace', path: 'd', old: 'a', new: 'b' }],
      [],
      'is-directory',
    ],
  ]
  test.each(refused)('is refused where %s', async (_, edits, others, code) => {
    using repo = makeRepo({ files: FILES })
    for (const path of others) repo.write(path, 'mine\n')
    await using galley = await openGalley(repo)
    const before = repo.snapshot()
    const error = await refusal(() => galley.propose({ batch: batch(edits, { order: 'sequential' }) }))
    expect(error.code).toBe(code)
    expect(repo.snapshot()).toEqual(before)
  })

  test('is refused at landing where somebody has put a file into the directory since', async () => {
    using repo = makeRepo({ files: FILES })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: batch([...EMPTIED, make]) })
    await galley.approve({ id: change.id, digest: change.digest })
    repo.write('d/e/mine.txt', 'mine\n')
    const before = repo.snapshot()
    const error = await refusal(() => galley.land({ id: change.id }))
    expect(['would-overwrite', 'overlaps-uncommitted']).toContain(error.code)
    expect(repo.snapshot()).toEqual(before)
    expect(existsSync(join(repo.dir, 'd/e/mine.txt'))).toBe(true)
  })
})

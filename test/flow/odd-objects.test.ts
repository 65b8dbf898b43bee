import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, gitInput, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const writes = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    op: 'write',
    path: `new/f${n}.txt`,
    content: `${n}\n`,
    mode: 'create',
  }))

const SHARED_MEMORY = '/dev/shm'
const hasOtherDevice = (statSync(SHARED_MEMORY, { throwIfNoEntry: false })?.dev ?? 0) !== statSync('/tmp').dev

describe('objects where galley does not expect them', () => {
  test.runIf(hasOtherDevice).each([3, 60])('on another device: %i new files land', async (count) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const far = mkdtempSync(join(SHARED_MEMORY, 'galley-test-'))
    try {
      const objects = join(repo.dir, '.git/objects')
      repo.git('-c', 'alias.copy=!cp -R .git/objects/. ', 'copy', far)
      renameSync(objects, `${objects}-before`)
      rmSync(`${objects}-before`, { recursive: true })
      symlinkSync(far, objects)
      await using galley = await openGalley(repo)
      await galley.apply({ batch: batch(writes(count)) })
      expect(repo.git('ls-tree', '-r', '--name-only', 'HEAD').split('\n')).toHaveLength(count + 1)
      expect(repo.git('fsck', '--strict')).toBe('')
      expect(readdirSync(far).filter((name) => name.startsWith('tmp_'))).toEqual([])
    } finally {
      rmSync(far, { recursive: true })
    }
  })

  test('gone since the proposal, by the user’s own collection: the store has kept them, and the change lands', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    // A tree that no ref of theirs shows, packed: a git that writes into the store leaves such out.
    const blob = gitInput(repo, ['hash-object', '-w', '--stdin'], 'nobody refers to it\n')
    const tree = gitInput(repo, ['mktree'], `100644 blob ${blob}\tx.txt\n`)
    gitInput(repo, ['pack-objects', '-q', '.git/objects/pack/pack'], `${blob}\n${tree}\n`)
    repo.git('prune-packed')
    await using galley = await openGalley(repo)
    const edit = { op: 'write', path: 'd/x.txt', content: 'nobody refers to it\n', mode: 'create' }
    const { change } = await galley.propose({ batch: batch([edit]) })
    repo.git('gc', '-q', '--prune=now')
    expect(repo.tryGit('cat-file', '-e', tree).code).not.toBe(0)
    await using later = await openGalley(repo)
    await later.approve({ id: change.id })
    await later.check({ id: change.id })
    await later.land({ id: change.id })
    expect(repo.git('show', 'HEAD:d/x.txt')).toBe('nobody refers to it')
    expect(repo.git('fsck', '--strict', '--no-dangling')).toBe('')
  })

  test('a name that is none of one commit is refused as such', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    for (const base of ['^HEAD', 'HEAD..', '^', '--all']) {
      const refused = await refusal(() => galley.propose({ batch: batch(writes(1), { base }) }))
      expect(refused.code, base).not.toBe('internal')
      expect((await refusal(() => galley.undo({ target: base }))).code, base).not.toBe('internal')
    }
  })
})

import { describe, expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const policy = JSON.stringify({ autoApprove: { paths: ['**'] } })
const create = (...paths: readonly string[]) =>
  batch(paths.map((path) => ({ op: 'write', mode: 'create', path, content: 'KEY=1\n' })))

describe('a rule that approves every path', () => {
  test.each([
    ['an ordinary new file', ['new.txt'], 'approved'],
    ['a file that .gitignore covers', ['.env'], 'staged'],
    ['one below an ignored directory', ['sub/local/x'], 'staged'],
    ['one among ordinary ones', ['new.txt', '.env'], 'staged'],
    ['one that .git/info/exclude covers', ['private.cfg'], 'staged'],
    ['one that an exception brings back', ['keep.pem'], 'approved'],
  ])('%s: %j is %s', async (_, paths, state) => {
    using repo = makeRepo({
      files: { '.galley.json': policy, '.gitignore': '.env\nlocal/\n*.pem\n!keep.pem\n', 'sub/a': 'a\n' },
    })
    repo.write('.git/info/exclude', 'private.cfg\n')
    await using galley = await openGalley(repo)
    expect((await galley.propose({ batch: create(...paths) })).change.state).toBe(state)
  })

  test('does not approve what the branch that it is for ignores, checked out or not', async () => {
    using repo = makeRepo({ files: { '.galley.json': policy, 'a.txt': 'a\n' } })
    repo.git('switch', '-qc', 'other')
    repo.write('.gitignore', '.env\n')
    repo.commit('ignore')
    repo.git('switch', '-q', 'main')
    await using galley = await openGalley(repo)
    const onOther = { ...create('.env'), onto: 'other' }
    expect((await galley.propose({ batch: onOther })).change.state).toBe('staged')
    expect((await galley.propose({ batch: create('.env') })).change.state).toBe('approved')
  })

  test('does not land what has been ignored since', async () => {
    using repo = makeRepo({ files: { '.galley.json': policy, 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: create('.env') })
    repo.write('.gitignore', '.env\n')
    repo.commit('ignore')
    const before = repo.snapshot()
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('not-approved')
    expect(repo.snapshot()).toEqual(before)
    await galley.approve({ id: change.id })
    expect((await galley.land({ id: change.id })).change.state).toBe('landed')
  })
})

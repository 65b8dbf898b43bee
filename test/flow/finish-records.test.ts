import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, cli, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { leftovers } from '../landing/stage-change.ts'

const EDIT = batch([{ op: 'append', path: 'a.txt', content: 'b\n' }])

/** A hook of the user's that ends galley when the branch has moved: the lock says which process that is. */
function endingHook(repo: TestRepo, name: string, script: string): () => void {
  const hook = join(repo.dir, '.git/hooks', name)
  const kill = 'kill -9 "$(sed -n \'s/.*"pid":\\([0-9]*\\).*/\\1/p\' .git/galley/landing.lock)"'
  writeFileSync(hook, `#!/bin/sh\n${script.replaceAll('KILL', () => kill)}\n`)
  chmodSync(hook, 0o755)
  return () => rmSync(hook)
}

const stateOf = async (repo: TestRepo, id: string) => {
  await using galley = await openGalley(repo)
  return (await galley.show(id)).change.state
}

describe('a landing that was ended after the branch moved and before its log said so', () => {
  test.each([
    ['in a hook, with the journal closed', 'post-merge', 'KILL'],
    [
      'with the journal open',
      'reference-transaction',
      'cat > /dev/null; [ "$1" = committed ] && KILL; exit 0',
    ],
  ])('%s: the next command writes it down, whatever it is', async (_, name, script) => {
    await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const { change } = await galleyPropose(repo)
    const removeHook = endingHook(repo, name, script)
    expect(cli(repo, ['land', change.id]).code).not.toBe(0)
    removeHook()
    expect(repo.git('show', 'HEAD:a.txt')).toBe('a\nb')
    expect(cli(repo, ['status']).stderr).toContain(`${change.id} is in refs/heads/main: its log says so now`)
    expect(await stateOf(repo, change.id)).toBe('landed')
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(leftovers(repo)).toEqual([])
  })

  test('asked for once more, it is landed', async () => {
    await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const { change } = await galleyPropose(repo)
    const removeHook = endingHook(repo, 'post-merge', 'KILL')
    cli(repo, ['land', change.id])
    removeHook()
    const again = cli(repo, ['land', change.id, '--json'])
    expect(again.json).toMatchObject({ ok: true, landed: { after: repo.git('rev-parse', 'HEAD') } })
    expect(cli(repo, ['land', change.id, '--json']).json).toMatchObject({ error: { code: 'wrong-state' } })
  })

  test('asked for by the process that wrote it down, it is landed, once', async () => {
    await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const { change } = await galleyPropose(repo)
    const removeHook = endingHook(repo, 'post-merge', 'KILL')
    cli(repo, ['land', change.id])
    removeHook()
    await using stays = await openGalley(repo)
    await stays.recover()
    expect((await stays.land({ id: change.id })).landed.after).toBe(repo.git('rev-parse', 'HEAD'))
    expect((await refusal(() => stays.land({ id: change.id }))).code).toBe('wrong-state')
  })

  test('an undo: the change that it takes back is undone, and can be redone', async () => {
    await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const { change } = await galleyPropose(repo)
    cli(repo, ['land', change.id])
    const removeHook = endingHook(repo, 'post-merge', 'KILL')
    cli(repo, ['undo', change.id, '--yes'])
    removeHook()
    expect(repo.read('a.txt')).toBe('a\n')
    expect(cli(repo, ['redo', change.id, '--yes']).code).toBe(0)
    expect(repo.read('a.txt')).toBe('a\nb\n')
  })

  test('where nobody has a name: that is said, and the change waits', async () => {
    await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const { change } = await galleyPropose(repo)
    const removeHook = endingHook(repo, 'post-merge', 'KILL')
    cli(repo, ['land', change.id])
    removeHook()
    writeFileSync(join(repo.home, 'gitconfig'), '[user]\n\tuseConfigOnly = true\n')
    const said = cli(repo, ['recover'])
    expect([said.code, said.stdout]).toEqual([0, expect.stringContaining('its log could not be told')])
    expect(repo.git('show', 'HEAD:a.txt')).toBe('a\nb')
  })
})

test('one that was refused stays as it is', async () => {
  await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  const { change } = await galleyPropose(repo)
  const removeHook = endingHook(
    repo,
    'reference-transaction',
    'cat > /dev/null; [ "$1" = prepared ] && KILL; exit 1',
  )
  cli(repo, ['land', change.id])
  removeHook()
  cli(repo, ['recover'])
  expect(await stateOf(repo, change.id)).toBe('approved')
  expect(repo.read('a.txt')).toBe('a\n')
  expect(leftovers(repo)).toEqual([])
})

async function galleyPropose(repo: TestRepo) {
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: EDIT })
  await galley.approve({ id: change.id, digest: change.digest })
  return { change }
}

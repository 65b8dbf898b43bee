import { chmodSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { batch, cliHere, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const edit = (path: string, old: string, text: string) =>
  JSON.stringify(batch([{ op: 'replace', path, old, new: text }]))
const hintOf = async (repo: TestRepo, args: readonly string[], options: Parameters<typeof cliHere>[2] = {}) =>
  (await cliHere(repo, [...args, '--json'], options)).json.error.hint as string

describe('advice', () => {
  test('names the verb that was called', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    expect(await hintOf(repo, ['undo', '--frobnicate'])).toBe('Run `galley undo --help`.')
    expect(await hintOf(repo, ['undone'])).toBe('Run `galley help`.')
  })

  test('of a change that conflicts names it, says that a batch is needed, and draws both sides for people', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch([{ op: 'write', path: 'a.txt', content: 'two\n', mode: 'overwrite' }]),
    })
    repo.write('a.txt', 'three\n')
    repo.commit('three')
    const said = await cliHere(repo, ['land', change.id, '--approve'])
    expect(said.stderr).toContain('on the branch, line 1:\n      three\n')
    expect(said.stderr).toContain('in the change, line 1:\n      two\n')
    expect(said.stderr).toContain(`galley propose --revise ${change.id} batch.json`)
  })

  test('of a tool call in place of a batch, and the other way round, names the verb that takes it', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const call = JSON.stringify({ tool: 'Write', input: { file_path: 'a.txt', content: 'x' } })
    expect(await hintOf(repo, ['propose'], { input: call })).toContain('galley call')
    const called = await cliHere(repo, ['call'], { input: edit('a.txt', 'one', 'two') })
    expect([called.code, called.stdout]).toEqual([1, expect.stringContaining('galley propose')])
  })

  test('to an agent that says yes beforehand is to leave that out; to one that approves, by the id', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const env = { CLAUDECODE: '1' }
    const input = edit('a.txt', 'one', 'two')
    expect(await hintOf(repo, ['apply', '--yes'], { env, input })).toContain('Leave --yes out')
    const { id } = (await cliHere(repo, ['propose', '--json'], { env, input })).json.change
    expect(await hintOf(repo, ['approve', id], { env })).toContain(`galley approve ${id}`)
  })

  test('says that a landing tries again only where it can pass', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    repo.write('.git/index.lock', '')
    const locked = await hintOf(repo, ['apply', '--yes'], { input: edit('a.txt', 'one', 'two') })
    expect(locked).toMatch(/galley land g\w+` tries again/)
  })

  test('of a redo in the way of later work names no option that redo lacks', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const input = edit('a.txt', 'one', 'two')
    const { id } = (await cliHere(repo, ['apply', '--yes', '--json'], { input })).json.change
    await cliHere(repo, ['undo', id, '--yes'])
    repo.write('a.txt', 'mine\n')
    repo.commit('mine')
    const hint = await hintOf(repo, ['redo', id])
    expect(hint).toContain('--with-later')
    expect(hint).not.toMatch(/--path|--hunk/)
  })

  test('of a merge names the command for each parent, and a number that it has not', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    repo.git('switch', '-qc', 'side')
    repo.write('b.txt', 'b\n')
    repo.commit('side')
    repo.git('switch', '-q', 'main')
    repo.git('merge', '-q', '--no-ff', '-m', 'merge', 'side')
    const commit = repo.git('rev-parse', '--short=12', 'HEAD')
    expect(await hintOf(repo, ['undo', 'HEAD'])).toBe(
      `Say it: \`galley undo ${commit} -m 1\` or \`galley undo ${commit} -m 2\`.`,
    )
    const third = await cliHere(repo, ['undo', 'HEAD', '-m', '3', '--json'])
    expect(third.json.error.message).toContain('none has the number 3')
    expect((await cliHere(repo, ['undo', 'HEAD', '-m', '1', '--yes'])).code).toBe(0)
  })
})

test('read names UTF-16', async () => {
  using repo = makeRepo({ files: { 'a.txt': Buffer.from('\ufeffhi\n', 'utf16le') } })
  expect((await cliHere(repo, ['read', 'a.txt'])).stdout).toContain('(UTF-16 (little-endian) text')
})

test('a commit that cannot be signed is refused in the words of the signing program', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  repo.write('../sign.sh', '#!/bin/sh\necho "the card was pulled" >&2\nexit 1\n')
  repo.git('config', 'commit.gpgSign', 'true')
  repo.git('config', 'user.signingKey', 'x')
  repo.git('config', 'gpg.program', `${repo.home}/sign.sh`)
  chmodSync(`${repo.home}/sign.sh`, 0o755)
  const before = repo.snapshot()
  const said = await cliHere(repo, ['apply', '--yes'], { input: edit('a.txt', 'one', 'two') })
  expect(said.stderr).toContain('the card was pulled')
  expect(repo.snapshot()).toEqual(before)
})

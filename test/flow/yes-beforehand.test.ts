import { describe, expect, test } from 'vitest'
import { batch, cliHere, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { always, startAgent, yes } from './call-harness.ts'
import { land } from './undo-world.ts'

/** A repository in which a check makes something else of every edit of `a.txt`, and touches a file beside it. */
const formatted = (): TestRepo =>
  makeRepo({
    files: {
      'a.txt': 'one\nsecond\nthird\n',
      'far/b.txt': 'b\n',
      '.galley.json': JSON.stringify({
        checks: [
          {
            name: 'format',
            run: 'sed -i s/two/TWO/ a.txt; grep -q TWO a.txt && echo more > far/b.txt; true',
          },
        ],
      }),
    },
  })

const two = { op: 'write', path: 'a.txt', content: 'two\nsecond\nthird\n' } as const
const call = { path: 'a.txt', old_string: 'one', new_string: 'two' }

describe('a yes given before anybody looked counts for what was asked for, not for what a check made of it', () => {
  test('apply, in the library and with --yes, leaves it staged and says how to go on', async () => {
    using repo = formatted()
    await using galley = await openGalley(repo)
    const before = repo.snapshot()
    const refused = await refusal(() => galley.apply({ batch: batch([two]) }))
    expect(refused.code).toBe('not-approved')
    expect(refused.data['change']).toMatchObject({ revision: 2, state: 'staged' })
    const byCli = await cliHere(repo, ['apply', '--yes', '--json'], {
      input: JSON.stringify(batch([{ ...two, content: 'two!\n' }])),
    })
    expect([byCli.code, byCli.json.error.code]).toEqual([1, 'not-approved'])
    expect(byCli.json.error.hint).toContain('galley show')
    expect(repo.snapshot()).toEqual(before)
  })

  test('undo --yes leaves its change staged', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'two\n' } })
    await using galley = await openGalley(repo)
    const { id } = await land(galley, 'three', [{ op: 'write', path: 'a.txt', content: 'three\n' }])
    repo.write(
      '.galley.json',
      JSON.stringify({ checks: [{ name: 'format', run: 'sed -i s/two/TWO/ a.txt' }] }),
    )
    repo.commit('format')
    const before = repo.snapshot()
    const { code, json } = await cliHere(repo, ['undo', id, '--yes', '--json'])
    expect([code, json.error.code]).toEqual([1, 'not-approved'])
    expect(repo.snapshot()).toEqual(before)
  })

  test('a call in the user’s name is denied and its change stays', async () => {
    using repo = formatted()
    await using agent = await startAgent(repo, 'claude-code')
    await agent.call('Read', { file_path: `${repo.dir}/a.txt` })
    const before = repo.snapshot()
    const input = { file_path: `${repo.dir}/a.txt`, old_string: 'one', new_string: 'two' }
    const { result, change } = await agent.call('Edit', input, { approval: always })
    expect([result.kind, change?.state, change?.revision]).toEqual(['denied', 'staged', 2])
    expect(result.text).toContain('which nobody has seen')
    expect(repo.snapshot()).toEqual(before)
  })

  test('a person who is asked is shown the change, not the call; the agent is told to read anew, and its read holds', async () => {
    using repo = formatted()
    await using agent = await startAgent(repo, 'mino')
    agent.answers.push(yes, yes)
    await agent.call('read_file', { path: 'a.txt' })
    const { result } = await agent.call('edit_file', call)
    expect(agent.screens.map(({ native, change }) => [native, change.revision])).toEqual([[null, 2]])
    expect(result.kind).toBe('completed')
    expect(result.text).toMatch(/A check then rewrote .* Read the file/)
    expect([repo.read('a.txt'), repo.read('far/b.txt')]).toEqual(['TWO\nsecond\nthird\n', 'more\n'])
    const started = agent.journal().findLast((line) => line.kind === 'start')
    expect(started.files).toEqual([
      expect.objectContaining({ path: 'a.txt', after: repo.git('rev-parse', 'HEAD:a.txt') }),
    ])
    const next = { path: 'a.txt', old_string: 'second', new_string: '2nd' }
    expect((await agent.call('edit_file', next)).result.kind).toBe('completed')
    expect(repo.read('a.txt')).toBe('TWO\n2nd\nthird\n')
  })
})

test('an approval bound to the file ends when the branch is checked out no more', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  await using agent = await startAgent(repo, 'mino')
  const main = repo.git('rev-parse', 'main')
  agent.answers.push(() => {
    repo.git('checkout', '-q', '-b', 'other')
    repo.write('a.txt', 'mine\n')
    return yes
  })
  const { result } = await agent.call('edit_file', call)
  expect([result.kind, result.text]).toEqual(['failed', 'File changed after approval; nothing was written.'])
  expect([repo.git('rev-parse', 'main'), repo.read('a.txt')]).toEqual([main, 'mine\n'])
})

describe('a refused landing after a yes given in the same breath', () => {
  test.each(['apply', 'undo'])('says which change waits, and what to do with it (%s)', async (verb) => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    await using galley = await openGalley(repo)
    const { id } = await land(galley, 'two', [{ op: 'write', path: 'a.txt', content: 'two\n' }])
    repo.write('.git/index.lock', '')
    const args = verb === 'apply' ? ['apply', '--yes', '--json'] : ['undo', id, '--yes', '--json']
    const input = JSON.stringify(batch([{ op: 'write', path: 'a.txt', content: 'three\n' }]))
    const { json } = await cliHere(repo, args, { input })
    expect(json.error.code).toBe('locked')
    const waiting = json.error.data.id
    expect(json.error.hint).toContain(`galley reject ${waiting}`)
    expect((await galley.show(waiting)).change.state).toBe('approved')
  })
})

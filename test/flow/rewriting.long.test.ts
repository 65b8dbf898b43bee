import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { batch, cliHere, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

const policyOf = (...checks: readonly object[]): string => `${JSON.stringify({ checks })}\n`
const check = (run: string, more: object = {}): object => ({ name: 'format', run, ...more })

/** A repository whose policy has these checks, and a file in a directory of its own beside those that are edited. */
const repoWith = (...checks: readonly object[]): TestRepo =>
  makeRepo({ files: { 'a.txt': 'one\n', 'far/b.txt': 'b\n', '.galley.json': policyOf(...checks) } })

async function proposeTwo(repo: TestRepo) {
  await using galley = await openGalley(repo)
  return (await galley.propose({ batch: batch([{ op: 'write', path: 'a.txt', content: 'two\n' }]) })).change
}

const outcomes = (change: Awaited<ReturnType<typeof proposeTwo>>): readonly string[] =>
  change.checks.map((c) => `${c.name} ${c.outcome}`)

describe('a check that passes and rewrites files', () => {
  test.each(['touched', 'full'])(
    'makes the next revision, which is checked anew and lands (%s tree)',
    async (tree) => {
      using repo = repoWith(check('sed -i s/two/TWO/ a.txt', { tree }), {
        name: 'look',
        run: 'grep TWO a.txt',
      })
      const before = repo.snapshot()
      const change = await proposeTwo(repo)
      expect(repo.snapshot()).toEqual(before)
      expect(change).toMatchObject({ revision: 2, state: 'staged', title: 'A change' })
      expect(outcomes(change)).toEqual(['format passed', 'look passed'])
      expect(change.remarks).toContainEqual({
        kind: 'rewritten',
        item: 0,
        path: 'a.txt',
        text: 'rewritten by format',
      })
      await using galley = await openGalley(repo)
      const { log } = await galley.show(change.id)
      expect(log.map((e) => e.kind)).toEqual(['proposed', 'staged', 'checked', 'restaged', 'checked'])
      expect(log[2]).toMatchObject({ checks: [{ outcome: 'failed', summary: 'format rewrote a.txt' }] })
      await galley.approve({ id: change.id, digest: change.digest })
      await galley.land({ id: change.id })
      expect(repo.read('a.txt')).toBe('TWO\n')
      expect(repo.git('status', '--porcelain')).toBe('')
    },
  )

  test('may touch other tracked files; new ones that git does not know are nobody’s', async () => {
    using repo = repoWith(check('echo more > far/b.txt; rm -f new.txt; echo junk > new.txt'))
    const change = await proposeTwo(repo)
    expect(change.files.map((f) => f.path)).toEqual(['a.txt', 'far/b.txt'])
    expect(outcomes(change)).toEqual(['format passed'])
  })

  test('one after the other: each gets its turn, and the last revision is what all agree on', async () => {
    const second = { name: 'second', run: 'sed -i s/TWO/Two/ a.txt' }
    using repo = repoWith(check('sed -i s/two/TWO/ a.txt'), second)
    const change = await proposeTwo(repo)
    expect([change.revision, ...outcomes(change)]).toEqual([3, 'format passed', 'second passed'])
    await using galley = await openGalley(repo)
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect(repo.read('a.txt')).toBe('Two\n')
  })

  test('keeps what is known of files that it left alone', async () => {
    using repo = repoWith(check('sed -i s/two/TWO/ a.txt'))
    await using galley = await openGalley(repo)
    const edits = [
      { op: 'write', path: 'a.txt', content: 'two\n' },
      { op: 'move', path: 'far/b.txt', to: 'near.txt' },
    ]
    const { change } = await galley.propose({ batch: batch(edits) })
    expect(change.files).toMatchObject([
      { path: 'a.txt', status: 'modified' },
      { path: 'far/b.txt', status: 'deleted' },
      { path: 'near.txt', status: 'renamed', renamedFrom: 'far/b.txt' },
    ])
  })

  test('voids the approval that was given before', async () => {
    using repo = makeRepo()
    const flag = join(repo.home, 'flag')
    repo.write('a.txt', 'one\n')
    repo.write('.galley.json', policyOf(check(`[ ! -e '${flag}' ] || echo formatted > a.txt`)))
    repo.commit('start')
    const { id } = await proposeTwo(repo)
    await using galley = await openGalley(repo)
    expect((await galley.approve({ id })).change.state).toBe('approved')
    writeFileSync(flag, '')
    const checked = (await cliHere(repo, ['check', id, '--json'])).json
    expect(checked.change).toMatchObject({ revision: 2, state: 'staged', approvals: [] })
    const before = repo.snapshot()
    expect((await refusal(() => galley.land({ id }))).code).toBe('not-approved')
    expect(repo.snapshot()).toEqual(before)
  })

  test('at the landing on a branch that has moved on stops it, and is a revision on the new tip', async () => {
    using repo = makeRepo()
    repo.write('a.txt', 'one\n')
    repo.write('.galley.json', policyOf(check('[ ! -e style ] || cat style > a.txt')))
    repo.commit('start')
    const { id } = await proposeTwo(repo)
    await using galley = await openGalley(repo)
    await galley.approve({ id })
    repo.write('style', 'stylish\n')
    const tip = repo.commit('style')
    const before = repo.snapshot()
    const refused = await refusal(() => galley.land({ id }))
    expect(refused).toMatchObject({ code: 'not-approved', data: { id, revision: 2, paths: ['a.txt'] } })
    expect(repo.snapshot()).toEqual(before)
    const { change } = await galley.show(id)
    expect(change).toMatchObject({ base: tip, state: 'staged', approvals: [] })
    await galley.approve({ id })
    await galley.land({ id })
    expect(repo.read('a.txt')).toBe('stylish\n')
  })

  test('at the landing, and its own result again, comes to no end as elsewhere', async () => {
    using repo = makeRepo()
    repo.write('a.txt', 'one\n')
    repo.write('.galley.json', policyOf(check('[ ! -e style ] || echo more >> a.txt')))
    repo.commit('start')
    const { id } = await proposeTwo(repo)
    await using galley = await openGalley(repo)
    await galley.approve({ id })
    repo.write('style', '')
    repo.commit('style')
    const refused = await refusal(() => galley.land({ id }))
    expect(refused).toMatchObject({ code: 'not-approved', data: { revision: 2 } })
    const { change } = await galley.show(id)
    expect([change.revision, ...outcomes(change)]).toEqual([2, 'format failed'])
  })

  test('and its own result at the landing, where what was relied on has changed, is no new revision', async () => {
    using repo = makeRepo()
    const flag = join(repo.home, 'flag')
    repo.write('a.txt', 'one\n')
    repo.write('b.txt', 'b\n')
    repo.write(
      '.galley.json',
      policyOf(check(`sed -i s/two/TWO/ a.txt; [ ! -e '${flag}' ] || echo more >> a.txt`)),
    )
    repo.commit('start')
    await using galley = await openGalley(repo)
    const reads = [{ path: 'b.txt', blob: repo.git('rev-parse', 'HEAD:b.txt') }]
    const edit = { op: 'write', path: 'a.txt', content: 'two\n' }
    const { id } = (await galley.propose({ batch: batch([edit], { reads }) })).change
    await galley.approve({ id })
    repo.write('b.txt', 'other\n')
    writeFileSync(flag, '')
    expect((await refusal(() => galley.land({ id }))).code).toBe('checks-failed')
    expect((await galley.show(id)).change.revision).toBe(2)
  })

  test('is not said to have rewritten what a merge made afterwards', async () => {
    const lines = 'one\n2\n3\n4\n5\n'
    using repo = makeRepo({
      files: { 'a.txt': lines, '.galley.json': policyOf(check('sed -i s/two/TWO/ a.txt')) },
    })
    await using galley = await openGalley(repo)
    const session = 's-1'
    const agent = { agent: { name: 'a', session } }
    await galley.read({ path: 'a.txt', session })
    const edit = { op: 'write', path: 'a.txt', content: lines.replace('one', 'two') }
    const { id } = (await galley.propose({ batch: batch([edit], agent) })).change
    await galley.approve({ id })
    repo.write('a.txt', lines.replace('5', 'five'))
    repo.commit('five')
    expect((await refusal(() => galley.land({ id }))).data).toMatchObject({ revision: 3 })
    expect((await galley.show(id)).change.remarks.map((r) => r.kind)).not.toContain('rewritten')
    await galley.approve({ id })
    await galley.land({ id })
    expect(repo.read('a.txt')).toBe(lines.replace('one', 'TWO').replace('5', 'five'))
    // Neither the check's line nor the other commit's has been shown to the session.
    const next = { op: 'lines', path: 'a.txt', from: 1, to: 1, content: 'three' }
    expect((await refusal(() => galley.propose({ batch: batch([next], agent) }))).code).toBe('not-read')
  })
})

describe('a check blocks, and leaves the revision as it was, that', () => {
  test('rewrites files and fails', async () => {
    using repo = repoWith(check('echo more >> a.txt; echo "no two, please"; exit 1'))
    const change = await proposeTwo(repo)
    expect(change).toMatchObject({ revision: 1, checks: [{ outcome: 'failed', summary: 'no two, please' }] })
  })

  test('rewrites its own result again', async () => {
    using repo = repoWith(check('echo more >> a.txt'), { name: 'after', run: 'true' })
    const change = await proposeTwo(repo)
    expect([change.revision, ...outcomes(change)]).toEqual([2, 'format failed', 'after passed'])
    expect(change.checks[0]?.summary).toBe(
      'format rewrote a.txt: it had rewritten them already, and comes to no end',
    )
    await using galley = await openGalley(repo)
    await galley.approve({ id: change.id })
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('checks-failed')
  })

  test('quarrels with another', async () => {
    const back = { name: 'back', run: 'sed -i s/TWO/two/ a.txt' }
    using repo = repoWith(check('sed -i s/two/TWO/ a.txt'), back)
    const change = await proposeTwo(repo)
    expect([change.revision, ...outcomes(change)]).toEqual([6, 'format passed', 'back failed'])
    expect(change.checks[1]?.summary).toMatch(/checks rewrite what other checks wrote, and come to no end$/)
  })

  test.each([
    [
      'makes a symbolic link that leads out of the repository',
      'ln -sf ../elsewhere a.txt',
      /leads to .*, out of the repository$/,
    ],
    ['takes the whole change back', 'echo one > a.txt', /nothing is left of the change$/],
    ['writes what the policy denies', 'echo x > secret.txt', /secret\.txt.*: the policy denies it/],
  ])('%s', async (_, run, why) => {
    using repo = makeRepo()
    repo.write('a.txt', 'one\n')
    repo.write('far/b.txt', 'b\n')
    repo.write('secret.txt', 's\n')
    repo.write('.galley.json', `${JSON.stringify({ checks: [check(run)], deny: ['secret.txt'] })}\n`)
    repo.commit('start')
    const before = repo.snapshot()
    const change = await proposeTwo(repo)
    expect([change.revision, ...outcomes(change)]).toEqual([1, 'format failed'])
    expect(change.checks[0]?.summary).toMatch(why)
    expect(repo.snapshot()).toEqual(before)
  })
})

test('a link that a check makes of a file is the next revision, and no rule approves it', async () => {
  const autoApprove = { paths: ['**'], maxFiles: 5, maxLines: 50 }
  using repo = makeRepo({
    files: {
      'a.txt': 'one\n',
      'b.txt': 'b\n',
      '.galley.json': `${JSON.stringify({ checks: [check('ln -sf b.txt a.txt')], autoApprove })}\n`,
    },
  })
  const change = await proposeTwo(repo)
  expect(change).toMatchObject({ revision: 2, state: 'staged', approvals: [] })
  expect(change.files).toMatchObject([{ path: 'a.txt', newMode: '120000' }])
})

test('a rule approves what the checks made of a change, not what was proposed', async () => {
  const autoApprove = { paths: ['**'], maxFiles: 5, maxLines: 50, checks: ['format'] }
  using repo = makeRepo({
    files: {
      'a.txt': 'one\n',
      '.galley.json': `${JSON.stringify({ checks: [check('sed -i s/two/TWO/ a.txt')], autoApprove })}\n`,
    },
  })
  const change = await proposeTwo(repo)
  expect(change).toMatchObject({
    revision: 2,
    state: 'approved',
    approvals: [{ via: 'rule', digest: change.digest }],
  })
})

test.each([
  ['true', null],
  ['sed -i s/two/TWO/ a.txt', 'not-read'],
])(
  'a session knows the lines that it wrote, and not those that a check made of them: %s',
  async (run, code) => {
    using repo = repoWith(check(run))
    await using galley = await openGalley(repo)
    const session = 's-1'
    await galley.read({ path: 'a.txt', session })
    const agent = { agent: { name: 'a', session } }
    const proposed = await galley.propose({
      batch: batch([{ op: 'write', path: 'a.txt', content: 'two\n' }], agent),
    })
    await galley.approve({ id: proposed.change.id })
    await galley.land({ id: proposed.change.id })
    const edits = [{ op: 'lines', path: 'a.txt', from: 1, to: 1, content: 'three' }]
    const next = galley.propose({ batch: batch(edits, agent) })
    if (code === null) expect((await next).change.files).toMatchObject([{ path: 'a.txt' }])
    else expect((await refusal(() => next)).code).toBe(code)
  },
)

describe('captured work that a check rewrites lands over the original', () => {
  const base = 'one\n2\n3\n4\nfive\n'
  const captured = base.replace('one', 'two')
  const states: Readonly<Record<string, (repo: TestRepo) => readonly string[]>> = {
    'in the work tree': () => [],
    'in the index too': (repo) => {
      repo.git('add', 'a.txt')
      return ['--staged']
    },
    'with more of it in the index': (repo) => {
      repo.git('add', 'a.txt')
      return []
    },
  }
  const makeWork = () => {
    const repo = makeRepo({
      files: { 'a.txt': base, 'b.txt': 'b\n', '.galley.json': policyOf(check('sed -i s/two/TWO/ *.txt')) },
    })
    repo.write('a.txt', captured)
    repo.write('b.txt', 'mine\n')
    return repo
  }

  test.each(Object.keys(states))('%s', async (name) => {
    using repo = makeWork()
    const options = states[name]?.(repo) ?? []
    const paths = options.length === 0 ? ['a.txt'] : []
    const { json } = await cliHere(repo, ['capture', ...options, ...paths, '--json'])
    expect(json.change).toMatchObject({ revision: 2, files: [{ path: 'a.txt' }] })
    expect((await cliHere(repo, ['land', json.change.id, '--approve'])).stderr).toBe('')
    expect(repo.read('a.txt')).toBe(captured.replace('two', 'TWO'))
    expect(repo.git('status', '--porcelain')).toBe(' M b.txt')
    expect(repo.git('show', 'HEAD:a.txt')).toBe(captured.replace('two', 'TWO').trim())
  })

  test.each(['untracked', 'intended to be added'])('a new file, %s', async (name) => {
    using repo = makeWork()
    repo.write('new.txt', 'two\n')
    if (name !== 'untracked') repo.git('add', '--intent-to-add', 'new.txt')
    const { json } = await cliHere(repo, ['capture', 'new.txt', '--json'])
    expect(json.change).toMatchObject({ revision: 2 })
    const landed = await cliHere(repo, ['land', json.change.id, '--approve'])
    expect(landed.stderr).toBe('')
    expect(repo.read('new.txt')).toBe('TWO\n')
    expect(landed.stdout).not.toContain('was there already')
    expect(repo.git('status', '--porcelain').split('\n')).toEqual([' M a.txt', ' M b.txt'])
  })

  test.each<readonly [what: string, options: readonly string[]]>([
    ['a hunk was captured', ['a.txt', '--hunk', '1']],
    ['the index was captured', ['--staged']],
  ])('and never over work beside it in the same file, when %s', async (_, options) => {
    using repo = makeWork()
    const long = `${base}6\n7\n8\n9\n10\nlast\n`
    repo.write('a.txt', long)
    repo.git('commit', '-qm', 'longer', 'a.txt')
    repo.write('a.txt', long.replace('one', 'two'))
    if (options.includes('--staged')) repo.git('add', 'a.txt')
    repo.write('a.txt', long.replace('one', 'two').replace('last', 'mine alone'))
    const { json } = await cliHere(repo, ['capture', ...options, '--json'])
    expect(json.change).toMatchObject({ revision: 2 })
    const before = repo.snapshot()
    expect((await cliHere(repo, ['land', json.change.id, '--approve', '--json'])).json.error.code).toBe(
      'overlaps-uncommitted',
    )
    expect(repo.snapshot()).toEqual(before)
  })

  test.each([
    ['elsewhere in the file', 'five', 'FIVE, later'],
    ['in the same lines', 'two', 'two, later'],
  ])('and what was written since is not overwritten: %s', async (_, from, to) => {
    using repo = makeWork()
    const { json } = await cliHere(repo, ['capture', 'a.txt', '--json'])
    repo.write('a.txt', captured.replace(from, to))
    const before = repo.snapshot()
    expect((await cliHere(repo, ['land', json.change.id, '--approve', '--json'])).json.error.code).toBe(
      'overlaps-uncommitted',
    )
    expect(repo.snapshot()).toEqual(before)
  })
})

describe('work of the user, where a check rewrites what an agent proposed', () => {
  test('is not taken for the change: a new file with the bytes of the first revision stays', async () => {
    using repo = repoWith(check('sed -i s/two/TWO/ *.txt'))
    await using galley = await openGalley(repo)
    const edits = [{ op: 'write', path: 'new.txt', content: 'two\n' }]
    const { change } = await galley.propose({ batch: batch(edits) })
    repo.write('new.txt', 'two\n')
    expect(change.revision).toBeGreaterThan(1)
    await galley.approve({ id: change.id })
    const before = repo.snapshot()
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('would-overwrite')
    expect(repo.snapshot()).toEqual(before)
  })

  test.each(['lf', 'crlf'])('that was taken in on request lands with it: %s', async (eol) => {
    const text = (...lines: readonly string[]) =>
      lines.map((line) => line + (eol === 'lf' ? '\n' : '\r\n')).join('')
    using repo = makeRepo({
      files: {
        '.gitattributes': `a.txt text eol=${eol}\n`,
        'a.txt': text('one', '2', '3'),
        '.galley.json': policyOf(check('sed -i s/two/TWO/ a.txt')),
      },
    })
    repo.write('a.txt', text('one', 'mine', '2', '3'))
    const edit = { op: 'replace', path: 'a.txt', old: 'one', new: 'two' }
    const input = JSON.stringify(batch([edit]))
    const { json } = await cliHere(repo, ['propose', '-', '--include-uncommitted', '--json'], { input })
    expect(json.change).toMatchObject({ revision: 2 })
    expect((await cliHere(repo, ['land', json.change.id, '--approve'])).stderr).toBe('')
    expect(repo.read('a.txt')).toBe(text('TWO', 'mine', '2', '3'))
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test.each([
    ['in other lines', 'last', 'last, later'],
    ['in the same', 'mine', 'mine, later'],
  ])('and that was written after it was taken in is not overwritten: %s', async (_, from, to) => {
    const work = 'one\nmine\n2\n3\n4\nlast\n'
    using repo = makeRepo({
      files: {
        'a.txt': work.replace('mine\n', ''),
        '.galley.json': policyOf(check('sed -i s/two/TWO/ a.txt')),
      },
    })
    repo.write('a.txt', work)
    const input = JSON.stringify(batch([{ op: 'replace', path: 'a.txt', old: 'one', new: 'two' }]))
    const { json } = await cliHere(repo, ['propose', '-', '--include-uncommitted', '--json'], { input })
    repo.write('a.txt', work.replace(from, to))
    const before = repo.snapshot()
    expect((await cliHere(repo, ['land', json.change.id, '--approve', '--json'])).json.error.code).toBe(
      'overlaps-uncommitted',
    )
    expect(repo.snapshot()).toEqual(before)
  })
})

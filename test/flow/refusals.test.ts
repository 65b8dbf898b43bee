import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { errorCodes, hintFor } from '../../src/model/error-codes.ts'
import { quote } from '../../src/policy/quote.ts'
import { batch, gitInput, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const files = { 'a.txt': 'one\ntwo\nthree\ntwo\n', 'd/b.txt': 'b\n', 'bin.dat': 'x\0y\n' }
const change = (edit: object) => batch([edit])
const replace = (path: string) => change({ op: 'replace', path, old: 'one', new: '1' })

interface Row {
  readonly name: string
  readonly input: object | string
  readonly code: string
  readonly data?: object
  readonly setup?: (repo: TestRepo) => void
}

const rows: readonly Row[] = [
  {
    name: 'JSON that is cut short, with its place',
    input: '{"version": 1,\n "title": ',
    code: 'invalid-json',
    data: { line: 2 },
  },
  {
    name: 'a key that nobody knows',
    input: batch([{ op: 'delete', path: 'a.txt', phat: 1 }]),
    code: 'invalid-batch',
  },
  {
    name: 'a wrong type, by its pointer',
    input: batch([{ op: 'insert', path: 'a.txt', after: 'x', content: '' }]),
    code: 'invalid-batch',
  },
  { name: 'no edit', input: batch([]), code: 'empty-batch' },
  { name: 'an absolute path', input: replace('/etc/passwd'), code: 'outside-repository' },
  { name: 'a path that climbs out', input: replace('../x'), code: 'outside-repository' },
  { name: '.git in any case', input: replace('d/.GIT/config'), code: 'path-invalid' },
  { name: '.git by its short name', input: replace('git~1/config'), code: 'path-invalid' },
  { name: '.git with an ignorable character', input: replace('.g\u200cit/config'), code: 'path-invalid' },
  { name: 'a control character in a path', input: replace('a\u0007.txt'), code: 'path-invalid' },
  {
    name: 'a base that does not exist',
    input: batch([{ op: 'delete', path: 'a.txt' }], { base: 'nowhere' }),
    code: 'stale',
  },
  {
    name: 'a base that looks like an option',
    input: batch([{ op: 'delete', path: 'a.txt' }], { base: '--help' }),
    code: 'stale',
  },
  {
    name: 'a branch to land on that does not exist',
    input: batch([{ op: 'delete', path: 'a.txt' }], { onto: 'nowhere' }),
    code: 'stale',
  },
  {
    name: 'text that stands nowhere',
    input: change({ op: 'replace', path: 'a.txt', old: 'four', new: '4' }),
    code: 'no-match',
  },
  {
    name: 'text that stands twice',
    input: change({ op: 'replace', path: 'a.txt', old: 'two', new: '2' }),
    code: 'ambiguous-match',
  },
  { name: 'a file that is not there', input: replace('nope.txt'), code: 'not-found' },
  {
    name: 'creating what exists',
    input: change({ op: 'write', path: 'a.txt', mode: 'create', content: '' }),
    code: 'exists',
  },
  {
    name: 'creating beneath a file',
    input: change({ op: 'write', path: 'a.txt/b', mode: 'create', content: '' }),
    code: 'exists',
  },
  { name: 'a directory', input: replace('d'), code: 'is-directory' },
  {
    name: 'a text edit of bytes',
    input: change({ op: 'replace', path: 'bin.dat', old: 'x', new: 'z' }),
    code: 'binary',
  },
  {
    name: 'lines that nobody read',
    input: change({ op: 'lines', path: 'a.txt', from: 1, to: 1, content: 'x' }),
    code: 'not-read',
  },
  {
    name: 'another case of a file',
    input: change({ op: 'write', path: 'A.txt', mode: 'create', content: '' }),
    code: 'case-collision',
  },
  {
    name: 'nothing at all',
    input: change({ op: 'replace', path: 'a.txt', old: 'one', new: 'one' }),
    code: 'no-change',
  },
  {
    name: 'a file that git does not track',
    input: replace('mine.txt'),
    code: 'untracked',
    setup: (repo) => repo.write('mine.txt', 'one\n'),
  },
  {
    name: 'a symbolic link',
    input: replace('link.txt'),
    code: 'symlink',
    setup: (repo) => {
      symlinkSync('a.txt', join(repo.dir, 'link.txt'))
      repo.commit('link')
    },
  },
  {
    name: 'a path through a symbolic link',
    input: change({ op: 'write', path: 'out/x.txt', mode: 'create', content: 'x' }),
    code: 'symlink',
    setup: (repo) => {
      mkdirSync(join(repo.home, 'outside'))
      symlinkSync(join(repo.home, 'outside'), join(repo.dir, 'out'))
    },
  },
  {
    name: 'a file with two names',
    input: replace('a.txt'),
    code: 'hard-linked',
    setup: (repo) => linkSync(join(repo.dir, 'a.txt'), join(repo.home, 'other')),
  },
  {
    name: 'a file whose allowed filter fails',
    input: replace('a.txt'),
    code: 'filter-failed',
    setup: (repo) => {
      repo.write('.gitattributes', 'a.txt filter=broken\n')
      repo.commit('attributes')
      repo.git('config', '--global', 'galley.allowFilter', 'broken')
      repo.git('config', 'filter.broken.clean', 'false')
    },
  },
  {
    name: 'a FIFO, without waiting for it',
    input: replace('pipe'),
    code: 'special-file',
    setup: (repo) => void execFileSync('mkfifo', [join(repo.dir, 'pipe')]),
  },
  {
    name: 'a path that the policy denies',
    input: replace('a.txt'),
    code: 'denied-path',
    setup: (repo) => {
      repo.write('.galley.json', '{"deny":["a.txt"]}')
      repo.commit('policy')
    },
  },
  {
    name: 'any edit where the mode is read-only',
    input: replace('a.txt'),
    code: 'read-only',
    setup: (repo) => {
      repo.write('.galley.json', '{"mode":"read-only"}')
      repo.commit('policy')
    },
  },
  {
    name: 'an edit of uncommitted lines',
    input: change({ op: 'replace', path: 'a.txt', old: 'ONE', new: '1' }),
    code: 'overlaps-uncommitted',
    setup: (repo) => repo.write('a.txt', 'ONE\ntwo\nthree\ntwo\n'),
  },
]

const tool = (name: string, input: object) => batch([{ tool: name, input }])
const lines = (more: object) => change({ op: 'lines', path: 'a.txt', from: 1, to: 1, content: 'x', ...more })
const policy = (text: string) => (repo: TestRepo) => {
  repo.write('.galley.json', text)
  repo.commit('policy')
}

const furtherRows: readonly Row[] = [
  {
    name: 'a file beyond the limit',
    input: replace('a.txt'),
    code: 'too-large',
    setup: policy('{"limits":{"fileMaxBytes":5}}'),
  },
  { name: 'a tool that nobody has', input: tool('edit_fiel', { path: 'a.txt' }), code: 'unknown-tool' },
  { name: 'a patch that is none', input: change({ op: 'patch', text: 'no patch' }), code: 'parse-error' },
  {
    name: 'a new file in a new directory, for a system that makes none',
    input: tool('write_file', { path: 'new/a.txt', content: 'x', mode: 'create' }),
    code: 'parent-missing',
  },
  {
    name: 'a place that is not UTF-8, for a system that needs it',
    input: tool('edit_file', { path: 'l1.txt', old_string: 'one', new_string: '1' }),
    code: 'not-utf8',
    setup: (repo) => {
      repo.write('l1.txt', Buffer.from('one\n\xe9\n', 'latin1'))
      repo.commit('latin')
    },
  },
  {
    name: 'text for what Git LFS keeps',
    input: replace('p.bin'),
    code: 'lfs-pointer',
    setup: (repo) => {
      repo.write('p.bin', 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n')
      repo.commit('pointer')
    },
  },
  {
    name: 'a path behind a filter',
    input: replace('a.txt'),
    code: 'filtered',
    setup: (repo) => {
      repo.write('.gitattributes', 'a.txt filter=f\n')
      repo.commit('attributes')
      repo.git('config', 'filter.f.clean', 'cat')
    },
  },
  {
    name: 'a path in a submodule',
    input: replace('sub/a.txt'),
    code: 'submodule',
    setup: (repo) => {
      const head = repo.git('rev-parse', 'HEAD')
      repo.git('update-index', '--add', '--cacheinfo', `160000,${head},sub`)
      repo.git('commit', '-q', '-m', 'submodule')
    },
  },
  {
    name: 'a result that stands there',
    input: change({ op: 'replace', path: 'a.txt', old: 'drei', new: 'three' }),
    code: 'already-applied',
  },
  {
    name: 'two edits of one text',
    input: batch([
      { op: 'replace', path: 'a.txt', old: 'one\ntwo', new: 'x' },
      { op: 'replace', path: 'a.txt', old: 'one', new: 'y' },
    ]),
    code: 'overlap',
  },
  { name: 'lines past the end', input: lines({ from: 9, to: 9 }), code: 'out-of-range' },
  { name: 'a quotation of one line', input: lines({ expected: 'one' }), code: 'weak-evidence' },
  {
    name: 'new text with a part left out',
    input: change({ op: 'replace', path: 'a.txt', old: 'one', new: '// ... rest of the code unchanged' }),
    code: 'omission',
  },
  {
    name: 'a file that is another than was read',
    input: change({ op: 'replace', path: 'a.txt', old: 'one', new: '1', blob: 'f'.repeat(40) }),
    code: 'stale-read',
  },
]

/** Codes that say what is wrong with the batch as a whole, its base or the repository: they name no place in it. */
const ofTheWhole = new Set<string>(['stale', 'read-only', 'filter-failed'])

describe('propose refuses', () => {
  test.each([...rows, ...furtherRows])(
    '$name ($code), and nothing changes',
    async ({ input, code, data, setup }) => {
      using repo = makeRepo({ files })
      setup?.(repo)
      await using galley = await openGalley(repo)
      const before = repo.snapshot()
      const bytes = typeof input === 'string' ? Buffer.from(input) : input
      const error = await refusal(() => galley.propose({ batch: bytes }))
      expect({ code: error.code, data: error.data }).toMatchObject({ code, data: data ?? {} })
      expect(repo.snapshot()).toEqual(before)
      expect((await galley.status()).pending).toEqual([])
      if (!ofTheWhole.has(code)) expect(error.message).toMatch(/^edit \d+: |^batch at \/|line \d+/)
      const path = code === 'unknown-tool' ? '' : String(error.data['path'] ?? '')
      expect(error.message).toContain(quote(path).slice(1, -1))
      // What to do next is said to whoever reads the code alone, and is not what happened said again.
      expect((error.hint ?? hintFor(error.code)).length).toBeGreaterThan(10)
    },
  )

  test('with every code that an edit can have', () => {
    const shown = new Set([...rows, ...furtherRows].map((row) => row.code))
    const listed = errorCodes.slice(errorCodes.indexOf('invalid-json'), errorCodes.indexOf('unknown-change'))
    // Two systems that know one tool read one call alike, or only one takes it; see registry.test.ts.
    expect(listed.filter((code) => !shown.has(code))).toEqual(['ambiguous-dialect'])
  })

  test('every failing edit of a batch is listed, not only the first', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const edits = [
      { op: 'replace', path: 'a.txt', old: 'one', new: '1' },
      { op: 'replace', path: 'a.txt', old: 'nine', new: '9' },
      { op: 'replace', path: 'd/b.txt', old: 'zzz', new: '9' },
    ]
    const error = await refusal(() => galley.propose({ batch: batch(edits) }))
    expect(error.data['failures']).toMatchObject([
      { item: 1, code: 'no-match' },
      { item: 2, code: 'no-match' },
    ])
  })
})

async function approved(
  repo: TestRepo,
  edit: object = { op: 'replace', path: 'a.txt', old: 'one', new: '1' },
) {
  const galley = await openGalley(repo)
  const proposed = await galley.propose({ batch: change(edit) })
  await galley.approve({ id: proposed.change.id })
  return { galley, id: proposed.change.id, change: proposed.change }
}

async function expectRefusedLanding(
  repo: TestRepo,
  galley: Awaited<ReturnType<typeof openGalley>>,
  id: string,
  code: string,
) {
  const before = repo.snapshot()
  const error = await refusal(() => galley.land({ id }))
  expect(error.code).toBe(code)
  expect(repo.snapshot()).toEqual(before)
  await galley.close()
}

describe('land refuses', () => {
  test('a change that nobody approved', async () => {
    using repo = makeRepo({ files })
    const galley = await openGalley(repo)
    const { change: staged } = await galley.propose({ batch: replace('a.txt') })
    await expectRefusedLanding(repo, galley, staged.id, 'not-approved')
  })

  test('when a touched line was edited after the approval', async () => {
    using repo = makeRepo({ files })
    const { galley, id } = await approved(repo)
    repo.write('a.txt', 'one!\ntwo\nthree\ntwo\n')
    await expectRefusedLanding(repo, galley, id, 'overlaps-uncommitted')
  })

  test('when the branch moved on the same lines, with the conflict drawn', async () => {
    using repo = makeRepo({ files })
    const { galley, id } = await approved(repo)
    repo.write('a.txt', 'uno\ntwo\nthree\ntwo\n')
    repo.commit('mine')
    const before = repo.snapshot()
    const error = await refusal(() => galley.land({ id }))
    expect(error.code).toBe('conflict')
    expect(error.data['drawn']).toMatchObject([
      {
        path: 'a.txt',
        drawing: { kind: 'drawn', conflicts: [{ ours: { text: ['uno'] }, theirs: { text: ['1'] } }] },
      },
    ])
    expect(repo.snapshot()).toEqual(before)
    await galley.close()
  })

  test('when the branch moved elsewhere in the same file, until the merge is approved as a new revision', async () => {
    using repo = makeRepo({ files })
    const { galley, id } = await approved(repo)
    repo.write('a.txt', 'one\ntwo\nthree\nTWO\n')
    repo.commit('mine')
    const before = repo.snapshot()
    const error = await refusal(() => galley.land({ id }))
    expect(error).toMatchObject({ code: 'not-approved', data: { revision: 2 } })
    expect(repo.snapshot()).toEqual(before)
    await galley.approve({ id })
    await galley.land({ id })
    expect(repo.read('a.txt')).toBe('1\ntwo\nthree\nTWO\n')
    await galley.close()
  })

  test('an untracked or ignored file in the way', async () => {
    using repo = makeRepo({ files: { ...files, '.gitignore': 'ignored.txt\n' } })
    for (const path of ['untracked.txt', 'ignored.txt']) {
      const { galley, id } = await approved(repo, { op: 'write', path, mode: 'create', content: 'agent\n' })
      repo.write(path, 'mine\n')
      await expectRefusedLanding(repo, galley, id, 'would-overwrite')
    }
  })

  test.each([
    ['message', (text: string) => text.replace('A change', 'Another change')],
    ['author', (text: string) => text.replace('author Test User', 'author Someone Else')],
    [
      'bytes',
      (text: string, repo: TestRepo) =>
        text.replace(/^tree [0-9a-f]+/, `tree ${repo.git('rev-parse', 'HEAD^{tree}')}`),
    ],
  ])('when the %s of the staged commit was edited by hand in the store', async (_name, tamper) => {
    using repo = makeRepo({ files })
    const { galley, id, change: staged } = await approved(repo)
    const store = ['--git-dir', join(repo.dir, '.git/galley/store.git')]
    const text = repo.git(...store, 'cat-file', 'commit', staged.commit)
    const forged = gitInput(
      repo,
      [...store, 'hash-object', '-t', 'commit', '-w', '--stdin'],
      tamper(`${text}\n`, repo),
    )
    repo.git(...store, 'update-ref', `refs/galley/changes/${id}/1`, forged)
    await expectRefusedLanding(repo, galley, id, 'digest-mismatch')
  })

  test.each([
    ['in the log too', true],
    ['in the approval alone', false],
  ])('a digest edited by hand %s', async (_name, inLog) => {
    using repo = makeRepo({ files })
    const { galley, id, change: staged } = await approved(repo)
    const store = ['--git-dir', join(repo.dir, '.git/galley/store.git')]
    const [ref = ''] = repo
      .git(...store, 'for-each-ref', '--format=%(refname)', `refs/galley/approvals/${id}/`)
      .split('\n')
    const other = staged.digest.replace(/^./, (c) => (c === '0' ? '1' : '0'))
    const tag = repo.git(...store, 'cat-file', 'tag', ref).replaceAll(staged.digest, other)
    const forged = gitInput(repo, [...store, 'mktag'], `${tag}\n`)
    repo.git(...store, 'update-ref', '-d', ref)
    repo.git(...store, 'update-ref', ref.replace(/[^/]+$/, forged.slice(0, 12)), forged)
    if (inLog) {
      const log = `refs/galley/log/${id}`
      const event = repo
        .git(...store, 'cat-file', 'blob', `${log}:event.json`)
        .replaceAll(staged.digest, other)
      const blob = gitInput(repo, [...store, 'hash-object', '-w', '--stdin'], event)
      const tree = gitInput(repo, [...store, 'mktree'], `100644 blob ${blob}\tevent.json\n`)
      repo.git(
        ...store,
        'update-ref',
        log,
        repo.git(...store, 'commit-tree', tree, '-p', `${log}^`, '-m', 'approved'),
      )
    }
    const before = repo.snapshot()
    const error = await refusal(() => galley.land({ id }))
    expect(['digest-mismatch', 'forged', 'not-approved']).toContain(error.code)
    expect(repo.snapshot()).toEqual(before)
    await galley.close()
  })

  test('when a file that the agent relied on has moved and the policy says so; the default only warns', async () => {
    using repo = makeRepo({ files: { ...files, '.galley.json': '{"freshness":{"reads":"refuse"}}' } })
    const galley = await openGalley(repo)
    const { blob } = await galley.read({ path: 'd/b.txt' })
    const edits = [{ op: 'replace', path: 'a.txt', old: 'one', new: '1' }]
    const { change: staged } = await galley.propose({
      batch: batch(edits, { reads: [{ path: 'd/b.txt', blob }] }),
    })
    await galley.approve({ id: staged.id })
    repo.write('d/b.txt', 'moved\n')
    await expectRefusedLanding(repo, galley, staged.id, 'stale')
  })

  test('while a merge is under way', async () => {
    using repo = makeRepo({ files })
    const { galley, id } = await approved(repo)
    writeFileSync(join(repo.dir, '.git/MERGE_HEAD'), `${repo.git('rev-parse', 'HEAD')}\n`)
    await expectRefusedLanding(repo, galley, id, 'in-progress')
  })

  test('when a required check fails', async () => {
    using repo = makeRepo({
      files: { ...files, '.galley.json': '{"checks":[{"name":"never","run":"echo no; exit 3"}]}' },
    })
    const { galley, id } = await approved(repo)
    await expectRefusedLanding(repo, galley, id, 'checks-failed')
  })

  test('a change that was rejected or has landed', async () => {
    using repo = makeRepo({ files })
    const { galley, id } = await approved(repo)
    await galley.land({ id })
    await expectRefusedLanding(repo, galley, id, 'wrong-state')
  })
})

describe('approve refuses', () => {
  test('where the environment shows an agent at work', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo, { env: { GALLEY_AGENT: 'x' } })
    const { change: staged } = await galley.propose({ batch: replace('a.txt') })
    const before = repo.snapshot()
    expect((await refusal(() => galley.approve({ id: staged.id }))).code).toBe('agent-may-not-approve')
    expect(repo.snapshot()).toEqual(before)
  })

  test('another digest than the current one, an unknown id and an ambiguous one', async () => {
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const { change: staged } = await galley.propose({ batch: replace('a.txt') })
    expect((await refusal(() => galley.approve({ id: staged.id, digest: 'ab' }))).code).toBe(
      'digest-mismatch',
    )
    expect((await refusal(() => galley.approve({ id: 'gzzzzzzzzz' }))).code).toBe('unknown-change')
    expect((await refusal(() => galley.approve({ id: '../../x' }))).code).toBe('unknown-change')
  })
})

describe('with --include-uncommitted', () => {
  test('the work in the edited file becomes part of the change and lands, also on the very lines of the edit', async () => {
    using repo = makeRepo({ files })
    repo.write('a.txt', 'ONE\ntwo\nthree\ntwo\nmine\n')
    await using galley = await openGalley(repo)
    const edit = { op: 'replace', path: 'a.txt', old: 'ONE', new: '1' }
    const { change: staged } = await galley.propose({ batch: change(edit), includeUncommitted: true })
    await galley.approve({ id: staged.id })
    await galley.land({ id: staged.id })
    expect(repo.git('show', 'HEAD:a.txt')).toBe('1\ntwo\nthree\ntwo\nmine')
    expect(repo.git('status', '--porcelain')).toBe('')
  })
})

test('in a scratch tree galley says whose it is, and starts no life of its own', async () => {
  using repo = makeRepo({ files })
  await using galley = await openGalley(repo)
  const { change: staged } = await galley.propose({ batch: replace('a.txt') })
  const { path } = await galley.openTree(staged.id)
  expect((await refusal(() => openGalley(repo, { dir: path }))).data['owner']).toBe(repo.dir)
})

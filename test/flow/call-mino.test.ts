import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { type Agent, no, startAgent, yes } from './call-harness.ts'

/**
 * Mino's rules, statement by statement; the number of each is in the name of its test.
 *
 * Not here, with the reason:
 * - M05 ("/new and /resume do not change the project directory"): there is no chat; each call names its repository.
 * - M21 ("/exit ends the turn"): there is no chat to leave; any such answer is no, as the prompt's test shows.
 * - M40 to M43 (temporary file beside the target, link or rename, the directory synced): the landing's own steps, which
 *   stage aside and move by rename and link; tested in test/landing.
 * - M50's last part ("before the next model request") and M61 (context budget): galley makes no model requests.
 * - M60's "8 model requests": as above.
 * - M64 (Bash): galley runs no commands for agents.
 */
const greet = 'package main\n\nconst greeting = "hi"\n'
const edit = { path: 'greet.go', old_string: '"hi"', new_string: '"hello"' }
const edited = 'package main\n\nconst greeting = "hello"\n'

interface Scene extends AsyncDisposable {
  readonly repo: TestRepo
  readonly agent: Agent
}

async function scene(
  files: Readonly<Record<string, string | Uint8Array>> = { 'greet.go': greet },
): Promise<Scene> {
  const repo = makeRepo({ files })
  const agent = await startAgent(repo, 'mino')
  return {
    repo,
    agent,
    [Symbol.asyncDispose]: async () => {
      await agent[Symbol.asyncDispose]()
      repo[Symbol.dispose]()
    },
  }
}

/** One repository for all calls that change nothing: each is compared whole before and after. */
function sharedScene(files?: Readonly<Record<string, string>>): () => Scene {
  let made: Scene | null = null
  beforeAll(async () => {
    made = await scene(files)
  })
  afterAll(async () => made?.[Symbol.asyncDispose]())
  return () => {
    if (made === null) throw new Error('the scene is made before the tests')
    return made
  }
}

/** Expects a call to end so without a question, and without a change of anything of the user's. */
async function expectRefused(
  { repo, agent }: Scene,
  tool: string,
  input: object,
  text?: RegExp,
): Promise<void> {
  const before = repo.snapshot()
  const answer = await agent.call(tool, input)
  expect(answer.result.kind).toBe('invalid_arguments')
  if (text !== undefined) expect(answer.result.text).toMatch(text)
  expect(agent.screens).toHaveLength(0)
  expect(answer.change).toBeNull()
  expect(repo.snapshot()).toEqual(before)
}

test('every statement of the checklist has a test here or in call-session.test.ts, or a reason above', () => {
  const ranges = ['01-05', '10-15', '20-25', '30-34', '40-46', '50-55', '60-64'] as const
  const statements = ranges.flatMap((range) => {
    const [from = 0, to = 0] = range.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, i) => `M${String(from + i).padStart(2, '0')}`)
  })
  const sources = ['call-mino.test.ts', 'call-session.test.ts'].map((name) =>
    readFileSync(join(import.meta.dirname, name), 'utf8'),
  )
  const named = sources
    .join('')
    .replace(/M(\d\d) to M(\d\d)/g, (_, from: string, to: string) =>
      statements.filter((each) => each >= `M${from}` && each <= `M${to}`).join(' '),
    )
  expect(statements.filter((each) => !named.includes(each))).toEqual([])
})

test("the chapter's own scenario, from the first read to the session that loads without its file", async () => {
  await using s = await scene()
  const { agent, repo } = s
  agent.answers.push(yes, no)
  expect((await agent.call('read_file', { path: 'greet.go' })).result.text).toBe(greet)
  expect(agent.screens).toHaveLength(0)

  expect((await agent.call('edit_file', edit)).result.kind).toBe('completed')
  const screen = agent.screens[0]?.native?.text ?? ''
  for (const field of ['Starting line', 'Remove', 'Insert']) expect(screen).toContain(field)
  expect(repo.read('greet.go')).toBe(edited)

  expect((await agent.call('edit_file', edit)).result.kind).toBe('invalid_arguments')
  expect(agent.screens).toHaveLength(1)

  const overwrite = { path: 'greet.go', content: 'package other\n', mode: 'overwrite' }
  expect((await agent.call('write_file', overwrite)).result.kind).toBe('denied')
  expect(repo.read('greet.go')).toBe(edited)

  rmSync(join(repo.dir, 'greet.go'))
  await using again = await startAgent(repo, 'mino')
  const gone = await again.call('read_file', { path: 'greet.go' })
  expect(gone.result).toMatchObject({ kind: 'invalid_arguments' })
  expect(again.journal().filter(({ kind }) => kind === 'outcome')).toHaveLength(5)
})

test.each([
  // kind, whether it began, was asked about, touched its file
  ['completed', yes, true, true, true],
  ['denied', no, false, true, false],
  ['invalid_arguments', yes, false, false, false],
] as const)('a call that is %s: begun, asked, file touched', async (kind, answer, begun, asked, touched) => {
  await using s = await scene()
  s.agent.answers.push(answer)
  const input = kind === 'invalid_arguments' ? { ...edit, old_string: 'nowhere' } : edit
  expect((await s.agent.call('edit_file', input)).result.kind).toBe(kind)
  expect(s.agent.journal().some((line) => line.kind === 'start')).toBe(begun)
  expect(s.agent.screens.length > 0).toBe(asked)
  expect(s.repo.read('greet.go') !== greet).toBe(touched)
})

describe('tools and arguments', () => {
  const shared = sharedScene()

  test('M01: read_file, write_file and edit_file are the tools', async () => {
    await using s = await scene()
    s.agent.answers.push(yes, yes)
    expect((await s.agent.call('read_file', { path: 'greet.go' })).result).toEqual({
      kind: 'completed',
      text: greet,
    })
    expect((await s.agent.call('edit_file', edit)).result.kind).toBe('completed')
    expect(
      (await s.agent.call('write_file', { path: 'n.txt', content: 'n\n', mode: 'create' })).result.kind,
    ).toBe('completed')
    await expectRefused({ ...s, agent: await startAgent(s.repo, 'mino') }, 'delete_file', {
      path: 'greet.go',
    })
  })

  test.each([
    ['missing', {}],
    ['create_or_overwrite', { mode: 'create_or_overwrite' }],
    ['a number', { mode: 1 }],
  ])('M02: write_file with the mode %s is invalid', async (_, mode) => {
    const s = shared()
    await expectRefused(s, 'write_file', { path: 'n.txt', content: 'n\n', ...mode }, /mode/)
  })

  test.each([
    ['empty', { old_string: '' }],
    ['equal to new_string', { old_string: '"hello"' }],
    ['absent', { old_string: '"hey"' }],
    ['there twice', { old_string: 'n' }],
    ['with replace_all', { replace_all: true }],
  ])('M03: edit_file with an old_string that is %s is invalid', async (_, change) => {
    const s = shared()
    await expectRefused(s, 'edit_file', { ...edit, ...change })
  })

  test('M03: an empty new_string removes', async () => {
    await using s = await scene()
    s.agent.answers.push(yes)
    await s.agent.call('edit_file', { path: 'greet.go', old_string: 'package main\n\n', new_string: '' })
    expect(s.repo.read('greet.go')).toBe('const greeting = "hi"\n')
  })

  test.each([
    ['no JSON', 'nonsense', /JSON at line 1/],
    ['more than one value', '{"tool":"read_file","input":{"path":"greet.go"}} {}', /JSON at line 1/],
    ['a key twice', '{"tool":"read_file","input":{"path":"greet.go","path":"x"}}', /already/],
    ['a key that nobody knows', '{"tool":"read_file","input":{"path":"greet.go","from":1}}', /'from'/],
    ['a key beside tool and input', '{"tool":"read_file","input":{"path":"greet.go"},"id":1}', /"id"/],
    ['no object as input', '{"tool":"read_file","input":["greet.go"]}', /input/],
    [
      'a NUL in a text',
      '{"tool":"edit_file","input":{"path":"greet.go","old_string":"\\u0000","new_string":""}}',
      /NUL/,
    ],
    ['a NUL in a path', '{"tool":"read_file","input":{"path":"greet\\u0000.go"}}', /U\+0000/],
    ['half of a surrogate pair', '{"tool":"read_file","input":{"path":"\\ud800"}}', /surrogate/],
    [
      'two calls',
      '{"calls":[{"tool":"read_file","input":{"path":"a"}},{"tool":"read_file","input":{"path":"b"}}]}',
      /one call/,
    ],
  ])('M04: arguments with %s are invalid', async (_, text, expected) => {
    const s = shared()
    const answer = await s.agent.galley.call({ call: Buffer.from(text), dialect: 'mino', session: 's' })
    expect(answer).toMatchObject({ ok: false, change: null, result: { kind: 'invalid_arguments' } })
    expect(answer.result.text).toMatch(expected)
  })

  test('M04: bytes that are not UTF-8 are invalid, and a text over the limit is', async () => {
    const s = shared()
    const latin1 = Buffer.from('{"tool":"read_file","input":{"path":"caf\xe9"}}', 'latin1')
    expect((await s.agent.galley.call({ call: latin1 })).result.kind).toBe('invalid_arguments')
    await expectRefused(
      s,
      'write_file',
      { path: 'n.txt', content: 'x'.repeat(65_537), mode: 'create' },
      /65537 bytes/,
    )
  })

  test('M05: the path is relative to the root of the work tree, wherever the command is started', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet, 'sub/x.txt': 'x\n' } })
    const input = JSON.stringify({ tool: 'read_file', input: { path: 'greet.go' } })
    expect(cli(repo, ['call', '--dialect', 'mino'], { cwd: join(repo.dir, 'sub'), input }).stdout).toBe(greet)
  })
})

function twoNames(repo: TestRepo, path: string): void {
  repo.write(path, 'x\n')
  linkSync(join(repo.dir, path), join(repo.dir, `${path}-second`))
}

describe('preconditions', () => {
  const shared = sharedScene()

  test('M10: a read gives the text as it is, without line numbers, asking nobody', async () => {
    await using s = await scene({ 'a.txt': '\ufeffa\r\n\tb' })
    const answer = await s.agent.call('read_file', { path: 'a.txt' })
    expect(answer).toMatchObject({
      ok: true,
      change: null,
      result: { kind: 'completed', text: '\ufeffa\r\n\tb' },
    })
    expect(s.agent.screens).toHaveLength(0)
  })

  test('M11: create needs an absent target and a directory that exists, which it does not make', async () => {
    await using s = await scene()
    await expectRefused(s, 'write_file', { path: 'greet.go', content: 'x\n', mode: 'create' }, /exists/)
    await expectRefused(s, 'write_file', { path: 'no/n.go', content: 'x\n', mode: 'create' }, /directory/)
    expect(existsSync(join(s.repo.dir, 'no'))).toBe(false)
  })

  test('M11: overwrite needs the file, and keeps its permissions', async () => {
    await using s = await scene({ 'run.sh': '#!/bin/sh\n' })
    chmodSync(join(s.repo.dir, 'run.sh'), 0o755)
    s.repo.commit('executable')
    await expectRefused(s, 'write_file', { path: 'none.sh', content: 'x\n', mode: 'overwrite' })
    s.agent.answers.push(yes)
    await s.agent.call('write_file', { path: 'run.sh', content: '#!/bin/sh\necho\n', mode: 'overwrite' })
    expect(s.repo.read('run.sh')).toBe('#!/bin/sh\necho\n')
    expect(statSync(join(s.repo.dir, 'run.sh')).mode & 0o777).toBe(0o755)
  })

  const unusable: readonly (readonly [string, (repo: TestRepo, path: string) => void])[] = [
    ['a symbolic link', (repo, path) => symlinkSync('greet.go', join(repo.dir, path))],
    ['a link that leads outside', (repo, path) => symlinkSync('/etc/hostname', join(repo.dir, path))],
    ['a FIFO', (repo, path) => void execFileSync('mkfifo', [join(repo.dir, path)])],
    ['a directory', (repo, path) => repo.write(`${path}/x`, 'x\n')],
    ['one of two names', (repo, path) => twoNames(repo, path)],
    ['not UTF-8', (repo, path) => repo.write(path, Buffer.from([0x63, 0xe9, 0x0a]))],
    ['text with a NUL at its end', (repo, path) => repo.write(path, `${'x'.repeat(10_000)}\0`)],
    ['larger than 64 KiB', (repo, path) => repo.write(path, 'x'.repeat(65_537))],
  ]

  test.each(unusable)(
    'M12: a file that is %s is neither read nor edited nor overwritten',
    async (name, make) => {
      const s = shared()
      const path = `bad-${unusable.findIndex(([known]) => known === name)}`
      make(s.repo, path)
      await expectRefused(s, 'read_file', { path })
      await expectRefused(s, 'edit_file', { path, old_string: 'x', new_string: 'y' })
      await expectRefused(s, 'write_file', { path, content: 'y\n', mode: 'overwrite' })
    },
  )

  test.each(['/etc/hostname', '../outside.txt', 'a/../../outside.txt', '.git/config', 'sub/.GIT/config'])(
    'M12: the path %s is refused',
    async (path) => {
      const s = shared()
      writeFileSync(join(s.repo.home, 'outside.txt'), 'secret\n')
      await expectRefused(s, 'read_file', { path })
      await expectRefused(s, 'edit_file', { ...edit, path })
      await expectRefused(s, 'write_file', { path, content: 'x', mode: 'create' })
    },
  )

  test('M12: an absolute path below the root is refused too', async () => {
    const s = shared()
    await expectRefused(s, 'read_file', { path: join(s.repo.dir, 'greet.go') })
  })

  test('M13: 65,536 bytes are taken, as a content and as the result of an edit; one more is not', async () => {
    await using s = await scene({ 'big.txt': `${'x'.repeat(65_529)}marker\n` })
    s.agent.answers.push(yes, yes)
    const content = 'y'.repeat(65_536)
    expect((await s.agent.call('write_file', { path: 'full.txt', content, mode: 'create' })).ok).toBe(true)
    const grown = { path: 'big.txt', old_string: 'marker', new_string: 'marker!' }
    expect((await s.agent.call('edit_file', { ...grown, new_string: 'MARKER' })).ok).toBe(true)
    s.agent.screens.length = 0
    await expectRefused(
      s,
      'edit_file',
      { ...grown, old_string: 'MARKER', new_string: 'MARKER!' },
      /65537 bytes/,
    )
  })

  test('M13 (stricter): a directory that is a link is refused, also where it stays inside', async () => {
    await using s = await scene({ 'd/a.txt': 'a\n' })
    symlinkSync('d', join(s.repo.dir, 'ln'))
    await expectRefused(s, 'read_file', { path: 'ln/a.txt' }, /link/)
  })

  test('M14: a failed check is invalid, says what to do and asks nobody', async () => {
    const s = shared()
    await expectRefused(
      s,
      'edit_file',
      { ...edit, path: 'none.go' },
      /none\.go does not exist|untracked|not exist/,
    )
    await expectRefused(s, 'edit_file', { ...edit, old_string: 'absent text' }, /does not stand in the file/)
    expect(await s.agent.galley.log()).toHaveLength(0)
  })

  test('M15: nothing from outside leaks into an answer or the journal', async () => {
    await using s = await scene()
    writeFileSync(join(s.repo.home, 'outside.txt'), 's3cret\n')
    symlinkSync('..', join(s.repo.dir, 'up'))
    for (const path of ['../outside.txt', 'up/outside.txt', join(s.repo.home, 'outside.txt')]) {
      const { result } = await s.agent.call('read_file', { path })
      expect(result.kind).toBe('invalid_arguments')
      expect(result.text).not.toContain('s3cret')
    }
    expect(JSON.stringify(s.agent.journal())).not.toContain('s3cret')
  })
})

describe('approval', () => {
  test('M20: every edit and every write asks; no leaves the file as it is, and is denied', async () => {
    await using s = await scene()
    const before = s.repo.snapshot()
    s.agent.answers.push(no, no)
    const first = await s.agent.call('edit_file', edit)
    const second = await s.agent.call('write_file', { path: 'greet.go', content: 'x\n', mode: 'overwrite' })
    expect([first.result.kind, second.result.kind]).toEqual(['denied', 'denied'])
    expect(s.agent.screens).toHaveLength(2)
    expect(first.change?.state).toBe('rejected')
    expect(s.repo.snapshot()).toEqual(before)
  })

  test('M21: without a terminal nobody approves, and no line is taken from the input', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    const input = JSON.stringify({ tool: 'edit_file', input: edit })
    const answer = cli(repo, ['call', '--json'], { input: `${input}\n` })
    expect(answer).toMatchObject({ code: 1, json: { ok: false, result: { kind: 'denied' } } })
    expect(answer.json.change.state).toBe('rejected')
    writeFileSync(join(repo.home, 'call.json'), input)
    expect(cli(repo, ['call', '../call.json'], { input: 'y\ny\n' }).code).toBe(1)
    expect(repo.read('greet.go')).toBe(greet)
  })

  test('M22: the screen of an edit has its fields in order', async () => {
    await using s = await scene()
    await s.agent.call('edit_file', edit)
    expect(s.agent.screens[0]?.native).toEqual({
      question: 'Approve this operation?',
      text: [
        '[Tool: edit_file]',
        'Path: "greet.go"',
        `Project directory: "${s.repo.dir}"`,
        'Starting line: "3"',
        'Remove: "\\"hi\\"" (4 bytes, 1 line)',
        'Insert: "\\"hello\\"" (7 bytes, 1 line)',
        'Resulting file: "39 bytes, 3 lines"',
        'Writes with your account permissions; approval applies only to this change to the current file.',
        '',
      ].join('\n'),
    })
  })

  test('M22: control characters and letters beyond ASCII are escaped', async () => {
    await using s = await scene()
    await s.agent.call('edit_file', { ...edit, new_string: '\u001b[2Jé' })
    expect(s.agent.screens[0]?.native?.text).toContain('Insert: "\\x1b[2J\\u00e9"')
  })

  test('M23: the screen of a write says whether it creates or overwrites, and previews', async () => {
    await using s = await scene()
    await s.agent.call('write_file', { path: 'n.go', content: 'l1\n', mode: 'create' })
    await s.agent.call('write_file', { path: 'greet.go', content: 'l1\n', mode: 'overwrite' })
    expect(s.agent.screens[0]?.native?.text).toContain('Create a new file\n')
    expect(s.agent.screens[1]?.native?.text).toContain(
      `Overwrite the existing file (${greet.length} bytes)\n`,
    )
    expect(s.agent.screens[1]?.native?.text).toContain('"l1\\n"')
  })

  test('M24: 20 lines and 2 KiB are shown, the rest is a number of bytes, the totals always stand', async () => {
    await using s = await scene()
    const lines = Array.from({ length: 30 }, (_, i) => `l${i + 1}\n`).join('')
    await s.agent.call('write_file', { path: 'n.go', content: lines, mode: 'create' })
    const text = s.agent.screens[0]?.native?.text ?? ''
    expect(text.match(/^ {2}"l\d+\\n"$/gm)).toHaveLength(20)
    expect(text).toContain(`(${lines.length} bytes, 30 lines; 40 bytes not shown)`)
    await s.agent.call('write_file', { path: 'n.go', content: 'z'.repeat(5001), mode: 'create' })
    expect(s.agent.screens[1]?.native?.text).toContain('(5001 bytes, 1 line; 2953 bytes not shown)')
  })

  test('M24 (beyond): the whole diff is at hand while the question is open', async () => {
    await using s = await scene()
    const content = 'line\n'.repeat(100)
    let shown = 0
    const approval = {
      kind: 'ask',
      ask: async ({ change }: { readonly change: { readonly id: string } }) => {
        const [file] = await s.agent.galley.diff(change.id)
        shown = file?.after?.bytes.length ?? 0
        return false
      },
    } as const
    await s.agent.call('write_file', { path: 'n.go', content, mode: 'create' }, { approval })
    expect(shown).toBe(content.length)
  })

  test('M25: what the person was shown is a copy: changing it changes nothing', async () => {
    await using s = await scene()
    const approval = {
      kind: 'ask',
      ask: async ({ change }: { readonly change: object }) => {
        Object.assign(change, { id: 'gother', digest: '0', files: [] })
        return true
      },
    } as const
    expect((await s.agent.call('edit_file', edit, { approval })).result.kind).toBe('completed')
    expect(s.repo.read('greet.go')).toBe(edited)
  })
})

describe('the approval is bound to the file', () => {
  const changed = 'File changed after approval; nothing was written.'

  test('M30: the call is begun with the blob ids of the file before and after it, or absence', async () => {
    await using s = await scene()
    s.agent.answers.push(yes, yes)
    await s.agent.call('edit_file', edit)
    await s.agent.call('write_file', { path: 'n.go', content: 'n\n', mode: 'create' })
    const starts = s.agent.journal().filter((line) => line.kind === 'start')
    const id = (path: string, rev: string) => s.repo.git('rev-parse', `${rev}:${path}`)
    expect(starts[0].files).toEqual([
      { path: 'greet.go', before: id('greet.go', 'HEAD~2'), after: id('greet.go', 'HEAD') },
    ])
    expect(starts[1].files).toEqual([{ path: 'n.go', before: null, after: id('n.go', 'HEAD') }])
  })

  const disturbances: readonly (readonly [string, object, (repo: TestRepo) => void])[] = [
    ['other bytes elsewhere in the file', edit, (r) => r.write('greet.go', `${greet}// note\n`)],
    ['the result itself', edit, (r) => r.write('greet.go', edited)],
    ['no file', edit, (r) => rmSync(join(r.dir, 'greet.go'))],
    ['another executable bit', edit, (r) => chmodSync(join(r.dir, 'greet.go'), 0o755)],
    ['a second name', edit, (r) => linkSync(join(r.dir, 'greet.go'), join(r.dir, 'second'))],
  ]

  test.each(disturbances)(
    'M31: %s after the approval: failed, and nothing is written',
    async (_, input, disturb) => {
      await using s = await scene()
      let before: unknown
      s.agent.answers.push(() => {
        disturb(s.repo)
        before = s.repo.snapshot()
        return yes
      })
      const answer = await s.agent.call('edit_file', input)
      expect(answer.result).toEqual({ kind: 'failed', text: changed })
      expect(answer.change?.state).toBe('rejected')
      expect(s.repo.snapshot()).toEqual(before)
    },
  )

  test('M31: a link in its place is not followed', async () => {
    await using s = await scene()
    s.agent.answers.push(() => {
      rmSync(join(s.repo.dir, 'greet.go'))
      writeFileSync(join(s.repo.home, 'target'), greet)
      symlinkSync(join(s.repo.home, 'target'), join(s.repo.dir, 'greet.go'))
      return yes
    })
    expect((await s.agent.call('edit_file', edit)).result).toEqual({ kind: 'failed', text: changed })
    expect(s.repo.read('../target')).toBe(greet)
  })

  test('M31: the same for an overwrite; the newer file stays', async () => {
    await using s = await scene({ 'new.go': 'old\n' })
    s.agent.answers.push(() => {
      s.repo.write('new.go', 'newer\n')
      return yes
    })
    const answer = await s.agent.call('write_file', { path: 'new.go', content: 'fresh\n', mode: 'overwrite' })
    expect(answer.result).toEqual({ kind: 'failed', text: changed })
    expect(s.repo.read('new.go')).toBe('newer\n')
  })

  test('M31: work that was uncommitted before the check stays uncommitted, and the edit lands as shown', async () => {
    await using s = await scene({ 'a.txt': 'one\ntwo\nthree\nfour\nfive\n' })
    s.repo.write('a.txt', 'ONE\ntwo\nthree\nfour\nfive\n')
    s.agent.answers.push(yes)
    await s.agent.call('edit_file', { path: 'a.txt', old_string: 'five', new_string: 'FIVE' })
    expect(s.repo.read('a.txt')).toBe('ONE\ntwo\nthree\nfour\nFIVE\n')
    expect(s.repo.git('show', 'HEAD:a.txt')).toBe('one\ntwo\nthree\nfour\nFIVE')
  })

  test('M32: a target that appeared meanwhile stays as it is', async () => {
    await using s = await scene()
    s.agent.answers.push(() => {
      s.repo.write('n.go', 'theirs\n')
      return yes
    })
    const answer = await s.agent.call('write_file', { path: 'n.go', content: 'ours\n', mode: 'create' })
    expect(answer.result.kind).toBe('failed')
    expect(s.repo.read('n.go')).toBe('theirs\n')
  })

  test('M33: check, approve, begin, re-check: a denied or invalid call never began, a changed file ends one that did', async () => {
    await using s = await scene()
    s.agent.answers.push(no, () => {
      s.repo.write('greet.go', `${greet}// note\n`)
      return yes
    })
    await s.agent.call('edit_file', { ...edit, old_string: 'absent text' })
    await s.agent.call('edit_file', edit)
    await s.agent.call('edit_file', edit)
    const steps = s.agent.journal().filter((line) => line.kind !== 'read')
    expect(steps.map((line) => line.outcome ?? line.kind)).toEqual([
      ...['call', 'invalid_arguments'],
      ...['call', 'denied'],
      ...['call', 'start', 'failed'],
    ])
  })

  test('M34: an approval never carries over: the same call asks again, and a late approval lands nothing', async () => {
    await using s = await scene()
    const { change } = await s.agent.call('edit_file', edit, { approval: { kind: 'none' } })
    await expect(s.agent.galley.approve({ id: change?.id ?? '' })).rejects.toMatchObject({
      code: 'wrong-state',
    })
    await s.agent.call('edit_file', edit)
    expect(s.agent.screens).toHaveLength(1)
    expect(s.agent.screens[0]?.change.id).not.toBe(change?.id)
    expect(s.repo.read('greet.go')).toBe(greet)
  })
})

describe('writing', () => {
  test('M44, M45: the new text stands there whole, and no other file beside it, whatever the end', async () => {
    await using s = await scene()
    s.agent.answers.push(yes, no)
    await s.agent.call('edit_file', edit)
    await s.agent.call('write_file', { path: 'n.go', content: 'n\n', mode: 'create' })
    await s.agent.call('edit_file', { ...edit, old_string: 'absent text' })
    expect(readdirSync(s.repo.dir).sort()).toEqual(['.git', 'greet.go'])
    expect(s.repo.git('status', '--porcelain')).toBe('')
  })

  test('M46: the answers to what was done', async () => {
    await using s = await scene()
    s.agent.answers.push(yes, yes, yes)
    const texts = [
      await s.agent.call('edit_file', edit),
      await s.agent.call('write_file', { path: 'n.go', content: 'a\nb', mode: 'create' }),
      await s.agent.call('write_file', { path: 'n.go', content: '', mode: 'overwrite' }),
    ].map(({ result }) => result.text)
    expect(texts).toEqual([
      'Edited greet.go at line 3 (39 bytes, 3 lines).',
      'Created n.go (3 bytes, 2 lines).',
      'Overwrote n.go (0 bytes, 0 lines).',
    ])
  })
})

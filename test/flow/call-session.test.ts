import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { replayJournal } from '../../src/flow/call/call-replay.ts'
import { cli, cliHere, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import {
  always,
  asKilled,
  type JournalLine,
  no,
  readLines,
  sessionFile,
  startAgent,
  writeLines,
  yes,
} from './call-harness.ts'

const greet = 'package main\n\nconst greeting = "hi"\n'
const edited = 'package main\n\nconst greeting = "hello"\n'
const edit = { path: 'greet.go', old_string: '"hi"', new_string: '"hello"' }

/** A session with one completed edit, and the id of its call. */
async function sessionWithEdit(repo: TestRepo) {
  await using agent = await startAgent(repo, 'mino')
  agent.answers.push(yes)
  const answer = await agent.call('edit_file', edit)
  const lines = agent.journal()
  return { file: agent.journalFile, lines, call: String(lines[0].call), change: answer.change }
}

describe('the journal (Mino M50 to M55)', () => {
  test('M50, M51: call, start and outcome stand there in this order, the start with id, tool, arguments and directory', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    const { lines, call, change } = await sessionWithEdit(repo)
    expect(lines.map((line) => line.kind)).toEqual(['call', 'start', 'outcome'])
    expect(lines[1]).toMatchObject({
      call,
      tool: 'edit_file',
      arguments: { text: JSON.stringify(edit) },
      directory: repo.dir,
      change: change?.id,
    })
    expect(lines[2]).toMatchObject({ call, outcome: 'completed', change: change?.id })
  })

  test('M50: the start is on the disk while the landing runs', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    const file = sessionFile(repo, 's')
    hook(repo, 'reference-transaction', `[ "$1" = prepared ] && cp '${file}' '${repo.home}/seen'; exit 0`)
    await sessionWithEdit(repo)
    expect(readLines(join(repo.home, 'seen')).map((line) => line.kind)).toEqual(['call', 'start'])
  })

  test('M50, M55: outcomes of all kinds stand there before they are returned', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    await using agent = await startAgent(repo, 'mino')
    agent.answers.push(no)
    for (const [tool, input] of [
      ['read_file', { path: 'greet.go' }],
      ['read_file', { path: 'none.go' }],
      ['edit_file', edit],
    ] as const) {
      const { result } = await agent.call(tool, input)
      expect(agent.journal().at(-1)).toMatchObject({
        kind: 'outcome',
        outcome: result.kind,
        text: result.text,
      })
    }
  })

  test('M52: a call that was begun and not ended is decided by the next one, and never done again', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    const { file, lines, call } = await sessionWithEdit(repo)
    const cases: readonly (readonly [string, string, string | null])[] = [
      ['completed', edited, edited],
      ['failed', greet, greet],
      ['unknown', '// neither\n', '// neither\n'],
    ]
    for (const [kind, content, expected] of cases) {
      repo.git('checkout', '--quiet', 'HEAD~1')
      // The change has landed as far as its log says: only the files tell, so that the log must not.
      writeLines(file, asKilled(withoutChange(lines), call))
      repo.write('greet.go', content)
      await using agent = await startAgent(repo, 'mino')
      const answer = await agent.call('read_file', { path: 'greet.go' })
      expect(answer.recovered).toMatchObject([{ call, kind }])
      expect(repo.read('greet.go')).toBe(expected)
      repo.write('greet.go', greet)
      repo.git('checkout', '--quiet', 'main')
    }
  })

  test('M52: a call that never began is not executed', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    const { file, lines, call } = await sessionWithEdit(repo)
    writeLines(file, asKilled(lines, call).slice(0, 1))
    await using agent = await startAgent(repo, 'mino')
    const answer = await agent.call('read_file', { path: 'greet.go' })
    expect(answer.recovered).toMatchObject([
      { call, kind: 'failed', text: expect.stringContaining('before it was begun') },
    ])
    expect(answer.ok).toBe(true)
  })

  test('M52: an unknown outcome stops the session until it is acknowledged, durably and once', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    const { file, lines, call } = await sessionWithEdit(repo)
    writeLines(file, asKilled(withoutChange(lines), call))
    repo.write('greet.go', '// neither\n')
    const read = { input: JSON.stringify({ tool: 'read_file', input: { path: 'greet.go' } }) }
    const says = async (session: string) =>
      (await cliHere(repo, ['call', '--session', session, '--json'], read)).json
    const first = await says('s')
    expect(first).toMatchObject({
      ok: false,
      recovered: [{ call, kind: 'unknown' }],
      result: { kind: 'failed' },
    })
    expect(first.result.text).toContain(`galley call --acknowledge ${call} --session s`)
    expect((await says('s')).ok).toBe(false)
    // Another session is not stopped.
    expect((await says('t')).ok).toBe(true)

    const acknowledge = ['call', '--acknowledge', call, '--session', 's', '--json']
    expect((await cliHere(repo, acknowledge)).json).toEqual({ ok: true, acknowledged: call, repeated: false })
    expect((await cliHere(repo, acknowledge)).json).toEqual({ ok: true, acknowledged: call, repeated: true })
    expect(readLines(file).filter((line) => line.kind === 'acknowledged')).toHaveLength(1)
    expect((await says('s')).ok).toBe(true)
    const nothing = ['call', '--acknowledge', 'cnothing00', '--session', 's']
    expect((await cliHere(repo, nothing)).stderr).toContain('wrong-state')
  })

  test('M53: replay checks arguments alone: a session loads when its file has gone', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    await sessionWithEdit(repo)
    rmSync(join(repo.dir, 'greet.go'))
    await using agent = await startAgent(repo, 'mino')
    expect((await agent.call('read_file', { path: 'greet.go' })).result.kind).toBe('invalid_arguments')
    expect(replayJournal(agent.journal()).faults).toEqual([])
    expect(existsSync(join(repo.dir, 'greet.go'))).toBe(false)
  })

  test('M53: a start must have the arguments that the check of its call gives', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    const { file, lines } = await sessionWithEdit(repo)
    const other = { ...edit, new_string: '"other"' }
    const forged = lines.map((line) =>
      line.kind === 'start' ? { ...line, arguments: { text: JSON.stringify(other) } } : line,
    )
    expect(replayJournal(forged).faults).toHaveLength(1)
    const invalid = lines.map((line) =>
      line.kind === 'call' ? { ...line, arguments: { text: '{"path":"greet.go"}' } } : line,
    )
    expect(replayJournal(invalid).faults).toHaveLength(1)
    const older = forged.map((line) => (line.kind === 'start' ? { ...line, version: 0 } : line))
    expect(replayJournal(older).faults).toEqual([])
    writeLines(file, forged)
    await using agent = await startAgent(repo, 'mino')
    const refused = await refusal(() => agent.call('read_file', { path: 'greet.go' }))
    expect(refused.code).toBe('wrong-state')
  })

  test('M54: impossible steps do not hold together', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    const { lines } = await sessionWithEdit(repo)
    const [call, start, outcome] = lines
    const impossible: readonly (readonly JournalLine[])[] = [
      [outcome],
      [start],
      [call, call],
      [call, outcome],
      [call, start, start],
      [call, start, outcome, outcome],
      [call, start, outcome, start],
      [call, start, { ...outcome, outcome: 'denied' }],
      [call, { ...outcome, outcome: 'unknown' }],
      [call, { ...start, tool: 'write_file' }],
      [call, start, outcome, { kind: 'acknowledged', call: call.call }],
    ]
    for (const journal of impossible) expect(replayJournal(journal).faults).toHaveLength(1)
    expect(replayJournal(lines).faults).toEqual([])
  })

  test('M54: replay is total over any order of steps', () => {
    const call = fc.constantFrom('c1', 'c2')
    const kinds = fc.constantFrom('completed', 'denied', 'failed', 'invalid_arguments', 'unknown')
    const kept = fc.constant({ text: '{"path":"a"}' })
    const line = fc.oneof(
      fc.record({
        kind: fc.constant('call'),
        call,
        tool: fc.constant('read_file'),
        dialect: fc.constant('mino'),
        arguments: kept,
      }),
      fc.record({
        kind: fc.constant('start'),
        call,
        tool: fc.constant('read_file'),
        version: fc.constant(1),
        arguments: kept,
        files: fc.constant([]),
      }),
      fc.record({ kind: fc.constant('outcome'), call, outcome: kinds }),
      fc.record({ kind: fc.constant('acknowledged'), call }),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const { calls, faults } = replayJournal(lines as readonly JournalLine[])
        const isSound = faults.length === 0
        expect(calls.length).toBeLessThanOrEqual(2)
        // A prefix of a sound journal is sound: what is appended never needs to be read back.
        if (isSound) expect(replayJournal(lines.slice(0, -1) as readonly JournalLine[]).faults).toEqual([])
      }),
      { numRuns: 2000 },
    )
  })

  test('a line that a kill cut short takes no other with it', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    const { file, lines } = await sessionWithEdit(repo)
    writeFileSync(
      file,
      `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"kind":"call","call":"chalf`,
    )
    await using agent = await startAgent(repo, 'mino')
    expect((await agent.call('read_file', { path: 'greet.go' })).ok).toBe(true)
    expect((await agent.call('read_file', { path: 'greet.go' })).ok).toBe(true)
  })

  test('long arguments are kept as blobs of the store, and replayed from there', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    await using agent = await startAgent(repo, 'mino')
    agent.answers.push(yes)
    await agent.call('write_file', { path: 'long.txt', content: 'x\n'.repeat(20_000), mode: 'create' })
    expect(agent.journal()[0].arguments).toEqual({ blob: expect.stringMatching(/^[0-9a-f]{40}$/) })
    expect((await agent.call('read_file', { path: 'greet.go' })).ok).toBe(true)
  })
})

describe('a process that is really killed', () => {
  const call = (repo: TestRepo) =>
    cli(repo, ['call', '--session', 's', '--yes', '--json'], {
      input: JSON.stringify({ tool: 'edit_file', input: edit }),
    })
  const next = (repo: TestRepo) =>
    cliHere(repo, ['call', '--session', 's', '--json'], {
      input: '{"tool":"read_file","input":{"path":"greet.go"}}',
    })

  /** The hook's parent is git, whose parent is galley. */
  const grandparent = `kill -9 "$(awk '{print $4}' /proc/$PPID/stat)"`
  // git 2.54 and newer ask a first time before they lock anything ("preparing").
  const beforeItMoves = `[ "$1" = prepared ] || exit 0; ${grandparent}; exit 1`

  test('before the branch moves: the landing is rolled back, the call not executed, its change can land no more', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    const before = repo.git('rev-parse', 'HEAD')
    hook(repo, 'reference-transaction', beforeItMoves)
    expect(call(repo).code).toBeNull()
    rmSync(join(repo.dir, '.git/hooks/reference-transaction'))
    const answer = (await next(repo)).json
    expect(answer.recovered).toMatchObject([{ kind: 'failed' }])
    expect(answer.result.text).toBe(greet)
    expect(repo.git('rev-parse', 'HEAD')).toBe(before)
    const [change] = (await cliHere(repo, ['log', '--json'])).json.changes
    expect(change.state).toBe('rejected')
  })

  test('before the branch moves, and somebody edits the file before the next call: unknown, and their edit stays', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    hook(repo, 'reference-transaction', beforeItMoves)
    call(repo)
    rmSync(join(repo.dir, '.git/hooks/reference-transaction'))
    expect(cli(repo, ['recover']).code).toBe(0)
    repo.write('greet.go', '// theirs\n')
    expect((await next(repo)).json.recovered).toMatchObject([{ kind: 'unknown' }])
    expect(repo.read('greet.go')).toBe('// theirs\n')
  })

  test('after the branch moved: completed, with the change landed', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    hook(repo, 'post-merge', grandparent)
    expect(call(repo).code).toBeNull()
    rmSync(join(repo.dir, '.git/hooks/post-merge'))
    const answer = (await next(repo)).json
    expect(answer.recovered).toMatchObject([{ kind: 'completed' }])
    expect(answer.result.text).toBe(edited)
    expect(repo.git('status', '--porcelain')).toBe('')
    const [change] = (await cliHere(repo, ['log', '--json'])).json.changes
    expect(change.state).toBe('landed')
  })
})

describe('turns and sessions', () => {
  test('M60: 16 calls a turn, reads, writes, edits and refused ones together; another turn or session begins anew', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    await using agent = await startAgent(repo, 'mino')
    const turn = { turn: 't1' }
    for (let made = 0; made < 16; made++) {
      const [tool, input] =
        made % 2 === 0
          ? (['read_file', { path: 'greet.go' }] as const)
          : (['edit_file', { ...edit, old_string: 'absent' }] as const)
      await agent.call(tool, input, turn)
    }
    const seventeenth = await agent.call('read_file', { path: 'greet.go' }, turn)
    expect(seventeenth.result).toEqual({
      kind: 'failed',
      text: 'Not executed: the turn has had 16 tool calls; 16 are allowed. Begin another turn.',
    })
    expect((await agent.call('read_file', { path: 'greet.go' }, { turn: 't2' })).ok).toBe(true)
    expect((await agent.call('read_file', { path: 'greet.go' }, { ...turn, session: 'other' })).ok).toBe(true)
    expect((await agent.call('read_file', { path: 'greet.go' })).ok).toBe(true)
  })

  test('M62: nothing of galley is read or written, whether it lies in .git or in a cache inside the work tree', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    const env = { XDG_CACHE_HOME: join(repo.dir, 'cache') }
    await using agent = await startAgent(repo, 'mino', { env })
    repo.write('cache/galley/x.txt', 'own\n')
    for (const path of ['.git/galley/galley.log', 'cache/galley/x.txt', 'cache/galley/new.txt']) {
      const before = repo.snapshot()
      expect((await agent.call('read_file', { path })).result.kind).toBe('invalid_arguments')
      const write = await agent.call('write_file', { path, content: 'x\n', mode: 'create' })
      expect(write.result.kind).toBe('invalid_arguments')
      expect(repo.snapshot()).toEqual(before)
    }
    expect(agent.screens).toHaveLength(0)
  })

  test('M63: a file that holds secrets is read without approval, as any other', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    repo.write('.env', 'KEY=1\n')
    await using agent = await startAgent(repo, 'mino')
    expect((await agent.call('read_file', { path: '.env' })).result.text).toBe('KEY=1\n')
  })

  test('two calls of one session at once do not take each other for killed', async () => {
    using repo = makeRepo({ files: { 'greet.go': greet } })
    await using agent = await startAgent(repo, 'mino')
    let inner: unknown
    const approval = {
      kind: 'ask',
      ask: async () => {
        inner = (await agent.call('read_file', { path: 'greet.go' })).recovered
        return true
      },
    } as const
    expect((await agent.call('edit_file', edit, { approval })).ok).toBe(true)
    expect(inner).toEqual([])
  })

  test('calls without a session share one, so that a read counts for the edit after it', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\nb\n' } })
    const call = (input: object) =>
      cli(repo, ['call', '--json', '--yes'], { input: JSON.stringify({ tool: 'text_editor_remote', input }) })
    expect(call({ action: 'read', path: 'a.txt' }).json.ok).toBe(true)
    const edits = [{ from: 1, to: 1, content: 'A\n' }]
    expect(call({ action: 'patch', path: 'a.txt', edits }).json.ok).toBe(true)
    expect(repo.read('a.txt')).toBe('A\nb\n')
  })
})

function withoutChange(lines: readonly JournalLine[]): readonly JournalLine[] {
  return lines.map((line) => (line.kind === 'start' ? { ...line, change: null } : line))
}

function hook(repo: TestRepo, name: string, body: string): void {
  const file = join(repo.dir, '.git/hooks', name)
  writeFileSync(file, `#!/bin/sh\n${body}\n`)
  chmodSync(file, 0o755)
}

test('a call whose file has moved while it waited is staged on the file as it is when it is made again', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\ntwo\nthree\n' } })
  await using agent = await startAgent(repo, 'claude-code')
  const file = { file_path: `${repo.dir}/a.txt` }
  const edit = { ...file, old_string: 'one', new_string: 'ONE' }
  await agent.call('Read', file)
  const waiting = await agent.call('Edit', edit, { approval: { kind: 'none' } })
  expect(waiting.change?.state).toBe('staged')
  repo.write('a.txt', 'one\nTWO\nthree\n')
  repo.commit('two')
  await agent.call('Read', file)
  const again = await agent.call('Edit', edit, { approval: always })
  expect([again.change?.id, again.change?.revision]).toEqual([waiting.change?.id, 2])
  expect([again.result.kind, repo.read('a.txt')]).toEqual(['completed', 'ONE\nTWO\nthree\n'])
})

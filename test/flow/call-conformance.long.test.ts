import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { CallAnswer, CallScreen } from '../../src/index.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { type Agent, startAgent } from './call-harness.ts'

/** Cases with a sequence of calls, played through `call` on a real repository. Batches are played in test/dialects. */
const notPlayed: Readonly<Record<string, string>> = {
  'mi-home-disabled-write':
    "galley's data always lies in the project, in .git/galley, where no path reaches: files outside it stay usable (see M62)",
}

interface Row {
  readonly id: string
  readonly files: Readonly<Record<string, string>>
  readonly files_b64?: Readonly<Record<string, string>>
  readonly modes?: Readonly<Record<string, string>>
  readonly symlinks?: Readonly<Record<string, string>>
  readonly outside?: Readonly<Record<string, string>>
  readonly request?: Request
  readonly expect: Expected
}

interface Expected {
  readonly files?: Readonly<Record<string, string | null>>
  readonly refuse?: string
  readonly asked?: number
  readonly modes?: Readonly<Record<string, string>>
  readonly show?: Readonly<Record<string, unknown>>
  readonly then?: { readonly refuse: string; readonly asked: number }
  readonly preview?: unknown
}

/** A call of a case as it stands there: the tool's name and its arguments beside each other, by the case's own names. */
type Call = Readonly<Record<string, unknown>>

interface Request extends Call {
  readonly calls?: readonly Call[]
  readonly steps?: readonly Call[]
  readonly answers?: readonly (string | null)[]
  readonly between?: readonly {
    readonly write?: Readonly<Record<string, string>>
    readonly delete?: string
    readonly symlink?: Readonly<Record<string, string>>
  }[]
  readonly assert?: string
}

const rowsOf = (name: string): readonly Row[] =>
  readFileSync(new URL(`../fixtures/conformance/${name}.jsonl`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
    .filter((row) => row.request !== undefined)

function repoOf(row: Row): TestRepo {
  const bytes = Object.entries(row.files_b64 ?? {}).map(
    ([path, text]) => [path, Buffer.from(text, 'base64')] as const,
  )
  const repo = makeRepo({ files: { 'kept.txt': 'kept\n', ...row.files, ...Object.fromEntries(bytes) } })
  for (const [path, mode] of Object.entries(row.modes ?? {}))
    chmodSync(join(repo.dir, path), mode === '100755' ? 0o755 : 0o644)
  if (row.modes !== undefined) repo.commit('modes')
  for (const [path, text] of Object.entries(row.outside ?? {})) {
    mkdirSync(dirname(join(repo.dir, path)), { recursive: true })
    writeFileSync(join(repo.dir, path), text)
  }
  for (const [path, target] of Object.entries(row.symlinks ?? {})) symlinkSync(target, join(repo.dir, path))
  return repo
}

/** Does what happens between the question and its answer. */
function disturb(repo: TestRepo, between: Request['between']): void {
  for (const step of between ?? []) {
    for (const [path, text] of Object.entries(step.write ?? {})) repo.write(path, text)
    if (step.delete !== undefined) rmSync(join(repo.dir, step.delete))
    for (const [path, target] of Object.entries(step.symlink ?? {})) {
      rmSync(join(repo.dir, path))
      symlinkSync(target, join(repo.dir, path))
    }
  }
}

function expectFiles(repo: TestRepo, row: Row): void {
  const expected = { ...row.files, ...row.expect.files }
  for (const [path, text] of Object.entries(expected)) {
    const found = existsSync(join(repo.dir, path)) ? repo.read(path) : null
    expect(found, path).toBe(text)
  }
  expect(repo.read('kept.txt')).toBe('kept\n')
}

const kindsOfRefusal = ['invalid_arguments', 'denied', 'failed']

describe("Mino's cases", () => {
  const rows = rowsOf('mino-file-tools')

  test('every case is played or has a reason why not', () => {
    expect(rows.filter(({ id }) => id in notPlayed)).toHaveLength(Object.keys(notPlayed).length)
  })

  test.each(rows.filter(({ id }) => !(id in notPlayed)))('$id', async (row) => {
    using repo = repoOf(row)
    await using agent = await startAgent(repo, 'mino')
    const { calls = [], answers = [], between } = row.request ?? {}
    for (const answer of answers) {
      if (answer === null) continue
      agent.answers.push(() => {
        disturb(repo, between)
        return answer === 'y'
      })
    }
    const given: CallAnswer[] = []
    for (const { tool, ...input } of calls) given.push(await agent.call(String(tool), input))
    expectEnding(row, repo, agent, given)
  })

  function expectEnding(row: Row, repo: TestRepo, agent: Agent, given: readonly CallAnswer[]): void {
    const { refuse, asked, modes, show, then } = row.expect
    const last = given.at(-1)?.result
    if (refuse !== undefined || then !== undefined) expect(kindsOfRefusal).toContain(last?.kind)
    else expect(last?.kind).toBe('completed')
    if (refuse === 'denied') expect(last?.kind).toBe('denied')
    if (refuse === 'changed_after_approval' || refuse === 'symlink')
      expect(last).toEqual({ kind: 'failed', text: 'File changed after approval; nothing was written.' })
    else expectFiles(repo, row)
    if (row.expect.files !== undefined) expectFiles(repo, { ...row, files: {} })
    if (asked !== undefined) expect(agent.screens).toHaveLength(asked)
    for (const [path, mode] of Object.entries(modes ?? {}))
      expect(statSync(join(repo.dir, path)).mode & 0o777).toBe(mode === '100755' ? 0o755 : 0o644)
    if (show !== undefined) expectShown(show, agent.screens[0])
    if (row.request?.assert !== undefined)
      expect(readdirSync(repo.dir).sort()).toEqual(['.git', 'kept.txt', ...Object.keys(row.files)].sort())
    expect(JSON.stringify(given)).not.toContain('s3cret')
  }

  function expectShown(show: Readonly<Record<string, unknown>>, screen: CallScreen | undefined): void {
    const text = screen?.native?.text ?? ''
    const patterns: Readonly<Record<string, (value: unknown) => string>> = {
      start_line: (value) => `Starting line: "${value}"`,
      remove: (value) => `Remove: ${JSON.stringify(value)}`,
      insert: (value) => `Insert: ${JSON.stringify(value)}`,
      resulting_bytes: (value) => `Resulting file: "${value} bytes`,
      resulting_lines: (value) => `bytes, ${value} lines"`,
      rest: () => 'bytes not shown',
      rest_bytes: (value) => `${value} bytes not shown`,
      total_lines: (value) => `${value} lines`,
      total_bytes: (value) => `${value} bytes`,
    }
    for (const [name, value] of Object.entries(show)) {
      const pattern = patterns[name]
      if (pattern !== undefined) expect(text).toContain(pattern(value))
    }
    if (typeof show['preview_lines'] === 'number')
      expect(text.match(/^ {2}"/gm)).toHaveLength(show['preview_lines'])
    if (typeof show['preview_bytes'] === 'number')
      expect(text).toContain(`"${'z'.repeat(show['preview_bytes'])}"`)
  }
})

describe("Agent Zero's cases", () => {
  test.each(rowsOf('agent-zero-patch'))('$id', async (row) => {
    using repo = repoOf(row)
    await using agent = await startAgent(repo, 'agent-zero')
    const { steps, ...single } = row.request ?? {}
    const answers: CallAnswer[] = []
    for (const { op, mode, external, ...input } of steps ?? [single]) {
      agent.answers.push(true)
      if (external !== undefined) {
        repo.write(String(input['path']), String(input['content']))
        continue
      }
      const options = mode === 'read_only' ? { permissionMode: 'read-only' as const } : {}
      answers.push(await agent.call('text_editor_remote', { action: op, ...input }, options))
    }
    const last = answers.at(-1)
    if (row.expect.refuse === undefined) {
      expect(answers.map(({ result }) => result.kind)).toEqual(answers.map(() => 'completed'))
      expectFiles(repo, row)
    } else expect(last?.ok).toBe(false)
    if (row.expect.refuse === 'read_only') expect(last?.result.text).toContain('Press F3')
    if (row.expect.refuse === 'stale') expect(last?.result.text).toContain('file changed since last read')
  })
})

describe("zapmyco's cases", () => {
  test.each(rowsOf('zapmyco-line-range'))('$id', async (row) => {
    using repo = repoOf(row)
    await using agent = await startAgent(repo, 'zapmyco')
    let last: CallAnswer | null = null
    for (const step of row.request?.steps ?? []) {
      agent.answers.push(true)
      if (step['external'] !== undefined) repo.write(String(step['path']), String(step['content']))
      else if (step['read'] !== undefined) last = await agent.call('file_read', { file_path: step['read'] })
      else last = await agent.call('file_edit', step['edit'] as object)
    }
    expect(row.expect.refuse).toBe('stale')
    expect(last?.result.text).toContain('自读取后已被外部修改')
  })
})

describe("the text editor's cases", () => {
  /** The cases' own names of the arguments, as the editor has them. */
  function editorInput({ command, path, ...rest }: Call): object {
    if (command === 'insert') {
      const line = Number(rest['insert_before_line']) - 1
      return { command, path, insert_line: line, insert_text: rest['text'] }
    }
    if (command === 'create')
      return { command, path, ...(rest['text'] === undefined ? {} : { file_text: rest['text'] }) }
    if (command === 'undo') return { command: 'undo_edit', path }
    return { command: 'str_replace', path, old_str: rest['old'], new_str: rest['new'] }
  }

  test.each(rowsOf('search-replace'))('$id', async (row) => {
    using repo = repoOf(row)
    await using agent = await startAgent(repo, 'anthropic-editor')
    const { steps, ...single } = row.request ?? {}
    const answers: CallAnswer[] = []
    for (const step of steps ?? [single]) {
      agent.answers.push(true)
      // An insertion names a line: whoever asks for it has seen the file.
      if (step['command'] === 'insert')
        await agent.call('str_replace_based_edit_tool', { command: 'view', path: step['path'] })
      answers.push(await agent.call('str_replace_based_edit_tool', editorInput(step)))
    }
    expect(answers.at(-1)?.result.kind).toBe(
      row.expect.refuse === undefined ? 'completed' : 'invalid_arguments',
    )
    expectFiles(repo, row)
    // Where the case cuts a preview, galley shows the whole diff.
    if (row.expect.preview !== undefined) expect(agent.screens[0]?.native).toBeNull()
  })
})

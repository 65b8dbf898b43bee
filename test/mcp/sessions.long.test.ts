import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DialectName } from '../../src/model/batch.ts'
import { connectHere } from '../helpers/mcp.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

/** One conversation as its system holds it: the calls of each turn, and what the user commits between two of them. */
interface Recorded {
  /** null = the words go through `propose_edits`: the system sends text, and has no tools. */
  readonly adapter: DialectName | null
  readonly steps: readonly {
    readonly turn?: readonly { readonly tool: string; readonly input: object; readonly refused?: true }[]
    readonly user?: Readonly<Record<string, string>>
  }[]
  /** What each commit changes, oldest first, and how the file is then. */
  readonly commits: readonly Readonly<Record<string, string>>[]
}

const folder = join(import.meta.dirname, '../fixtures/mcp-sessions')
const recorded = readdirSync(folder).map((file) => [file.replace('.json', ''), file] as const)

const POLICY = '{ "autoApprove": { "paths": ["**"] } }\n'

/** The file that each commit changes, with its text. */
const commitsOf = (repo: TestRepo) =>
  repo
    .git('log', '--reverse', '--format=%H', 'HEAD~5..HEAD')
    .split('\n')
    .map((commit) => {
      const names = repo.git('diff-tree', '-r', '--no-commit-id', '--name-only', commit).split('\n')
      return Object.fromEntries(names.map((name) => [name, `${repo.git('show', `${commit}:${name}`)}\n`]))
    })

test.each(recorded)(
  'a session of %s (read, edits, a stale edit, its repair) comes to the expected commits',
  async (_, file) => {
    const { adapter, steps, commits } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Recorded
    using repo = makeRepo({
      files: { '.galley.json': POLICY, 'greet.txt': 'hello\nworld\n', 'count.txt': 'one\ntwo\nthree\n' },
    })
    await using mcp = await connectHere(repo, adapter === null ? {} : { adapter })
    let last = ''
    for (const { turn = [], user = {} } of steps) {
      for (const { tool, input, refused } of turn) {
        const words = JSON.stringify(input).replaceAll('{{root}}', repo.dir).replaceAll('{{last}}', last)
        const given = await mcp.call(tool, JSON.parse(words) as object)
        expect(given.isError, `${tool} ${words}\n${given.text}`).toBe(refused === true)
        last = given.value?.change?.id ?? last
      }
      for (const [path, text] of Object.entries(user)) {
        repo.write(path, text)
        repo.git('commit', '-qam', 'by the user')
      }
    }
    expect(commitsOf(repo)).toEqual(commits)
    expect(repo.git('status', '--porcelain')).toBe('')
  },
)

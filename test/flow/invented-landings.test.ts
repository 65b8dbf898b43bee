import { describe, expect, test } from 'vitest'
import { eventsOf, writeLog } from '../helpers/forge-log.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { approveChange, guardMain, landChange, linesOf, verifyRange } from './verify-world.ts'

/** Galley's refs as a server has them: among the repository's own, so that a log can be written as anybody could. */
function shareLogs(repo: TestRepo): void {
  repo.git('fetch', '-q', '.git/galley/store.git', '+refs/galley/*:refs/galley/*')
}

function append(repo: TestRepo, id: string, ...kinds: readonly ['landed' | 'rejected', string?][]): void {
  const last = eventsOf(repo, id).at(-1)
  const said = { at: last?.event.at, by: last?.event.by, revision: 1 }
  const events = kinds.map(([kind, commit]) =>
    kind === 'landed'
      ? { event: { ...said, kind, landing: { ref: 'refs/heads/main', before: null, after: commit } } }
      : { event: { ...said, kind, reason: 'no' } },
  )
  writeLog(repo, id, events, last?.commit)
}

describe('a no that follows a landing', () => {
  test('which is not in the history of a guarded branch is a no, whatever commit the log names', async () => {
    using repo = makeRepo({ files: { ...guardMain, 'a.txt': 'a\n' } })
    const { id, commit } = await approveChange(repo, 'One', { 'a.txt': 'b\n' })
    shareLogs(repo)
    // Somebody puts the approved bytes on a branch that nobody guards, and says that they landed.
    repo.git('branch', 'side', commit)
    repo.git('branch', 'main-not', commit)
    expect(linesOf(await verifyRange(repo, 'main..side', { onto: 'main' }))).toEqual(['approved One'])
    // One that a merge brings beside the line of the guarded branch, and takes back there, is no step of it.
    repo.git('checkout', '-q', 'side')
    repo.git('revert', '--no-edit', 'HEAD')
    repo.git('checkout', '-q', 'main')
    repo.git('merge', '-q', '--no-ff', '-m', 'Nothing', 'side')
    repo.git('branch', '-f', 'side', commit)
    for (const invented of [
      commit,
      repo.git('rev-parse', 'main'),
      repo.git('rev-parse', 'main~1'),
      '0'.repeat(40),
      repo.git('rev-parse', 'HEAD^{tree}'),
      repo.git('hash-object', 'a.txt'),
    ]) {
      repo.git('fetch', '-q', '.git/galley/store.git', `+refs/galley/log/${id}:refs/galley/log/${id}`)
      append(repo, id, ['landed', invented], ['rejected'])
      const found = await verifyRange(repo, `${commit}^..side`, { onto: 'main' })
      expect(found.commits.map(({ verdict }) => verdict)).not.toContain('approved')
      expect(JSON.stringify(found.commits)).toContain('rejected it')
    }
  })

  test('takes nothing back from the guarded branch that has it', async () => {
    using repo = makeRepo({ files: { ...guardMain, 'a.txt': 'a\n' } })
    const { id, commit } = await landChange(repo, 'One', { 'a.txt': 'b\n' })
    shareLogs(repo)
    append(repo, id, ['rejected'])
    expect(eventsOf(repo, id).map(({ event }) => event.kind)).toEqual([
      'proposed',
      'staged',
      'approved',
      'landed',
      'rejected',
    ])
    expect(linesOf(await verifyRange(repo, `${commit}^..main`))).toEqual(['approved One'])
    // A clone that has the branch as its remote's alone looks at that.
    repo.git('update-ref', 'refs/remotes/origin/main', commit)
    repo.git('checkout', '-q', '--detach')
    repo.git('branch', '-q', '-D', 'main')
    expect(linesOf(await verifyRange(repo, `${commit}^..origin/main`))).toEqual(['approved One'])
  })

  test('counts by the branches that the state before the range guards, not by those that the range says', async () => {
    using repo = makeRepo({ files: { ...guardMain, 'a.txt': 'a\n' } })
    const policy = '{ "guard": ["main", "side"] }\n'
    const { id, commit } = await approveChange(repo, 'One', { 'a.txt': 'b\n', '.galley.json': policy })
    shareLogs(repo)
    repo.git('branch', 'side', commit)
    repo.git('checkout', '-q', 'side')
    append(repo, id, ['landed', commit], ['rejected'])
    const found = await verifyRange(repo, 'main..side', { onto: 'main' })
    expect(found.commits.map(({ verdict }) => verdict)).not.toContain('approved')
  })
})

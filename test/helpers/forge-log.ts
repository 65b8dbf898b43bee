import { execFileSync } from 'node:child_process'
import type { Change, ChangeEvent } from '../../src/model/change.ts'
import { applyEvent, foldChange } from '../../src/model/fold-change.ts'
import { changeId } from '../../src/model/ids.ts'
import { eventCommit } from '../../src/store/change-log.ts'
import type { TestRepo } from './repo.ts'

/** One event to write, and files to lay beside it. */
export interface ForgedEvent {
  // biome-ignore lint/suspicious/noExplicitAny: what is forged need not have the form of an event
  readonly event: any
  readonly files?: Readonly<Record<string, string>>
  /** In place of the message that galley would write. */
  readonly message?: string
  readonly moreParents?: readonly string[]
}

const who = { name: 'Mal', email: 'mal@example.org', date: '1700000000 +0000' }

/** Runs git with input in a repository. */
export const feed = (repo: TestRepo, args: readonly string[], input: string | Uint8Array): string =>
  execFileSync('git', [...args], {
    cwd: repo.dir,
    env: { ...repo.env, ...dates },
    input,
    encoding: 'utf8',
  }).trim()

const dates = {
  GIT_AUTHOR_NAME: who.name,
  GIT_AUTHOR_EMAIL: who.email,
  GIT_AUTHOR_DATE: who.date,
  GIT_COMMITTER_NAME: who.name,
  GIT_COMMITTER_EMAIL: who.email,
  GIT_COMMITTER_DATE: who.date,
}

/** The events of a log, oldest first, with the commits that hold them. */
export function eventsOf(repo: TestRepo, id: string): { event: ChangeEvent; commit: string }[] {
  const commits = repo.git('rev-list', '--reverse', `refs/galley/log/${id}`).split('\n')
  return commits.map((commit) => ({
    commit,
    event: JSON.parse(repo.git('cat-file', 'blob', `${commit}:event.json`)) as ChangeEvent,
  }))
}

/**
 * Writes a log as somebody could who knows galley well: whole, with the messages that galley would write for these events, so that what is
 * wrong is only what the test makes wrong. Sets the ref, whatever it held.
 */
export function writeLog(
  repo: TestRepo,
  id: string,
  events: readonly ForgedEvent[],
  onto: string | null = null,
): string {
  let parent = onto
  let change: Change | null =
    onto === null
      ? null
      : foldChange(
          changeId(id),
          eventsOf(repo, id).map((e) => e.event),
        )
  for (const { event, files = {}, message, moreParents = [] } of events) {
    change = nextChange(id, change, event)
    const text = message ?? (change === null ? 'x\n' : eventCommit(change, { event }, null, who).message)
    const entries = { 'event.json': JSON.stringify(event), ...files }
    const lines = Object.entries(entries).map(
      ([name, content]) => `100644 blob ${feed(repo, ['hash-object', '-w', '--stdin'], content)}\t${name}`,
    )
    const tree = feed(repo, ['mktree'], `${lines.join('\n')}\n`)
    const parents = [...(parent === null ? [] : [parent]), ...moreParents].flatMap((one) => ['-p', one])
    parent = feed(repo, ['commit-tree', tree, ...parents, '-F', '-'], text)
  }
  if (parent === null) throw new Error('a log has events')
  repo.git('update-ref', `refs/galley/log/${id}`, parent)
  return parent
}

function nextChange(id: string, change: Change | null, event: ChangeEvent): Change | null {
  try {
    return change === null
      ? foldChange(changeId(id), [event])
      : applyEvent({ ...change, log: [...change.log, event] }, event)
  } catch {
    return null
  }
}

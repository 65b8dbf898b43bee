import { join } from 'node:path'
import type { TeamHook, TeamHookContext } from '../checks/team-hooks.ts'
import { parseCommit } from '../git/commit.ts'
import { commitTree } from '../git/commit-tree.ts'
import { emptyTree } from '../git/fast-import.ts'
import type { Repository } from '../git/open-repository.ts'
import { commitHooks, type HookPlace } from '../model/hook.ts'
import type { CommitId } from '../model/ids.ts'
import { shimLine } from '../policy/hook-plan.ts'
import type { LoggedChange } from '../store/change-log.ts'
import type { Store } from '../store/open-store.ts'
import { readScript } from '../sys/hook-files.ts'
import { findHookPlace, readHookFacts } from './hook-place.ts'
import { isForeign } from './is-foreign.ts'
import { wordsBeforeHooks } from './rewritten.ts'
import { commitMessage } from './stage.ts'
import type { World } from './world.ts'

/**
 * Finds the team's own `pre-commit`, `prepare-commit-msg` and `commit-msg`, where git would look for a commit of the user's. Ours are left out: where one
 * of ours stands in front, the one that it keeps is taken. Costs one process, and reads only.
 */
export async function findTeamHooks(repository: Repository): Promise<readonly TeamHook[]> {
  if (repository.workTree === null) return []
  const place = await findHookPlace(repository)
  const found = await Promise.all(commitHooks.map((name) => findHook(place, name)))
  return found.flatMap((hook) => hook ?? [])
}

async function findHook(place: HookPlace, name: TeamHook['name']): Promise<TeamHook | null> {
  const { path, file, previousPath, hasStub } = await readHookFacts(place, null, name, '')
  if (file.kind !== 'file') return null
  if (file.owner === 'galley') return (await isRun(previousPath)) ? { name, path: previousPath } : null
  if (await holdsOurLineAlone(path, name)) return null
  // husky's stub looks for the script by its own name, and sets up what it runs in.
  const entry = hasStub ? join(place.directory, name) : path
  return (await isRun(entry)) ? { name, path: entry } : null
}

/** git runs what is executable. */
async function isRun(path: string): Promise<boolean> {
  const script = await readScript(path)
  return script.kind === 'file' && (script.mode & 0o111) !== 0 && script.bytes.length > 0
}

async function holdsOurLineAlone(path: string, name: TeamHook['name']): Promise<boolean> {
  const script = await readScript(path)
  const lines = script.kind === 'file' ? script.bytes.toString('utf8').split('\n') : []
  return lines.every((line) => line.trim() === '' || line.startsWith('#') || line === shimLine(name))
}

/** What the hooks are to see of a commit: its parent, and the message that they are to be asked about. */
export async function beforeCommit(
  world: World,
  store: Store,
  commit: CommitId,
  logged: LoggedChange,
): Promise<Pick<TeamHookContext, 'parent' | 'message' | 'isReworded'>> {
  const { parents, message, author, committer } = await parseCommit(await world.reader(), commit)
  const [parent] = parents
  const { change } = logged
  // Another clone's log says what it likes: a message that nobody asked about would pass.
  const asked = isForeign(logged) ? null : wordsBeforeHooks(change)
  const words =
    asked === null
      ? { message, isReworded: false }
      : { message: commitMessage(change.id, { ...change, ...asked }), isReworded: true }
  if (parent !== undefined) return { parent, ...words }
  const nothing = { base: null, author, committer, message: 'nothing yet\n' }
  return { parent: await commitTree(store.door, emptyTree(store.door.objectFormat), nothing), ...words }
}

import { basename } from 'node:path'
import { treeEnvironment } from '../../checks/tree-environment.ts'
import { commitTree } from '../../git/commit-tree.ts'
import { git } from '../../git/door.ts'
import { emptyTree } from '../../git/fast-import.ts'
import type { Agent } from '../../model/batch.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import type { CommitId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { isSet } from '../../policy/agent-environment.ts'
import { strictest } from '../../policy/judge.ts'
import { quote } from '../../policy/quote.ts'
import type { Store } from '../../store/open-store.ts'
import { planOwnRepository } from '../../store/own-repository.ts'
import { randomName } from '../../sys/clock.ts'
import { type GroupResult, runInGroup, type StartedGroup } from '../../sys/process-group.ts'
import { directoryInTree } from '../../sys/tree-files.ts'
import { filesBefore } from '../collect/files-before.ts'
import { holdFullTree } from '../full-tree.ts'
import { readPolicy } from '../read-policy.ts'
import { finishInterrupted } from '../recover.ts'
import { refuseMessage } from '../refuse-message.ts'
import { selectBase } from '../select-base.ts'
import type { World } from '../world.ts'
import { collectWork } from './run-collect.ts'
import { finishRun } from './run-finish.ts'
import { bringUncommitted, unseenWork } from './run-uncommitted.ts'
import { takeMarks } from './run-watch.ts'
import type { RunOutcome, RunRequest, RunWork } from './run-work.ts'

/**
 * Runs a command, such as a coding agent, in a full scratch tree at HEAD, and captures what it did as a change.
 *
 * When it ends, everything that it left running is ended. Its commits and its uncommitted files become one change, or one for each commit. The
 * user's tree, refs, stash and configuration are as before. The command's environment has `GALLEY_AGENT` and `GALLEY_RUN` and no `GIT_*`.
 *
 * @throws GalleyError `not-found`, if there is no such program; `setup-failed`; `read-only`; or the code of what cannot be part of a change
 * (`denied-path`, `symlink`, `too-large`, …): then all of the work is kept as a commit of the store, named in `data.left`.
 */
export async function run(world: World, request: RunRequest): Promise<RunOutcome> {
  return runIn(await beginRun(world, request))
}

/** Makes the tree of a run and everything that is to be known before anything starts there; nothing has started yet. */
export async function beginRun(world: World, request: RunRequest): Promise<RunWork> {
  const [program] = request.command
  if (program === undefined) refuse('usage', 'no command to run', {})
  refuseMessage(request)
  await world.identity()
  await finishInterrupted(world)
  const base = await selectBase(world, {})
  const inForce = await readPolicy(world, base.tree)
  const mode = strictest(inForce.policy.mode, request.permissionMode ?? 'full')
  if (mode === 'read-only')
    refuse('read-only', 'this repository may only be read: the mode is read-only', { mode })
  const store = await world.store()
  const id = randomName()
  const commit = base.commit ?? (await emptyCommit(world, store))
  const own = await planOwnRepository(world.repository, store, {
    onto: base.onto,
    who: await world.identity(),
  })
  const marks = await takeMarks(world, store)
  const tree = await holdFullTree(world, store, {
    commit,
    policy: inForce.policy,
    purpose: { kind: 'run', run: id },
    usesSetup: request.usesSetup !== false,
    own,
  })
  const agent: Agent = { name: basename(program).slice(0, limits.nameMaxCharacters), session: id }
  const before = await filesBefore(tree.slot, tree.brought)
  const work = { world, store, id, base, inForce, commit, tree, before, agent, request, marks }
  const uncommitted = await giveUncommitted(work).catch(async (error: unknown) => {
    await tree.release()
    throw error
  })
  return { ...work, ...uncommitted }
}

/** Brings the user's uncommitted work along, and remembers what the tree holds then; or says what is not there. */
async function giveUncommitted(
  work: Omit<RunWork, 'given' | 'notes'>,
): Promise<Pick<RunWork, 'given' | 'notes'>> {
  const { world, store, id, tree, before, commit, inForce, request } = work
  if (request.withUncommitted !== true) return { given: null, notes: await unseenWork(world) }
  const { fileMaxBytes } = inForce.policy.limits
  const notes = await bringUncommitted(world, tree.slot.path, fileMaxBytes)
  const found = await collectWork(world, store, tree.slot, { run: id, base: commit, before, fileMaxBytes })
  return { given: found.tree, notes }
}

async function runIn(work: RunWork): Promise<RunOutcome> {
  const { tree } = work
  const started = await start(work).catch(async (error: unknown) => {
    // Nothing has run: there is nothing to collect.
    await tree.release()
    throw error
  })
  return finishRun(work, started)
}

/** Runs the command in its tree to its end. @throws GalleyError `setup-failed`, or the code of a program that cannot be started. */
export async function start(work: RunWork, onStarted?: (group: StartedGroup) => void): Promise<GroupResult> {
  const { tree, request, world, id, agent } = work
  if (tree.setupFailure !== null) {
    const { summary, output } = tree.setupFailure
    const said = output.toString('utf8').slice(-4000)
    const hint = 'Its output says why; `galley run --no-setup` does without it.'
    refuse('setup-failed', `the tree could not be set up: ${summary}`, { output: said }, hint)
  }
  const [file, ...args] = request.command
  const cwd = directoryInTree(tree.slot.path, request.directory ?? '')
  // The terminal is the command's own now.
  world.progress('')
  return runInGroup({
    file: file ?? '',
    args,
    cwd,
    env: runEnvironment(world, id, agent, cwd),
    mark: id,
    tree: tree.slot.path,
    stdio: onStarted === undefined ? (request.stdio ?? 'none') : 'pipes',
    ...(onStarted === undefined ? {} : { onStarted }),
    forwardsSignals: request.forwardsSignals === true,
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === undefined) throw error
    const code = error.code === 'ENOENT' ? 'not-found' : 'io-error'
    const message = `${quote(file ?? '')} could not be started: ${error.code}`
    const hint = 'See whether the program is installed, and on the PATH of galley.'
    throw new GalleyError({ code, message, data: { program: file }, hint }, { cause: error })
  })
}

function runEnvironment(world: World, id: string, agent: Agent, cwd: string): Record<string, string> {
  const set = world.repository.env['GALLEY_AGENT']
  const env = treeEnvironment(world.repository.env, isSet(set) ? (set ?? '') : agent.name)
  // A run inside a run has both names, so that either finds it.
  const above = env['GALLEY_RUN']
  return {
    ...env,
    PWD: cwd,
    GALLEY_RUN: above === undefined || above === '' ? id : `${above} ${id}`,
  }
}

/** An unborn branch has no commit to stand on; the tree of one that holds nothing is as good. */
async function emptyCommit(world: World, store: Store): Promise<CommitId> {
  const who = await world.identity()
  // git knows it without its being there, but for a check of the whole repository, which finds it missing.
  await git(store.door, { args: ['hash-object', '-w', '-t', 'tree', '--stdin'], input: '' })
  const facts = { base: null, author: who, committer: who, message: 'Nothing yet\n' }
  return commitTree(store.door, emptyTree(store.door.objectFormat), facts)
}

import { GalleyError, refuse } from '../../model/error.ts'
import { limits } from '../../model/limits.ts'
import { isOwnLine } from '../../policy/own-lines.ts'
import { quote } from '../../policy/quote.ts'
import { coveredBy } from '../../store/covered-paths.ts'
import type { GroupResult } from '../../sys/process-group.ts'
import { isRealDirectory } from '../../sys/quick-files.ts'
import { type ChangeView, viewChange } from '../change-view.ts'
import { checkRevision } from '../check.ts'
import { type KeptWork, keepCollected, workRef } from '../collect/keep-collected.ts'
import { submoduleHints } from '../collect/moved-submodules.ts'
import { type CollectedWork, collectWork, type RunCommit } from './run-collect.ts'
import { type RunStep, type StagedRun, stageRun } from './run-stage.ts'
import { withoutGiven } from './run-uncommitted.ts'
import { tidyAfter } from './run-watch.ts'
import type { RunOutcome, RunWork } from './run-work.ts'

/**
 * Takes what a command did into changes, and gives its tree back.
 *
 * Whatever does not become part of a change is kept: as a commit of the store, and files too large for one in a folder.
 */
export async function finishRun(work: RunWork, ended: GroupResult): Promise<RunOutcome> {
  // The command may have run for days.
  await work.world.atWork()
  const collected = await collect(work, ended)
  const { staged, tidied, kept } = await settle(work, collected, ended)
  // The tree is free by now, for the checks themselves.
  const changes: ChangeView[] = []
  for (const logged of staged.changes) {
    const checked = await checkRevision(work.world, work.store, logged, work.inForce)
    changes.push(viewChange(checked.change))
  }
  return {
    run: work.id,
    exitCode: ended.status,
    signal: ended.signal,
    changes,
    remarks: [...remarksOf(work, ended, collected, staged, kept), ...tidied.remarks],
    left: [...kept.names, ...tidied.kept],
  }
}

type Staging =
  | { readonly kind: 'staged'; readonly staged: StagedRun }
  | { readonly kind: 'refused'; readonly error: unknown }

/** Everything that needs the tree. It is given back once nothing of the work is in it alone. */
async function settle(work: RunWork, collected: CollectedWork, ended: GroupResult) {
  const staging = await stageWork(work, collected).then(
    (staged): Staging => ({ kind: 'staged', staged }),
    (error: unknown): Staging => ({ kind: 'refused', error }),
  )
  const { kept, tidied } = await orLeaveTree(work, ended, async () => ({
    kept: await keepLeft(work, collected, staging.kind === 'staged' ? staging.staged : null),
    tidied: await tidyAfter(work, work.marks, collected.head),
  }))
  await work.tree.release()
  if (staging.kind === 'refused') throw withWorkKept(work, ended, kept, staging.error)
  return { staged: staging.staged, tidied, kept }
}

/** Where even keeping the work fails, the tree stays as it is, and nobody else gets it: the next `galley gc` collects it. */
async function orLeaveTree<T>(work: RunWork, ended: GroupResult, task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (cause) {
    work.tree.abandon()
    const tree = work.tree.slot.path
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new GalleyError(
      {
        code: 'io-error',
        message: `what the command did could not be kept elsewhere; it stands in ${tree}: ${why}`,
        data: { run: work.id, exitCode: ended.status, tree },
        hint: 'Put right what the message names (make room, say) and run `galley gc`: it collects what stands there.',
      },
      { cause },
    )
  }
}

async function collect(work: RunWork, ended: GroupResult): Promise<CollectedWork> {
  const { store, world, tree, commit, before, inForce, id } = work
  const { fileMaxBytes } = inForce.policy.limits
  if (!isRealDirectory(tree.slot.path)) {
    await tree.release()
    const path = tree.slot.path
    refuse('io-error', `the command put something else in the place of its tree ${path}`, { run: id, path })
  }
  return orLeaveTree(work, ended, () =>
    collectWork(world, store, tree.slot, { run: id, base: commit, before, fileMaxBytes }),
  )
}

async function stageWork(work: RunWork, collected: CollectedWork): Promise<StagedRun> {
  const [grown] = collected.grown
  if (grown !== undefined)
    refuse('too-large', `${quote(grown)} cannot be part of a change: it is too large`, { path: grown })
  const { world, store, id, base, inForce, agent, tree } = work
  const all = stepsOf(work, collected)
  const steps =
    work.given === null ? all : await withoutGiven(store, { base: base.tree, tree: work.given }, all)
  return stageRun(world, store, { run: id, base, inForce, agent, steps, brought: tree.brought })
}

function stepsOf({ request, commit }: RunWork, collected: CollectedWork): readonly RunStep[] {
  const { commits, tree } = collected
  const last = commits?.at(-1)
  const command = textOf(request.command)
  if (request.keepsCommits === true && commits !== null && last !== undefined) {
    const own = commits.map((c): RunStep => ({ tree: c.tree, ...wordsOf(c, command) }))
    const rest: RunStep = { tree, title: titleOf(`Uncommitted work of ${command}`, ''), body: '' }
    return tree === last.tree ? own : [...own, rest]
  }
  const own =
    request.title === undefined ? null : { title: titleOf(request.title, command), body: request.body ?? '' }
  if (last === undefined || collected.head === commit)
    return [{ tree, ...(own ?? { title: titleOf(`Run ${command}`, ''), body: '' }) }]
  const words = own ?? wordsOf(last, command)
  const others =
    commits?.slice(0, own === null ? -1 : undefined).map((c) => `- ${wordsOf(c, command).title}`) ?? []
  const list =
    others.length === 0
      ? []
      : [`${own === null ? 'Commits before it' : 'Its commits'}:\n\n${others.join('\n')}`]
  const body = [words.body, ...list].filter((t) => t !== '').join('\n\n')
  return [{ tree, title: words.title, body, messages: messagesOf(commits ?? []) }]
}

/** What the reviewer is shown of a run's own commits. All of them are kept as commits besides. */
const messagesOf = (commits: readonly RunCommit[]): readonly string[] =>
  commits
    .slice(-MESSAGES_MAX)
    .map(({ message }) => message.replaceAll('\0', '').trim().slice(0, MESSAGE_MAX_CHARACTERS))

const MESSAGES_MAX = 100
const MESSAGE_MAX_CHARACTERS = 4_096

const textOf = (command: readonly string[]): string =>
  command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ')

/** Title and body of an agent's commit. Lines that look like galley's own trailers are not the agent's to write. */
function wordsOf({ message }: RunCommit, command: string): { readonly title: string; readonly body: string } {
  const [subject = '', ...rest] = message.split('\n')
  const body = rest.filter((line) => !isOwnLine(line)).join('\n')
  return { title: titleOf(subject, `Run ${command}`), body: body.trim().slice(0, limits.bodyMaxBytes / 4) }
}

export function titleOf(text: string, otherwise: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return (line === '' ? otherwise : line).slice(0, limits.titleMaxCharacters)
}

/** @param staged - null = the work became no change. */
async function keepLeft(
  work: RunWork,
  collected: CollectedWork,
  staged: StagedRun | null,
): Promise<KeptWork> {
  const { world, store, id, tree, commit: base } = work
  const isBrought = coveredBy(tree.brought)
  const isWork = staged === null || [...staged.leftOut.keys()].some((path) => !isBrought(path))
  const { git, beside, head } = collected
  const place = { repository: world.repository, store, who: await world.identity(), log: world.log }
  return keepCollected(place, {
    run: id,
    path: tree.slot.path,
    work: isWork ? { tree: collected.tree, parent: head ?? base } : null,
    git,
    landed: staged !== null && holdsCommits(work, collected) ? head : null,
    beside,
  })
}

/** Whether the changes hold every version that the run's commits did. */
function holdsCommits({ request }: RunWork, { commits, tree }: CollectedWork): boolean {
  if (commits === null) return false
  return request.keepsCommits === true || (commits.length === 1 && commits[0]?.tree === tree)
}

/** A refusal must not cost the work: it is in a commit of the store, which the error names. */
function withWorkKept(work: RunWork, ended: GroupResult, kept: KeptWork, error: unknown): unknown {
  const { id, commit, store } = work
  if (!(error instanceof GalleyError)) return error
  const left = { ref: workRef(id), commit: kept.commit, folder: kept.folder }
  return new GalleyError(
    {
      code: error.code,
      message: error.message,
      data: { ...error.data, run: id, exitCode: ended.status, left },
      hint: `All of the work is kept: git --git-dir=${store.door.gitDir} diff ${commit} ${kept.commit}`,
    },
    { cause: error },
  )
}

const countOf = (processes: number): string => (processes === 1 ? 'one process' : `${processes} processes`)

function remarksOf(
  { tree, request, notes }: RunWork,
  ended: GroupResult,
  collected: CollectedWork,
  { leftOut }: StagedRun,
  kept: KeptWork,
): readonly string[] {
  const isRewritten = request.keepsCommits === true && collected.commits === null
  return [
    ...notes,
    ...tree.remarks,
    ...(ended.ended > 0 ? [`${countOf(ended.ended)} that the command left running ended with it`] : []),
    ...ended.survivors.map((pid) => `the process ${pid} could not be ended`),
    ...(isRewritten ? ['the commits do not build on HEAD; all is one change'] : []),
    ...kept.remarks,
    ...submoduleHints(collected.submodules, kept.folder),
    ...[...leftOut.values()].slice(0, limits.failuresShown),
  ]
}
